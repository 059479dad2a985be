from django.urls import path

from sources import views
from sources.tokens import views as tokens

app_name = "sources"

urlpatterns = [
    path("tokens/", tokens.list_tokens, name="tokens"),
    path("tokens/create/", tokens.create, name="create_token"),
    path("tokens/<int:token_id>/revoke/confirm/", tokens.confirm_revoke, name="confirm_revoke_token"),
    path("tokens/<int:token_id>/revoke/", tokens.revoke, name="revoke_token"),
    path("", views.list_sources, name="sources"),
    path("<str:name>/", views.show_source, name="source"),
    path("<str:name>/import/", views.start_import, name="import"),
    path("<str:name>/release/confirm/", views.confirm_release, name="confirm_release"),
    path("<str:name>/release/", views.release, name="release"),
]
