from pathlib import Path

from dashboard.runs import kinds


def test_the_meter_has_a_colour_for_every_outcome() -> None:
    css = Path("static/console.css").read_text()
    tones = {outcome.tone for kind in kinds._kinds.values() for outcome in kind.outcomes}
    assert tones
    assert not [tone for tone in tones if f".meter .{tone} {{" not in css]
