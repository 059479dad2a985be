from dashboard.actions import ADMIN, OPERATOR, Action, register

register(
    Action("projection.pause", "A projection was paused after the batch in hand.", OPERATOR),
    Action(
        "projection.resume", "A projection was let go on; the event it stopped at is tried again.", OPERATOR
    ),
    Action("projection.skip", "A projection was let go past an event without its effect.", OPERATOR),
    Action(
        "projection.dead_letter", "The event that a projection stopped at became a dead letter.", OPERATOR
    ),
    Action("projection.reset", "A projection's checkpoint was set.", ADMIN),
    Action("projection.rebuild", "A read model was emptied and is built again from all events.", ADMIN),
    Action("projection.request_rebuild", "Somebody asked for a rebuild.", OPERATOR),
    Action(
        "projection.grant_rebuild", "A request for a rebuild was granted, and the rebuild started.", ADMIN
    ),
    Action("projection.deny_rebuild", "A request for a rebuild was denied.", ADMIN),
    Action(
        "skip.bring_back", "A skipped event was made a dead letter, so that it can be replayed.", OPERATOR
    ),
)
