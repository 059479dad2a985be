"""What an item can be: a failure in our own words, or a record that another system writes anyway."""

from collections.abc import Callable

from dlq.api import Failure
from sources.push.formats import escrow, native, queue_keeper
from sources.push.items import Item

Format = tuple[Callable[[Item], bool], Callable[[Item, str], list[Failure]]]

# The first that knows the item by its fields reads it.
FORMATS: list[Format] = [
    (queue_keeper.is_stored, queue_keeper.read_stored),
    (queue_keeper.is_record, queue_keeper.read_record),
    (escrow.is_message, escrow.read_message),
    (lambda _: True, native.read_failure),
]


def read_failures(item: Item, source: str) -> list[Failure]:
    """The failures that the item tells of; raises BadItemError."""
    read = next(read for knows, read in FORMATS if knows(item))
    return read(item, source)
