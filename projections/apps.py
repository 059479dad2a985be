from django.apps import AppConfig
from django.db.models.signals import post_migrate
from django.utils.module_loading import autodiscover_modules


class ProjectionsConfig(AppConfig):
    name = "projections"

    def ready(self) -> None:
        from dashboard import attention
        from dashboard.embedded.applications import run_beside
        from projections.declared import sync_declared
        from projections.definition import list_projectors
        from projections.foreign.needs import find_troubled as find_troubled_foreign
        from projections.foreign.record import keep, look
        from projections.needs import find_late, find_troubled
        from sources.api import keep_checkpoints

        # Every app's own `projections.py`.
        autodiscover_modules("projections")
        if list_projectors():
            run_beside("consumer", "consume")
        for finder in (find_troubled, find_late, find_troubled_foreign):
            attention.register(finder, rank=1)
        keep_checkpoints(look, keep)
        post_migrate.connect(sync_declared, sender=self)
