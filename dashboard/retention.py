"""What the dashboard itself forgets, and when; beat calls it every few minutes."""

from datetime import timedelta

from django.contrib.sessions.models import Session
from django.utils import timezone

from dashboard.models import Heartbeat, LoginLink, SignInAttempt

KEEP_SIGN_IN_ATTEMPTS = timedelta(days=1)
KEEP_USED_LINKS = timedelta(days=1)
# A process that has been silent this long is history, not an alarm.
KEEP_HEARTBEATS = timedelta(hours=24)


def prune() -> None:
    now = timezone.now()
    SignInAttempt.objects.filter(at__lt=now - KEEP_SIGN_IN_ATTEMPTS).delete()
    Session.objects.filter(expire_date__lt=now).delete()
    LoginLink.objects.filter(expires_at__lt=now - KEEP_USED_LINKS).delete()
    Heartbeat.objects.filter(seen_at__lt=now - KEEP_HEARTBEATS).exclude(kind=Heartbeat.Kind.REDIS).delete()
