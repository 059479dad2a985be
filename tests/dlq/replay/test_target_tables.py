"""A target's table in redrive.toml that cannot work stops the start, with a sentence that names the key."""

from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from dlq.targets import find_target


@pytest.mark.parametrize(
    ("target", "sentence"),
    [
        ({"kind": "pigeon"}, "of kind 'pigeon'"),
        ({"kind": "http"}, r"\[targets.t\] needs url\."),
        ({"kind": "celery"}, "needs broker_url and task"),
        (
            {"kind": "http", "url": "orders.internal/replay"},
            "must begin with http:// or https:// and name a host",
        ),
        ({"kind": "http", "url": 5}, "url is 5; write text"),
        (
            {"kind": "http", "url": "http://x", "timeout_seconds": "10"},
            "timeout_seconds is text; write a number of seconds above 0",
        ),
        ({"kind": "http", "url": "http://x", "dedup_seconds": True}, "is True; write a whole number"),
        ({"kind": "http", "url": "http://x", "headers": ["a"]}, "headers is a list; write a table of text"),
        (
            {"kind": "http", "url": "http://x", "headers": {"Authorization": "s3cret", "X-Team": 7}},
            "headers is a table in which X-Team is no text; write",
        ),
        ({"kind": "http", "url": "http://x", "secret": 5353}, "secret is a number; write text"),
        (
            {"kind": "http", "url": "http://svc:s3cret@x/"},
            "holds a user or a password; write them as a header",
        ),
        ({"kind": "http", "url": "http://x:s3cret/"}, "the port of the url is no number"),
        ({"kind": "http", "url": "http://x/größe"}, "nothing but printable ASCII without spaces"),
        ({"kind": "http", "url": "http://x/a b"}, "nothing but printable ASCII without spaces"),
        (
            {"kind": "http", "url": "http://x", "secret": "s€cret"},
            "'Authorization' can hold nothing but printable",
        ),
        ({"kind": "http", "url": "http://x", "method": "GET"}, "'GET'; write POST or PUT"),
        (
            {"kind": "http", "url": "http://x", "breaker_profile": "none"},
            "no breaker profile 'none'; there are",
        ),
        (
            {"kind": "http", "url": "http://x", "tiemout": 1},
            "'tiemout', which means nothing; it may have breaker",
        ),
        ({"kind": "http", "url": "http://x", "timeout_seconds": 60}, "half of a lane's lease"),
    ],
)
def test_a_target_that_cannot_work_is_refused(settings: Any, target: dict[str, Any], sentence: str) -> None:
    settings.TARGETS, settings.CONSUMERS = {"t": target}, {"kafka/billing": {"target": "t"}}
    with pytest.raises(ImproperlyConfigured, match=sentence) as refused:
        find_target("kafka", "billing")
    assert "s3cret" not in str(refused.value)
    assert "5353" not in str(refused.value)


def test_a_target_that_is_shown_among_the_variables_of_an_error_keeps_its_secrets(settings: Any) -> None:
    url, quick = "redis://:s3cret@broker/0", {"timeout_seconds": 1}
    settings.TARGETS = {
        "http": {"kind": "http", "url": "http://x", "secret": "s3cret", "headers": {"X-Key": "s3cret"}}
        | quick,
        "celery": {"kind": "celery", "broker_url": url, "task": "handle", "result_backend": url} | quick,
    }
    settings.CONSUMERS = {f"kafka/{name}": {"target": name} for name in settings.TARGETS}
    assert "s3cret" not in repr([find_target("kafka", name) for name in settings.TARGETS])
