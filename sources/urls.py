from django.urls import path

from sources.tokens import views as tokens

app_name = "sources"

urlpatterns = [
    path("tokens/", tokens.list_tokens, name="tokens"),
    path("tokens/create/", tokens.create, name="create_token"),
    path("tokens/<int:token_id>/revoke/confirm/", tokens.confirm_revoke, name="confirm_revoke_token"),
    path("tokens/<int:token_id>/revoke/", tokens.revoke, name="revoke_token"),
]
