"""Private Postgres and Valkey, and the supervisor behind `manage.py up`; nothing here imports Django."""
