from dashboard.actions import ADMIN, OPERATOR, Action, register

register(
    Action("source.import", "The rows that were open at a source were asked for.", OPERATOR),
    Action("source.release", "Rows that nobody tries were released at a source.", OPERATOR),
    Action("token.create", "A token was made with which a system can report its failures.", ADMIN),
    Action("token.revoke", "A token was revoked: whoever uses it is refused from now on.", ADMIN),
)
