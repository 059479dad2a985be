from dlq.models.attempt import Attempt
from dlq.models.confirmation import Confirmation
from dlq.models.counters import Counter, CounterDelta, FailureBucket
from dlq.models.facet import Facet, GroupFacet
from dlq.models.group import FailureGroup
from dlq.models.history import CategoryBucket, DepthSample
from dlq.models.item import LetterRunItem, ReplaySwitch
from dlq.models.letter import DeadLetter, LetterBody
from dlq.models.override import Override
from dlq.models.rule import ClassificationRule

__all__ = [
    "Attempt",
    "CategoryBucket",
    "ClassificationRule",
    "Confirmation",
    "Counter",
    "CounterDelta",
    "DeadLetter",
    "DepthSample",
    "Facet",
    "FailureBucket",
    "FailureGroup",
    "GroupFacet",
    "LetterBody",
    "LetterRunItem",
    "Override",
    "ReplaySwitch",
]
