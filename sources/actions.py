from dashboard.actions import ADMIN, Action, register

register(
    Action("token.create", "A token was made with which a system can report its failures.", ADMIN),
    Action("token.revoke", "A token was revoked: whoever uses it is refused from now on.", ADMIN),
)
