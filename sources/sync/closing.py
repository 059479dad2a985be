"""Letters that follow rows which their source has done with; the caller has opened the transaction."""

from dlq.api import Closing, close_at_source
from sources.models import ForeignRow


def close_letters(closings: list[Closing]) -> None:
    """Close these letters, which are locked, unless another row of the same letter is open."""
    if not closings:
        return
    rows = ForeignRow.objects.filter(letter_id__in=[one.letter_id for one in closings], is_open=True)
    open_still = set(rows.values_list("letter_id", flat=True))
    close_at_source([one for one in closings if one.letter_id not in open_still])
