import os

from django.core.wsgi import get_wsgi_application

from dashboard.database.base import DatabaseWrapper

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")
# No page may hold a thread and a connection for longer; workers, which do long work, have no such limit.
os.environ.setdefault("PGOPTIONS", "-c statement_timeout=30s")

application = get_wsgi_application()
# Longer than that the server itself hangs.
DatabaseWrapper.patience_seconds = 35
