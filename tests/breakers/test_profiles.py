"""The numbers of the documents, and own profiles."""

import re

import pytest
from django.core.exceptions import ImproperlyConfigured

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


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        (
            {"failure_treshold": 3},
            "'payments' has 'failure_treshold', which means nothing; it may have cache_seco",
        ),
        (
            {"failure_threshold": 0},
            "'payments': failure_threshold is 0; it must be a whole number from 1 to 1,000.",
        ),
        ({"failure_threshold": 2.5}, "failure_threshold is 2.5; it must be a whole number"),
        ({"open_seconds": "30"}, "open_seconds is '30'; it must be a number from 0.001 to 86,400."),
        ({"window_seconds": True}, "window_seconds is True; it must be a number"),
        (
            {"ignored_statuses": ["404"]},
            "ignored_statuses is ('404',); it must hold whole numbers such as 404.",
        ),
        ({"ignored_statuses": 404}, "ignored_statuses is 404; it must hold"),
        ({"note": 5}, "note is 5; it must be text."),
    ],
)
def test_an_own_profile_that_makes_no_sense_is_refused(settings, values, sentence):
    settings.BREAKER_PROFILES = {"payments": values}
    list_profiles.cache_clear()
    try:
        with pytest.raises(ImproperlyConfigured, match=r"REDRIVE_BREAKER_PROFILES.*" + re.escape(sentence)):
            list_profiles()
    finally:
        list_profiles.cache_clear()


def test_a_policy_survives_being_announced():
    for policy in list_profiles().values():
        assert Policy.from_json(policy.as_json) == policy


@pytest.mark.parametrize("text", ["", "[]", "{", '{"failure_threshold": 0}', '{"from_the_future": 1}'])
def test_a_policy_that_cannot_be_read_is_none(text):
    assert Policy.from_json(text) is None
