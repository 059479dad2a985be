"""The overview's first sentence: letters, projections and breakers, each in a clause."""

from breakers.queries import OpenOnes
from dashboard.overview.figures import Figures
from dashboard.words import agree, clock, counted
from projections.lines import Lines


def summarise(figures: Figures, *, is_quiet: bool) -> str:
    """`is_quiet`: nothing needs anybody."""
    clauses = [
        say_letters(figures.letters.number, figures.group_count),
        *say_projections(figures.projections, is_quiet),
    ]
    sentence = f"{', '.join(clauses)}, and {say_breakers(figures.breakers.found)}."
    return f"Nothing needs you. {sentence}" if is_quiet else sentence


def say_letters(number: int, group_count: int) -> str:
    """What needs you names the worst groups only, so here stands of how many."""
    if not number:
        return "No letter is open"
    letters = counted(number, "letter is open", "letters are open")
    return f"{letters} in {counted(group_count, 'group')}" if group_count else letters


def say_projections(lines: Lines, is_quiet: bool) -> list[str]:
    """Nothing where there are none."""
    if not lines.all:
        return []
    # The figures may be a moment older than what needs you, and must not deny it.
    if lines.needing and not is_quiet:
        needing = len(lines.needing)
        return [f"{lines.count(needing)} {agree(needing, 'needs', 'need')} you"]
    return [lines.standing or "every projection is up to date"]


def say_breakers(found: OpenOnes) -> str:
    if found.known_count:
        others = ", others are unknown" if found.error or found.unread else ""
        return f"{counted(found.known_count, 'breaker is', 'breakers are')} not closed{others}"
    if found.error:
        since = (
            f"have been unknown since {clock(found.unknown_since)}" if found.unknown_since else "are unknown"
        )
        return f"breakers {since}: Redis does not answer"
    if found.unread and not found.total_count:
        return "whether any breaker is open is unknown"
    return f"no breaker {'that can be read ' if found.unread else ''}is open"
