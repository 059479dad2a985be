"""The console without its memory: what it would ask for once in two seconds it asks for on every request."""

from importlib import import_module

from bench.wsgi import application
from dashboard.memo import forget_always

# The pages with all that they remember, which else come with the first request.
import_module("dashboard.urls")
forget_always()

__all__ = ["application"]
