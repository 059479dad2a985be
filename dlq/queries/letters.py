"""The letters page: a page of rows and an honest count, in bounded time whatever the table's size."""

from dataclasses import dataclass, replace

from django.db.models import F
from django.db.models.lookups import GreaterThan, GreaterThanOrEqual, LessThan, LessThanOrEqual
from django.http import QueryDict

from dashboard.bounded import TooSlowError, bounded
from dashboard.paging import Page, get_page, read_cursor, row_value, write_cursor
from dlq.filters import LetterFilter
from dlq.models import DeadLetter
from dlq.models.letter import LetterQuerySet
from dlq.queries.counters import count_by

BY = "last_failed_at"
KEYS = row_value(F(BY), F("pk"))
# A count stops here and says "over". One filter is counted in an index alone; several need a look at each letter.
MOST_COUNTED = 10_000
MOST_LOOKED_AT = 1_000
# And after this long it says that nobody counted.
COUNT_SECONDS = 0.2
# Where too many match elsewhere to look each up, this many letters are looked through for one page.
WINDOW = 1_000


@dataclass(frozen=True)
class LetterPage:
    """A page of letters; if the search was bounded, `page.after` goes on where it stopped, full page or not."""

    page: Page[DeadLetter]
    is_bounded: bool


@dataclass(frozen=True)
class Count:
    """How many match: exactly, over a number, or (None) nobody counted."""

    number: int | None
    is_exact: bool

    @property
    def sentence(self) -> str:
        if self.number is None:
            return "How many match was not counted; that would take too long."
        if not self.is_exact:
            return f"Over {self.number:,} match."
        return f"Exactly {self.number:,} letter{' matches' if self.number == 1 else 's match'}."


def list_letters(letter_filter: LetterFilter, query: QueryDict) -> LetterPage:
    """The page that the URL asks for; `order=oldest` turns it round."""
    letters = letter_filter.letters()
    oldest_first = query.get("order") == "oldest"
    if letter_filter.looks_elsewhere:
        ids = letter_filter.few_ids
        if ids is None:
            return search_window(letter_filter, letters, query, oldest_first=oldest_first)
        letters = letters.with_ids(ids)
    return LetterPage(get_page(letters, query, by=BY, oldest_first=oldest_first), is_bounded=False)


def search_window(
    letter_filter: LetterFilter, letters: LetterQuerySet, query: QueryDict, *, oldest_first: bool
) -> LetterPage:
    """Look through the next letters only: what is so common fills a page soon, or will not do so."""
    is_upwards = bool(query.get("before")) != oldest_first
    follows, until = (GreaterThan, LessThanOrEqual) if is_upwards else (LessThan, GreaterThanOrEqual)
    cursor = query.get("before") or query.get("after") or query.get("at")
    ahead = letters.filter(follows(KEYS, read_cursor(cursor))) if cursor else letters
    order = (BY, "pk") if is_upwards else (f"-{BY}", "-pk")
    end = ahead.only("pk", BY).order_by(*order)[WINDOW : WINDOW + 1].first()
    found = letter_filter.narrow(letters)
    if end is not None:
        found = found.filter(until(KEYS, read_cursor(write_cursor(end, BY))))
    page = get_page(found, query, by=BY, oldest_first=oldest_first)
    if end is None:
        return LetterPage(page, is_bounded=False)
    # On the side to which it looked, the next window begins where this one ended.
    bound = write_cursor(end, BY)
    if query.get("before"):
        return LetterPage(replace(page, before=page.before or bound), is_bounded=True)
    return LetterPage(replace(page, after=page.after or bound), is_bounded=True)


def finds_none(found: LetterPage, query: QueryDict) -> bool:
    """Whether the list was looked through from its beginning to its end, and nothing matched."""
    begins = not any(query.get(name) for name in ("after", "before", "at"))
    return begins and not found.page.rows and not found.is_bounded


def count_letters(letter_filter: LetterFilter) -> Count:
    """As many as match: from the counters where they know, else counted up to a limit."""
    if letter_filter.is_counted:
        return Count(count_by(letter_filter.wanted), is_exact=True)
    letters = letter_filter.letters()
    if letter_filter.looks_elsewhere:
        ids = letter_filter.few_ids
        if ids is None:
            return Count(None, is_exact=False)
        letters = letters.with_ids(ids)
    most = MOST_COUNTED if len(letter_filter.wanted.keys() - {"status"}) <= 1 else MOST_LOOKED_AT
    try:
        with bounded(COUNT_SECONDS):
            number = letters.order_by()[: most + 1].count()
    except TooSlowError:
        return Count(None, is_exact=False)
    return Count(min(number, most), is_exact=number <= most)
