from django.urls import path

from projections.views import foreign, pages, rebuilds, resets, verbs

app_name = "projections"

urlpatterns = [
    path("", pages.list_projections, name="projections"),
    path("skipped/", pages.list_skips, name="skips"),
    path("skipped/<int:skip_id>/bring-back/confirm/", verbs.confirm_bring_back, name="confirm_bring_back"),
    path("skipped/<int:skip_id>/bring-back/", verbs.bring_back, name="bring_back"),
    path("requests/", pages.list_requests, name="requests"),
    path("requests/<int:request_id>/grant/confirm/", rebuilds.confirm_grant, name="confirm_grant"),
    path("requests/<int:request_id>/grant/", rebuilds.grant, name="grant"),
    path("requests/<int:request_id>/deny/confirm/", rebuilds.confirm_deny, name="confirm_deny"),
    path("requests/<int:request_id>/deny/", rebuilds.deny, name="deny"),
    path("foreign/<int:foreign_id>/", foreign.show_foreign, name="foreign"),
    path("foreign/<int:foreign_id>/reset/confirm/", foreign.confirm_reset, name="confirm_foreign_reset"),
    path("foreign/<int:foreign_id>/reset/", foreign.reset, name="foreign_reset"),
    path("<int:projection_id>/", pages.show_projection, name="projection"),
    path("<int:projection_id>/pause/confirm/", verbs.confirm_pause, name="confirm_pause"),
    path("<int:projection_id>/pause/", verbs.pause, name="pause"),
    path("<int:projection_id>/resume/", verbs.resume, name="resume"),
    path("<int:projection_id>/skip/confirm/", verbs.confirm_skip, name="confirm_skip"),
    path("<int:projection_id>/skip/", verbs.skip, name="skip"),
    path("<int:projection_id>/dead-letter/confirm/", verbs.confirm_dead_letter, name="confirm_dead_letter"),
    path("<int:projection_id>/dead-letter/", verbs.dead_letter, name="dead_letter"),
    path("<int:projection_id>/reset/confirm/", resets.confirm_reset, name="confirm_reset"),
    path("<int:projection_id>/reset/", resets.reset, name="reset"),
    path("<int:projection_id>/rebuild/confirm/", rebuilds.confirm_rebuild, name="confirm_rebuild"),
    path("<int:projection_id>/rebuild/", rebuilds.rebuild, name="rebuild"),
    path("<int:projection_id>/rebuild/request/", rebuilds.request_rebuild, name="request_rebuild"),
]
