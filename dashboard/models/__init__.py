from dashboard.models.audit import AuditEntry
from dashboard.models.heartbeat import Heartbeat
from dashboard.models.overview import DismissedPanel, QuietSpell
from dashboard.models.run import Lane, Run, RunEvent
from dashboard.models.sign_in import LoginLink, SignInAttempt

__all__ = [
    "AuditEntry",
    "DismissedPanel",
    "Heartbeat",
    "Lane",
    "LoginLink",
    "QuietSpell",
    "Run",
    "RunEvent",
    "SignInAttempt",
]
