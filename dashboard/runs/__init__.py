"""Runs: the base of all long work. Sections use `kinds`, `operations.create_run` and `dispatch.dispatch`."""
