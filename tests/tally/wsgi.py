"""The console with the tally's verb; gunicorn serves it in tests."""

from django.conf import settings

settings.ROOT_URLCONF = "tests.tally.urls"

from dashboard.wsgi import application  # noqa: E402

__all__ = ["application"]
