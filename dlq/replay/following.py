"""What became of letters that were sent: somebody has said so, later and elsewhere.

The lane's row is locked before its items and their letters, as in every recording. Called twice for one letter it does
nothing the second time: the item is no longer sent.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from django.conf import settings
from django.db import connection, transaction

from dashboard.models import Lane
from dlq.models import LetterRunItem
from dlq.replay.outcomes import ADD_SUCCESSES, COUNT_REPLAYS

# Unless somebody closed the letter by hand meanwhile.
END_SUCCEEDED = """
UPDATE dlq_letterrunitem SET outcome = 'succeeded', at = now()
WHERE run_id = %(run)s AND lane = %(lane)s AND outcome = 'sent' AND letter_id IN (
    SELECT id FROM dlq_deadletter WHERE id = ANY(%(ids)s) AND resolution = 'at_source')
RETURNING letter_id, outcome
"""
# The same error if the last two tries of the letter fell into one group.
END_FAILED = """
UPDATE dlq_letterrunitem i SET outcome = tried.outcome, group_id = tried.group_id, at = now()
FROM (
    SELECT l.id, l.group_id, CASE WHEN l.group_id IS NOT DISTINCT FROM (
        SELECT a.group_id FROM dlq_attempt a WHERE a.letter_id = l.id AND a.outcome = 'failed'
        ORDER BY a.at DESC OFFSET 1 LIMIT 1) THEN 'same_error' ELSE 'new_error' END AS outcome
    FROM dlq_deadletter l WHERE l.id = ANY(%(ids)s)
) AS tried
WHERE i.letter_id = tried.id AND i.run_id = %(run)s AND i.lane = %(lane)s AND i.outcome = 'sent'
RETURNING i.letter_id, i.outcome
"""
# A letter that its source has closed after we asked it to try again was replayed.
CALL_REPLAYED = """
UPDATE dlq_deadletter SET resolution = 'replayed', replays = replays + 1
WHERE id = ANY(%(ids)s) AND status = 'resolved' AND resolution = 'at_source'
"""


def settle_sent(*, succeeded: Iterable[int] = (), failed: Iterable[int] = ()) -> None:
    """End the items of these letters that are still called sent."""
    for ids, statement in ((list(succeeded), END_SUCCEEDED), (list(failed), END_FAILED)):
        sent = LetterRunItem.objects.filter(letter__in=ids, outcome="sent")
        for run_id, number in sorted(set(sent.values_list("run_id", "lane"))) if ids else ():
            settle_lane(run_id, number, ids, statement)


def settle_lane(run_id: int, number: int, ids: list[int], statement: str) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        lane = Lane.objects.select_for_update().get(run_id=run_id, number=number)
        cursor.execute(statement, {"run": run_id, "lane": number, "ids": ids})
        ended: dict[int, str] = dict(cursor.fetchall())
        for outcome, count in Counter(ended.values()).items():
            lane.count(outcome, count)
            lane.count("sent", -count)
        lane.save(update_fields=["totals"])
        values: dict[str, Any] = {
            "ids": list(ended),
            "run": run_id,
            "limit": settings.POISON_AFTER_REPLAYS,
        }
        if statement is END_SUCCEEDED:
            cursor.execute(CALL_REPLAYED, values)
            cursor.execute(ADD_SUCCESSES, values)
        else:
            cursor.execute(COUNT_REPLAYS, values)
