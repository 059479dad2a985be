"""Characters that turn text round are shown, stay what they are, and turn nothing round."""

import re

import pytest
from django.test import Client

from dashboard.bidi import isolate
from dlq.api import Failure, record_failures
from dlq.models import DeadLetter

OVERRIDE = "\u202e"
ISOLATED = f'<bdi class="control" title="U+202E">{OVERRIDE}</bdi>'
NAMES = "consumer event_id event_type error_type error_message stacktrace sequence_key tenant app_version"


def test_only_text_gets_an_element() -> None:
    assert isolate(f"<p>a{OVERRIDE}b</p>") == f"<p>a{ISOLATED}b</p>"
    for kept in (
        f'<a title="x > y {OVERRIDE}">x</a>',
        f"<title>{OVERRIDE}</title>",
        f"<textarea name=note>{OVERRIDE}</textarea>",
        f"<!-- {OVERRIDE} -->",
    ):
        assert isolate(kept) == kept


@pytest.mark.django_db
def test_an_override_in_any_field_ends_where_it_stands(admin: Client) -> None:
    hostile = f"a{OVERRIDE}b"
    record_failures(
        [
            Failure(
                **dict.fromkeys(NAMES.split(), hostile), payload={hostile: [hostile]}, headers={"h": hostile}
            )
        ]
    )
    letter = DeadLetter.objects.get()
    assert letter.consumer == hostile
    for path in (
        "",
        f"groups/{letter.group_id}/",
        "letters/",
        f"letters/{letter.pk}/",
        f"discard/confirm/?id={letter.pk}",
        f"letters/{letter.pk}/edit/",
    ):
        page = admin.get(f"/dead-letters/{path}").content.decode()
        assert OVERRIDE in page, path
        text = re.sub(
            r"<(title|textarea|option)\b.*?</\1>|<[^>]*>", "", page.replace(ISOLATED, ""), flags=re.S
        )
        assert OVERRIDE not in text, path
    page = admin.get(
        f"/dead-letters/groups/{letter.group_id}/", headers={"HX-Request": "true"}
    ).content.decode()
    assert ISOLATED in page
