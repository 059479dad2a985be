from dashboard.actions import OPERATOR, Action, register

register(Action("tally.start", "A tally was started.", OPERATOR))
