from django.urls import path

from demo import views

app_name = "demo"
urlpatterns = [
    path("", views.show_shop, name="shop"),
    path("deploy-fix/", views.deploy_fix, name="deploy_fix"),
    path("ship-bug/", views.ship_bug, name="ship_bug"),
    path("stories/<str:story>/begin/", views.begin_story, name="begin_story"),
]
