from django.urls import path

from sources.push import views

app_name = "push"

urlpatterns = [
    path("failures", views.push_failures, name="failures"),
    path("failures/schema", views.show_schema, name="schema"),
]
