from django.db import models


class SourceState(models.Model):
    """What the console knows about a source: how the last look went, where the next begins, what can be done there.

    Pages read this and never ask the source itself, so that a slow or dead one delays none of them.
    """

    name = models.TextField(primary_key=True)
    kind = models.TextField()
    # Where the next look begins; only the sync reads and writes it.
    cursor = models.JSONField(default=dict)
    # Who is looking right now, and until when that is believed; None: nobody.
    leased_until = models.DateTimeField(null=True, blank=True)
    leased_by = models.TextField(blank=True)
    # When to look next; None: at once.
    next_at = models.DateTimeField(null=True, blank=True)

    # The last look that came to its end, and how long it took; None: none did.
    synced_at = models.DateTimeField(null=True, blank=True)
    took_ms = models.IntegerField(null=True, blank=True)
    # What went wrong with the last look, since when, and whether somebody must act; empty: nothing.
    error = models.TextField(blank=True)
    failing_since = models.DateTimeField(null=True, blank=True)
    is_permanent = models.BooleanField(default=False)
    # Looks in a row that failed; each is waited for longer.
    error_count = models.IntegerField(default=0)

    # As the last inspection found it (`sources.inspection`); empty: there was none yet.
    inspection = models.JSONField(default=dict)
    inspected_at = models.DateTimeField(null=True, blank=True)
    # Whether letters that are closed here are to be closed there too; read by the trigger that notes them.
    takes_writes = models.BooleanField(default=False)

    def __str__(self) -> str:
        return self.name
