from django.apps import AppConfig


class LedgerConfig(AppConfig):
    name = "bench.ledger"
    label = "bench_ledger"
