from dashboard.settings import *  # noqa: F403
from dashboard.settings import INSTALLED_APPS, MIDDLEWARE

INSTALLED_APPS = [*INSTALLED_APPS, "django.contrib.admin"]
# The admin has a login of its own.
MIDDLEWARE = [name for name in MIDDLEWARE if name != "dashboard.middleware.LoginRequired"]
ROOT_URLCONF = "bench.admin_site.urls"
