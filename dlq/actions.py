from dashboard.actions import ADMIN, OPERATOR, VIEWER, Action, register

register(
    Action("letter.resolve", "Letters were closed as dealt with elsewhere.", OPERATOR),
    Action("letter.discard", "Letters were given up, with a reason; they will not be delivered.", OPERATOR),
    Action("letter.restore", "Closed letters were opened again.", OPERATOR),
    Action("letter.erase", "Payloads were erased for good; the record of the failure stays.", ADMIN),
    Action("letter.export", "Letters were downloaded.", VIEWER),
    Action("letter.edit", "What a consumer gets for an event was replaced; the original is kept.", OPERATOR),
    Action("replay.start", "Letters were sent to be handled again.", OPERATOR),
    Action("event.reprocess", "Events of the store were sent to be handled once more.", OPERATOR),
    Action("replay.stop_all", "All replays were stopped, and none starts.", OPERATOR),
    Action("replay.allow_all", "Replays were allowed again.", OPERATOR),
    Action("payload.unmask", "Masked values of a payload were shown.", ADMIN),
    Action("group.assign", "A failure group was given to somebody, or to nobody.", OPERATOR),
    Action("group.mute", "A failure group was muted, for a time or until it is unmuted.", OPERATOR),
    Action("group.unmute", "A failure group was unmuted.", OPERATOR),
    Action("group.note", "The note of a failure group was written.", OPERATOR),
    Action("group.ticket", "A failure group was linked to a ticket.", OPERATOR),
    Action("rule.add", "A classification rule was added.", OPERATOR),
    Action("rule.remove", "A classification rule was removed.", OPERATOR),
    Action("rule.apply", "Letters were classified again by the rules as they are now.", OPERATOR),
)
