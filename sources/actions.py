from dashboard.actions import OPERATOR, Action, register

register(
    Action("source.import", "The rows that were open at a source were asked for.", OPERATOR),
)
