from django.urls import path

from breakers import views

app_name = "breakers"

urlpatterns = [
    path("", views.list_breakers, name="breakers"),
    # Names come from outside and may hold anything, so they stand in the query, where nothing rewrites them.
    path("breaker/", views.show_breaker, name="breaker"),
    path("breaker/trip/confirm/", views.confirm_trip, name="confirm_trip"),
    path("breaker/trip/", views.trip, name="trip"),
    path("breaker/reset/confirm/", views.confirm_reset, name="confirm_reset"),
    path("breaker/reset/", views.reset, name="reset"),
]
