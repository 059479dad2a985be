"""Slows down guessing of passwords, by user name and by address.

An attempt is written before the password is looked at and taken back if it was right, so that many tries at
once count as many: there is no moment between counting and checking. If the process dies in between, the
attempt stays and counts as a failure. One that is refused was never checked and is taken back too, so that trying
again does not prolong the wait.
"""

import unicodedata
from datetime import timedelta

from django.utils import timezone

from dashboard.models import SignInAttempt

WINDOW = timedelta(minutes=15)
# For one user name from one address: a person who mistypes.
MOST_FROM_ONE_PLACE = 5
# For one user name from anywhere, and from one address for any name: a list of guesses.
MOST_FOR_A_NAME = 25
MOST_FROM_AN_ADDRESS = 50


def note_attempt(username: str, address: str) -> SignInAttempt:
    """The name as Django's form will read it, or spaces and look-alikes would each count by themselves."""
    name = unicodedata.normalize("NFKC", username).strip().lower()[:150]
    return SignInAttempt.objects.create(username=name, address=address)


def is_throttled(attempt: SignInAttempt) -> bool:
    """True if this attempt is one too many within the window."""
    recent = SignInAttempt.objects.filter(at__gt=timezone.now() - WINDOW)
    limits = [
        (recent.filter(username=attempt.username, address=attempt.address), MOST_FROM_ONE_PLACE),
        (recent.filter(username=attempt.username), MOST_FOR_A_NAME),
        (recent.filter(address=attempt.address), MOST_FROM_AN_ADDRESS),
    ]
    return any(attempts[: most + 1].count() > most for attempts, most in limits)
