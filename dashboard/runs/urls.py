from django.urls import path

from dashboard.runs import views

app_name = "runs"

urlpatterns = [
    path("", views.list_runs, name="runs"),
    path("<int:run_id>/", views.show_run, name="run"),
    path("<int:run_id>/pause/", views.pause, name="pause"),
    path("<int:run_id>/resume/", views.resume, name="resume"),
    path("<int:run_id>/cancel/confirm/", views.confirm_cancel, name="confirm_cancel"),
    path("<int:run_id>/cancel/", views.cancel, name="cancel"),
]
