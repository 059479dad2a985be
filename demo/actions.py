from dashboard.actions import OPERATOR, Action, register

register(
    Action("shop.deploy", "A version of the demo shop was put into production.", OPERATOR),
    Action("shop.break", "Something was made to go wrong in the demo shop.", OPERATOR),
)
