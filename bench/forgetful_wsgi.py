"""The console without its memory: what it would ask for once in two seconds it asks for on every request."""

import dashboard.urls  # noqa: F401 - the pages with all that they remember, which else come with the first request
from bench.wsgi import application
from dashboard.memo import forget_always

forget_always()

__all__ = ["application"]
