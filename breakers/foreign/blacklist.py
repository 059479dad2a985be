"""Blacklists: a key that exists is an endpoint that is not called; when it expires, the next call is the probe."""

from dataclasses import dataclass
from datetime import timedelta

from django.utils import timezone

from breakers.foreign.reader import Client, Found
from breakers.models import State


@dataclass(frozen=True)
class BlacklistReader:
    pattern: str

    @property
    def source(self) -> str:
        return f"blacklist={self.pattern}"

    @property
    def note(self) -> str:
        return f"A key like {self.pattern} in Redis. When it expires, the next call is the probe."

    @property
    def lasts(self) -> str:
        return "until its key is deleted"

    @property
    def why_no_trip(self) -> str:
        return "its key belongs to whoever keeps the blacklist, and would expire."

    @property
    def reset_effect(self) -> str:
        return "Its key in Redis is deleted."

    def read(self, client: Client, keys: list[str]) -> list[Found]:
        pipeline = client.pipeline(transaction=False)
        for key in keys:
            pipeline.pttl(key)
        now = timezone.now()
        return [
            Found(key, State.OPEN, retry_at=now + timedelta(milliseconds=left) if left >= 0 else None)
            for key, left in zip(keys, pipeline.execute(), strict=True)
            # -2: it has expired since it was found. -1: it does not expire.
            if left != -2
        ]

    def reset(self, client: Client, name: str) -> bool:
        return bool(client.delete(name))
