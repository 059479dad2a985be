"""Whatever the settings say; dashboard.wsgi is always the console's."""

from django.core.wsgi import get_wsgi_application

application = get_wsgi_application()
