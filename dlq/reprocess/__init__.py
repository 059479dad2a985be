"""Reprocessing: events of the store go through a handler once more, whether they ever failed or not."""
