"""The numbers of the documents, and own profiles."""

import pytest

from breakers.policy import Policy
from breakers.profiles import get_profile, list_profiles


@pytest.mark.parametrize(
    ("name", "failures", "window", "successes", "timeout", "pause"),
    [
        ("webhook", 5, 0, 1, None, 300),
        ("escrow", 5, 60, 1, None, 30),
        ("service-bus", 5, 0, 3, 30, 300),
        ("blob-storage", 3, 0, 2, 10, 120),
        ("key-vault", 3, 0, 2, 15, 180),
    ],
)
def test_the_documents_numbers(name, failures, window, successes, timeout, pause):
    policy = get_profile(name)
    assert policy.failure_threshold == failures
    assert policy.window_seconds == window
    assert policy.success_threshold == successes
    assert policy.call_timeout_seconds == timeout
    assert policy.open_seconds == pause
    assert policy.half_open_probes == 1


def test_own_profiles_come_from_the_settings(settings):
    settings.BREAKER_PROFILES = {"payments": {"failure_threshold": 3, "ignored_statuses": [409]}}
    list_profiles.cache_clear()
    try:
        assert get_profile("payments") == Policy(failure_threshold=3, ignored_statuses=(409,))
    finally:
        list_profiles.cache_clear()


def test_a_policy_survives_being_announced():
    for policy in list_profiles().values():
        assert Policy.from_json(policy.as_json) == policy


@pytest.mark.parametrize("text", ["", "[]", "{", '{"failure_threshold": 0}', '{"from_the_future": 1}'])
def test_a_policy_that_cannot_be_read_is_none(text):
    assert Policy.from_json(text) is None
