"""Django's settings. The environment is read here and nowhere else; README lists every variable."""

import secrets
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

from dashboard.config import Config, every_seconds, read_config
from dashboard.embedded.addresses import (
    DATABASE,
    DEMO_DATABASE,
    DEMO_REDIS,
    WAREHOUSE_DATABASE,
    database_url,
    redis_url,
)
from dashboard.env import Env
from dashboard.stores import django_database, kombu_url

BASE_DIR = Path(__file__).resolve().parent.parent
env = Env()

# Where things are ----------------------------------------------------------------------------------

DATA_DIR = Path(env.text("REDRIVE_DATA", str(BASE_DIR / ".redrive"))).absolute()
EMBEDDED = not env.text("DATABASE_URL")
# The demo shop runs only where both stores are our own. `up` decides at each start, and leaves a mark for commands that
# are run beside it.
DEMO_MARK = DATA_DIR / "demo"
HAS_OWN_STORES = EMBEDDED and not env.text("REDIS_URL")
DEMO = HAS_OWN_STORES and env.boolean("REDRIVE_DEMO", DEMO_MARK.exists())
OWN_DATABASE_URL = database_url(DATA_DIR, DEMO_DATABASE if DEMO else DATABASE)
DATABASES = {
    "default": django_database(
        env.url("DATABASE_URL", OWN_DATABASE_URL, {"postgresql", "postgres"}),
    )
}
DATABASES["default"] |= {"CONN_MAX_AGE": 60, "CONN_HEALTH_CHECKS": True}
# What the address itself says goes first. A server that vanished is noticed within seconds, not minutes.
DATABASES["default"]["OPTIONS"] = {
    "connect_timeout": 3,
    "tcp_user_timeout": 10_000,
    "application_name": "redrive",
} | DATABASES["default"]["OPTIONS"]
OWN_REDIS_URL = redis_url(DATA_DIR, db=DEMO_REDIS if DEMO else 0)
REDIS_URL = env.url("REDIS_URL", OWN_REDIS_URL, {"redis", "rediss", "unix"})

# Which installation this is ------------------------------------------------------------------------

ENVIRONMENT_NAME = env.text("REDRIVE_ENVIRONMENT", "demo" if DEMO else "local" if EMBEDDED else "production")
ENVIRONMENT_COLOUR = env.choice(
    "REDRIVE_ENVIRONMENT_COLOUR",
    {"production": "red", "prod": "red", "staging": "amber"}.get(ENVIRONMENT_NAME, "blue"),
    {"red", "amber", "green", "blue", "grey"},
)

# Security: safe unless the console is embedded, that is private to one person on one machine ----------


def read_secret_key() -> str:
    """The configured key; embedded, the one that `manage.py up` made, or one for this process alone."""
    key = env.text("REDRIVE_SECRET_KEY")
    if key:
        return key
    if not EMBEDDED:
        raise ImproperlyConfigured("REDRIVE_SECRET_KEY is not set; give it at least 50 random characters.")
    made = DATA_DIR / "secret_key"
    return made.read_text().strip() if made.exists() else secrets.token_urlsafe(50)


SECRET_KEY = read_secret_key()
DEBUG = env.boolean("REDRIVE_DEBUG", False)
HTTPS = env.boolean("REDRIVE_HTTPS", not EMBEDDED)
ALLOWED_HOSTS = env.words("REDRIVE_ALLOWED_HOSTS") or (
    ["127.0.0.1", "localhost", "[::1]"] if EMBEDDED else []
)
CSRF_TRUSTED_ORIGINS = env.words("REDRIVE_TRUSTED_ORIGINS")
TRUST_PROXY = env.boolean("REDRIVE_TRUST_PROXY", False)
if TRUST_PROXY:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SECURE_SSL_REDIRECT = HTTPS
# A load balancer asks for these two inside the network, without TLS.
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]
SECURE_HSTS_SECONDS = env.number("REDRIVE_HSTS_SECONDS", 0, most=63_072_000)
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = SECURE_HSTS_SECONDS > 0
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SESSION_COOKIE_AGE = env.number("REDRIVE_SESSION_HOURS", 12, least=1, most=720) * 3600
SESSION_COOKIE_NAME = "redrive_session"
CSRF_COOKIE_NAME = "redrive_csrf"
CSRF_FAILURE_VIEW = "dashboard.errors.csrf_failure"
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
# No page takes a file. One that comes is read past, and never fills the disk, which anybody could make it do.
FILE_UPLOAD_HANDLERS = ["django.core.files.uploadhandler.MemoryFileUploadHandler"]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.ScryptPasswordHasher"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "overview"

# The application -----------------------------------------------------------------------------------

SECTIONS = ["dlq", "projections", "breakers", "sources"]
INSTALLED_APPS = [
    "dashboard",
    *SECTIONS,
    *(["demo"] if DEMO else []),
    # The operator's own code: projections, handlers, run kinds.
    *env.words("REDRIVE_APPS"),
    "django_htmx",
    "django_tables2",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.humanize",
    "django.contrib.messages",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
]
MIDDLEWARE = [
    "dashboard.middleware.security_headers",
    "dashboard.middleware.refuse_nonsense",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "dashboard.bidi.isolate_directions",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "dashboard.middleware.LoginRequired",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
if "demo" in INSTALLED_APPS:
    MIDDLEWARE.append("demo.middleware.note_steps")
ROOT_URLCONF = "dashboard.urls"
WSGI_APPLICATION = "dashboard.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "dashboard.context.shell",
            ],
        },
    }
]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"
DJANGO_TABLES2_TEMPLATE = "table.html"

TIME_ZONE = env.zone("REDRIVE_TIME_ZONE", "UTC")
LANGUAGE_CODE = "en"

STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
# The files are served as they stand, without a collectstatic step; their address changes with their content.
STORAGES = {"staticfiles": {"BACKEND": "dashboard.static.VersionedStaticFiles"}}
WHITENOISE_USE_FINDERS = True
WHITENOISE_MAX_AGE = 0 if DEBUG else 31_536_000

# What is connected: redrive.toml, if there is one; see docs/sources.md and docs/replay.md -----------------

# The demo shop brings its own, which attaches its second system: what is yours stays out of the demo's database.
OWN_CONFIG = BASE_DIR / ("demo/redrive.toml" if DEMO else "redrive.toml")
WAREHOUSE_URL = database_url(DATA_DIR, WAREHOUSE_DATABASE)
CONFIG_PATH = Path(env.text("REDRIVE_CONFIG", str(OWN_CONFIG))).absolute()
CONFIG = (
    read_config(CONFIG_PATH, Env({**env.variables, "DEMO_WAREHOUSE_DSN": WAREHOUSE_URL}))
    if env.text("REDRIVE_CONFIG") or CONFIG_PATH.exists()
    else Config()
)
# Where letters are read, where replays go beside our own handlers, and what is said of "source/consumer".
SOURCES, TARGETS, CONSUMERS = CONFIG.sources, CONFIG.targets, CONFIG.consumers
# How long the broker keeps what is on a topic, in hours.
TOPIC_RETENTION = CONFIG.retention_hours

# Long work -----------------------------------------------------------------------------------------

CELERY_BROKER_URL = kombu_url(REDIS_URL)
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_BROKER_TRANSPORT_OPTIONS = {"socket_timeout": 10, "socket_connect_timeout": 5}
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_DEFAULT_QUEUE = "runs"
# Housekeeping has a queue and a worker of its own: a long run must not keep lost work from being found.
# So have the sources: one that hangs must not keep anything else waiting. Lanes go where their kind of run says.
CELERY_TASK_ROUTES = {
    "sources.tasks.sync": {"queue": "sources"},
    "*": {"queue": "housekeeping"},
}
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BEAT_SCHEDULER = "dashboard.workers.beat:Scheduler"
CELERY_BEAT_SCHEDULE = {
    task: {"task": task, "schedule": seconds, "options": {"expires": seconds}}
    for task, seconds in {
        "dashboard.tasks.tend_runs": 5.0,
        "dashboard.tasks.prune": 300.0,
        "dashboard.tasks.note_quiet": 10.0,
        "breakers.tasks.tend": 2.0,
        "breakers.tasks.read_foreign": 10.0,
        "breakers.tasks.prune": 300.0,
        "projections.tasks.sample": 30.0,
        "projections.tasks.account": 60.0,
        "projections.tasks.tend": 5.0,
        "projections.tasks.prune": 300.0,
        "dlq.tasks.compact": 5.0,
        "dlq.tasks.sample": 60.0,
        "dlq.tasks.release_items": 10.0,
        "dlq.tasks.purge": 60.0,
        "sources.tasks.prune": 300.0,
    }.items()
}
# A look at each source, as often as its table says; what makes no sense there is refused when Django starts.
CELERY_BEAT_SCHEDULE |= {
    f"sync {name}": {
        "task": "sources.tasks.sync",
        "args": [name],
        "schedule": every_seconds(values),
        "options": {"expires": every_seconds(values)},
    }
    for name, values in SOURCES.items()
}
CELERY_TIMEZONE = TIME_ZONE
# A worker that is taken for dead loses its lane after this long; the work is then picked up by another.
RUN_LEASE_SECONDS = env.number("REDRIVE_RUN_LEASE_SECONDS", 30, least=1, most=3600)

# Breakers ------------------------------------------------------------------------------------------

# Own profiles, as JSON: {"payments": {"failure_threshold": 3, "open_seconds": 60}}
BREAKER_PROFILES = env.json_objects("REDRIVE_BREAKER_PROFILES")
# Other libraries' breakers, and where they keep them; "none" looks for none.
FOREIGN_BREAKERS = env.words("REDRIVE_FOREIGN_BREAKERS") or ["pybreaker", "aiobreaker"]
if FOREIGN_BREAKERS == ["none"]:
    FOREIGN_BREAKERS = []
FOREIGN_BREAKERS_URL = env.url("REDRIVE_FOREIGN_BREAKERS_URL", REDIS_URL, {"redis", "rediss", "unix"})
# Dead letters --------------------------------------------------------------------------------------

# Values at these paths of a payload are hidden from those who may not unmask, such as $.customer.email.
MASKED_PATHS = env.json_paths("REDRIVE_MASKED_PATHS")
# Closing letters of these consumers takes a reason: a ledger must not lose an event silently.
CRITICAL_CONSUMERS = frozenset(env.words("REDRIVE_CRITICAL_CONSUMERS")) | {
    name.partition("/")[2] for name, values in CONSUMERS.items() if values.get("criticality") == "ledger"
}
# Above this many letters the number must be typed to confirm.
TYPE_NUMBER_ABOVE = env.number("REDRIVE_TYPE_NUMBER_ABOVE", 1000, least=1)
# Links from a letter to traces, logs and the like, and from a group to its runbook.
LINKS = env.links(
    "REDRIVE_LINKS",
    {"trace_id", "event_id", "consumer", "event_type", "error_type", "source", "tenant", "app_version"},
)
RUNBOOK_URL = env.template_url("REDRIVE_RUNBOOK_URL", {"consumer", "error_type", "category", "source"})
# So many failed replays set a letter apart as poison.
POISON_AFTER_REPLAYS = env.number("REDRIVE_POISON_AFTER_REPLAYS", 3, least=1, most=1000)
# Closed letters are purged after so many days; 0 keeps them.
KEEP_CLOSED_DAYS = env.number("REDRIVE_KEEP_CLOSED_DAYS", 0, most=36_500)

# Sources -------------------------------------------------------------------------------------------

# What a token may report in a minute, and in one request; see docs/push.md.
PUSH_PER_MINUTE = env.number("REDRIVE_PUSH_PER_MINUTE", 60_000, least=1)
PUSH_BODY_BYTES = env.number("REDRIVE_PUSH_BODY_BYTES", 5_000_000, least=1_000, most=50_000_000)

# The demo shop -------------------------------------------------------------------------------------

# So many times as fast as life.
DEMO_SPEED = env.number("REDRIVE_DEMO_SPEED", 1, least=1, most=60)

# Logs ----------------------------------------------------------------------------------------------

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname:<7} {name}: {message}", "style": "{"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {
        "handlers": ["console"],
        "level": env.choice("REDRIVE_LOG_LEVEL", "INFO", {"DEBUG", "INFO", "WARNING", "ERROR"}),
    },
    # Beat's jobs are many and small; only what goes wrong with them is news.
    "loggers": {
        name: {"level": "WARNING"} for name in ("celery.beat", "celery.worker.strategy", "celery.app.trace")
    },
}
