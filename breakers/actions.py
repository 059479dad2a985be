from dashboard.actions import OPERATOR, Action, register

register(
    Action(
        "breaker.trip", "A breaker was opened by hand and is held open: calls to it are refused.", OPERATOR
    ),
    Action("breaker.reset", "A breaker was closed by hand: calls to it go through again.", OPERATOR),
)
