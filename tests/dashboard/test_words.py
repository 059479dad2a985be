import pytest
from django.template import Context, Template

from dashboard.words import agree, counted


@pytest.mark.parametrize(
    ("number", "sentence"), [(0, "0 letters"), (1, "1 letter"), (2, "2 letters"), (1204, "1,204 letters")]
)
def test_a_number_has_its_word(number: int, sentence: str) -> None:
    assert counted(number, "letter") == sentence


def test_a_verb_agrees_too() -> None:
    assert counted(1, "event waits", "events wait") == "1 event waits"
    assert counted(2, "event waits", "events wait") == "2 events wait"
    assert agree(2, "it", "them") == "them"


def test_a_template_counts_in_the_same_words() -> None:
    drawn = Template(
        '{% load console %}{{ one|counted:"letter" }}, {{ many|counted:"event waits,events wait" }}'
    )
    assert drawn.render(Context({"one": 1, "many": 3000})) == "1 letter, 3,000 events wait"
