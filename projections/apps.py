from django.apps import AppConfig
from django.db.models.signals import post_migrate
from django.utils.module_loading import autodiscover_modules


class ProjectionsConfig(AppConfig):
    name = "projections"

    def ready(self) -> None:
        from projections.declared import sync_declared

        # Every app's own `projections.py`.
        autodiscover_modules("projections")
        post_migrate.connect(sync_declared, sender=self)
