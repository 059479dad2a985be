import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")
# No page may hold a thread and a connection for longer; workers, which do long work, have no such limit.
os.environ.setdefault("PGOPTIONS", "-c statement_timeout=30s")

application = get_wsgi_application()
