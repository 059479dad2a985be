from django.urls import path

from sources import views

app_name = "sources"

urlpatterns = [
    path("", views.list_sources, name="sources"),
    path("<str:name>/", views.show_source, name="source"),
    path("<str:name>/import/", views.start_import, name="import"),
]
