"""Since when nothing needs anybody; beat notes it, so that the overview can say so."""

from datetime import datetime

from dashboard.attention import list_attention
from dashboard.models import QuietSpell


def note_quiet() -> None:
    """Begin a quiet spell, go on with it, or end it."""
    if list_attention():
        QuietSpell.objects.all().delete()
    else:
        QuietSpell.objects.bulk_create([QuietSpell()], ignore_conflicts=True)


def find_quiet_since() -> datetime | None:
    """None: nobody has noted it yet."""
    return QuietSpell.objects.values_list("since", flat=True).first()
