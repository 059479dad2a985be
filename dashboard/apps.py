from django.apps import AppConfig
from django.db.models.signals import post_migrate
from django.utils.module_loading import autodiscover_modules


class DashboardConfig(AppConfig):
    name = "dashboard"

    def ready(self) -> None:
        from dashboard import attention, celery, checks, overview_panels
        from dashboard.access import roles
        from dashboard.overview.begin import is_untouched
        from dashboard.runs.queries import find_troubled_runs
        from dashboard.workers.queries import find_missing

        # Shared tasks bind to the current application, so it must exist in every process.
        celery.app.set_default()
        checks.register_checks()
        attention.register(find_missing, rank=0)
        attention.register(find_troubled_runs, rank=4)
        overview_panels.register(
            "begin", title="Begin here", template="overview/_begin.html", find=is_untouched
        )
        autodiscover_modules("actions", "runs")
        post_migrate.connect(roles.sync_roles, sender=self)
