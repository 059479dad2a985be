"""Found by itself: every installed app's `projections.py` is."""

import json
import os
import urllib.request

from breakers.api import get_breaker
from examples.parcels.models import Parcel
from projections.api import Effects, Projector, StoredEvent, handles, presets, register


@register
class Parcels(Projector):
    """Only this database is touched, in the runtime's own transaction: each event counts once."""

    name = "parcels"
    # At once, after a second, after two; then it is a dead letter, and what follows it in its stream is parked.
    policy = presets.HYBRID

    @handles("ParcelSent", "ParcelScanned")
    def move(self, event: StoredEvent) -> None:
        Parcel.objects.update_or_create(number=event.stream, defaults={"place": event.data["place"]})

    def truncate(self) -> None:
        """With this, the page offers a rebuild."""
        Parcel.objects.all().delete()


@register
class CarrierCalls(Projector):
    """Somebody outside is called: one event a commit, at least once, so the receiver gets a key to tell repetitions."""

    name = "carrier-calls"
    effects = Effects.EXTERNAL
    policy = presets.ESCROW_WEBHOOK

    @handles("ParcelSent")
    def announce(self, event: StoredEvent) -> None:
        # Five failures in a row open it, for all processes: then events wait, and cost neither a call nor an attempt.
        with get_breaker("carrier", "webhook", counts=OSError, used_by=self.name).call():
            request = urllib.request.Request(
                os.environ["CARRIER_URL"],
                data=json.dumps(event.data).encode(),
                headers={"Idempotency-Key": str(event.event_id)},
            )
            urllib.request.urlopen(request, timeout=5).close()
