"""Finding the letter that kills: each try is counted on its item before the handler runs, and taken back after it.

It needs a connection of its own, since the slice's transaction dies with the worker; only what was in hand when a
worker died before is tried under such a watch.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self

from django.db import connection

COUNT = "UPDATE dlq_letterrunitem SET deaths = deaths + %s WHERE id = %s"


class Watch:
    """What is counted while nobody takes it back is a death."""

    def __enter__(self) -> Self:
        self._own = connection.copy()
        return self

    @contextmanager
    def trying(self, item_id: int) -> Iterator[None]:
        self._add(1, item_id)
        try:
            yield
        finally:
            # Whatever was raised: the worker lives.
            self._add(-1, item_id)

    def _add(self, number: int, item_id: int) -> None:
        with self._own.cursor() as cursor:
            cursor.execute(COUNT, [number, item_id])

    def __exit__(self, *_: object) -> None:
        self._own.close()


class NoWatch:
    """For what has killed nobody yet."""

    def __enter__(self) -> Self:
        return self

    @contextmanager
    def trying(self, item_id: int) -> Iterator[None]:
        yield

    def __exit__(self, *_: object) -> None:
        pass
