from django.urls import path

from dlq.views import edit, groups, letters, replay, rules, verbs

app_name = "dlq"

urlpatterns = [
    path("", groups.list_groups, name="groups"),
    path("groups/<int:group_id>/", groups.show_group, name="group"),
    path("groups/<int:group_id>/assign/", groups.assign, name="assign"),
    path("groups/<int:group_id>/mute/", groups.mute, name="mute"),
    path("groups/<int:group_id>/unmute/", groups.unmute, name="unmute"),
    path("groups/<int:group_id>/note/", groups.note, name="note"),
    path("groups/<int:group_id>/ticket/", groups.ticket, name="ticket"),
    path("letters/", letters.list_letters, name="letters"),
    path("letters/<int:letter_id>/", letters.show_letter, name="letter"),
    path("letters/<int:letter_id>/unmask/", letters.unmask, name="unmask"),
    path("letters/<int:letter_id>/payload/", letters.download_payload, name="payload"),
    path("letters/<int:letter_id>/payload/raw/", letters.download_raw, name="raw_payload"),
    path("letters/<int:letter_id>/edit/", edit.edit, name="edit_payload"),
    path("letters/<int:letter_id>/edit/compare/", edit.compare, name="compare_payload"),
    path("letters/<int:letter_id>/edit/save/", edit.save, name="save_payload"),
    path("find/", letters.find, name="find"),
    path("export/", letters.export, name="export"),
    path("resolve/confirm/", verbs.confirm_resolve, name="confirm_resolve"),
    path("resolve/", verbs.resolve, name="resolve"),
    path("discard/confirm/", verbs.confirm_discard, name="confirm_discard"),
    path("discard/", verbs.discard, name="discard"),
    path("restore/confirm/", verbs.confirm_restore, name="confirm_restore"),
    path("restore/", verbs.restore, name="restore"),
    path("erase/confirm/", verbs.confirm_erase, name="confirm_erase"),
    path("erase/", verbs.erase, name="erase"),
    path("replay/confirm/", replay.confirm_replay, name="confirm_replay"),
    path("replay/", replay.start, name="replay"),
    path("replay/stop/confirm/", replay.confirm_stop, name="confirm_stop_replays"),
    path("replay/stop/", replay.stop, name="stop_replays"),
    path("replay/allow/confirm/", replay.confirm_allow, name="confirm_allow_replays"),
    path("replay/allow/", replay.allow, name="allow_replays"),
    path("rules/", rules.list_rules, name="rules"),
    path("rules/add/", rules.add, name="add_rule"),
    path("rules/<int:rule_id>/apply/", rules.apply, name="apply_rule"),
    path("rules/<int:rule_id>/remove/", rules.remove, name="remove_rule"),
]
