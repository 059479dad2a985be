"""Every page and verb of the console; the sections list theirs in their own urls.py."""

from django.apps import apps
from django.urls import include, path

from dashboard import views
from dashboard.access import views as access
from dashboard.audit import views as audit
from dashboard.overview import views as overview
from dashboard.workers import views as workers

urlpatterns = [
    path("", overview.show_overview, name="overview"),
    path("panels/<str:panel>/dismiss/", overview.dismiss_panel, name="dismiss_panel"),
    path("projections/", include("projections.urls")),
    path("breakers/", include("breakers.urls")),
    path("dead-letters/", include("dlq.urls")),
    path("sources/", include("sources.urls")),
    path("api/v1/", include("sources.push.urls")),
    path("runs/", include("dashboard.runs.urls")),
    path("workers/", workers.list_workers, name="workers"),
    path("audit/", audit.list_entries, name="audit"),
    path("audit/export/", audit.export, name="export_audit"),
    path("users/", access.list_users, name="users"),
    path("users/<int:user_id>/role/confirm/", access.confirm_assign_role, name="confirm_assign_role"),
    path("users/<int:user_id>/role/", access.assign_role, name="assign_role"),
    path("users/<int:user_id>/disable/confirm/", access.confirm_disable, name="confirm_disable_user"),
    path("users/<int:user_id>/disable/", access.disable, name="disable_user"),
    path("users/<int:user_id>/enable/confirm/", access.confirm_enable, name="confirm_enable_user"),
    path("users/<int:user_id>/enable/", access.enable, name="enable_user"),
    path("login/", access.login, name="login"),
    path("login/<str:token>/", access.login_link, name="login_link"),
    path("logout/", access.logout, name="logout"),
    path("healthz", views.healthz, name="healthz"),
    path("readyz", views.readyz, name="readyz"),
    path("favicon.svg", views.favicon, name="favicon"),
]
if apps.is_installed("demo"):
    urlpatterns.append(path("demo/", include("demo.urls")))

handler400 = "dashboard.errors.bad_request"
handler403 = "dashboard.errors.permission_denied"
handler404 = "dashboard.errors.page_not_found"
handler500 = "dashboard.errors.server_error"
