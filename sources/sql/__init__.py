"""Sources that are tables in a Postgres: one engine, driven by a mapping of columns and words."""
