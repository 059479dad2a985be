"""The console for a browser's tests, one after the other: nothing is remembered from one to the next."""

from importlib import import_module

from django.conf import settings

from dashboard.memo import forget_always
from tests.tally.wsgi import application

__all__ = ["application"]

# With all that it names, views too: what remembers is there by then.
import_module(settings.ROOT_URLCONF)
forget_always()
