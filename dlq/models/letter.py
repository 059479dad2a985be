from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from django.db.models import Q
from django.db.models.expressions import RawSQL

from dlq.models.words import Category, Resolution, Status, Tier

# A literal and no parameter: the planner takes a partial index only if it can see the value.
FAILED = RawSQL("'failed'", ())
IS_OPEN = Q(status=FAILED)


def open_index(name: str, *fields: str, **where: object) -> models.Index:
    """An index over open letters only; they are few, so it stays small however long the history is."""
    return models.Index(fields=fields, name=f"letter_open_{name}", condition=Q(status="failed", **where))


class LetterQuerySet(models.QuerySet["DeadLetter"]):
    def open(self) -> "LetterQuerySet":
        return self.filter(IS_OPEN)

    def with_ids(self, ids: list[int]) -> "LetterQuerySet":
        """Those of the ids, which travel as one array: thousands of parameters take longer than the query."""
        return self.filter(RawSQL("dlq_deadletter.id = ANY(%s)", [ids], models.BooleanField()))


class DeadLetter(models.Model):
    """One event that one consumer could not handle, without its bulk: what lists show, filter and change.

    The bulk is in LetterBody, written once: closing a letter then rewrites a narrow row, and no search index.
    """

    source = models.TextField()
    # The letter's own key at its source, if it is not the event's id.
    source_key = models.TextField(blank=True)
    consumer = models.TextField()
    event_id = models.TextField()
    event_type = models.TextField(blank=True)
    # Empty: a sequence of its own.
    sequence_key = models.TextField(blank=True)
    # Its place there: the event's own number, or else its position or offset; 0: unknown, so the id decides.
    sequence_no = models.BigIntegerField(default=0)
    position = models.BigIntegerField(null=True, blank=True)
    topic = models.TextField(blank=True)
    partition = models.IntegerField(null=True, blank=True)
    offset = models.BigIntegerField(null=True, blank=True)

    # A parked letter has not failed: these are empty, and the group is None.
    error_type = models.TextField(blank=True)
    # The first line of the error, with masked values taken out: lists show it to everybody.
    summary = models.TextField(blank=True)
    # The masking rules that `summary` was made under; see masking/rules.py.
    mask_key = models.IntegerField(default=0)
    category = models.TextField(blank=True, choices=Category.choices)
    # The rule that chose the category.
    classified_by = models.TextField(blank=True)
    is_security = models.BooleanField(default=False)
    offers_replay = models.BooleanField(default=True)
    # Without a constraint, as everything that is written in bulk: checking row by row costs more than the insert.
    group = models.ForeignKey(
        "FailureGroup", models.DO_NOTHING, null=True, blank=True, db_constraint=False, db_index=False
    )

    attempts = models.IntegerField(default=0)
    replays = models.IntegerField(default=0)
    first_failed_at = models.DateTimeField()
    # For a parked letter, when it was parked.
    last_failed_at = models.DateTimeField()
    status = models.TextField(choices=Status.choices, default=Status.FAILED)
    tier = models.TextField(choices=Tier.choices, default=Tier.DEAD_LETTER)
    resolution = models.TextField(blank=True, choices=Resolution.choices)
    closed_by = models.TextField(blank=True)
    closed_at = models.DateTimeField(null=True, blank=True)
    close_reason = models.TextField(blank=True)
    trace_id = models.TextField(blank=True)
    tenant = models.TextField(blank=True)
    app_version = models.TextField(blank=True)
    recorded_at = models.DateTimeField()
    # When the payload was erased at somebody's request; None: it was not.
    erased_at = models.DateTimeField(null=True, blank=True)

    objects = LetterQuerySet.as_manager()

    class Meta:
        constraints = [
            # The event's id comes first, so that this also finds an event whatever its consumers are.
            models.UniqueConstraint(fields=["event_id", "consumer", "source"], name="letter_key"),
        ]
        indexes = [
            # The attempts ride along, to be compared on the way without a look at the letter.
            open_index("time", "last_failed_at", "id", "attempts"),
            open_index("source", "source", "last_failed_at", "id"),
            open_index("consumer", "consumer", "last_failed_at", "id"),
            open_index("group", "group", "last_failed_at", "id"),
            open_index("event_type", "event_type", "last_failed_at", "id"),
            open_index("error_type", "error_type", "last_failed_at", "id"),
            open_index("category", "category", "last_failed_at", "id"),
            open_index("tenant", "tenant", "last_failed_at", "id"),
            # Only to be counted.
            open_index("attempts", "attempts"),
            # For the one that has been open longest.
            open_index("oldest", "first_failed_at", "id"),
            models.Index(fields=["last_failed_at", "id"], name="letter_time"),
            models.Index(fields=["source", "last_failed_at", "id"], name="letter_source"),
            models.Index(fields=["consumer", "last_failed_at", "id"], name="letter_consumer"),
            models.Index(fields=["group", "last_failed_at", "id"], name="letter_group"),
            models.Index(fields=["event_type", "last_failed_at", "id"], name="letter_event_type"),
            models.Index(fields=["error_type", "last_failed_at", "id"], name="letter_error_type"),
            models.Index(
                fields=["tenant", "last_failed_at", "id"], name="letter_tenant", condition=~Q(tenant="")
            ),
            models.Index(
                fields=["sequence_key", "consumer", "source", "sequence_no", "id"],
                name="letter_sequence",
                condition=~Q(sequence_key=""),
            ),
            # Who is ahead of whom: asked for every event that is replayed or consumed, whatever the history is.
            models.Index(
                fields=["sequence_key", "consumer", "source", "sequence_no", "id"],
                name="letter_unsettled",
                condition=Q(status__in=["failed", "parked"]) & ~Q(sequence_key=""),
            ),
            models.Index(fields=["trace_id"], name="letter_trace", condition=~Q(trace_id="")),
            models.Index(fields=["last_failed_at", "id"], name="letter_poison", condition=Q(tier="poison")),
            models.Index(fields=["last_failed_at", "id"], name="letter_parked", condition=Q(status="parked")),
            models.Index(
                fields=["last_failed_at", "id"], name="letter_discarded", condition=Q(status="discarded")
            ),
            models.Index(fields=["category", "last_failed_at", "id"], name="letter_category"),
            models.Index(
                fields=["attempts", "last_failed_at", "id"],
                name="letter_retried",
                condition=Q(attempts__gt=1),
            ),
            # For the purge.
            models.Index(fields=["closed_at"], name="letter_closed", condition=Q(closed_at__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"letter {self.pk}"

    @property
    def is_open(self) -> bool:
        return self.status == Status.FAILED


class LetterBody(models.Model):
    """A letter's bulk: the event as it came, and the error in full; read for one letter, searched by its indexes."""

    letter = models.OneToOneField(
        DeadLetter, models.DO_NOTHING, primary_key=True, related_name="body", db_constraint=False
    )
    # None: the event is not JSON, cannot be held as jsonb, or was given as bytes that are; then see payload_raw.
    payload = models.JSONField(null=True, blank=True)
    # The bytes as they came; None: there were none, the payload says it all.
    payload_raw = models.BinaryField(null=True, blank=True)
    payload_size = models.BigIntegerField(default=0)
    headers = models.JSONField(default=dict)
    error_message = models.TextField(blank=True)
    # None: nothing in the message had to be masked.
    masked_message = models.TextField(null=True, blank=True)  # noqa: DJ001
    stacktrace = models.TextField(blank=True)
    # The words of the error as masked, so that a search tells nobody what the page would not.
    words = SearchVectorField(null=True)

    class Meta:
        indexes = [
            GinIndex(fields=["words"], name="body_words"),
            GinIndex(fields=["payload"], name="body_payload", opclasses=["jsonb_path_ops"]),
        ]

    def __str__(self) -> str:
        return f"body of letter {self.letter_id}"
