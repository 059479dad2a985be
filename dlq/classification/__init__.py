"""Which kind of failure it is: the operator's rules first, then what the reporter said, then the shipped tables."""

from dlq.classification.classify import REPORTER, Classifier, Facts
from dlq.classification.verdict import ACTIONS, Verdict

__all__ = ["ACTIONS", "REPORTER", "Classifier", "Facts", "Verdict"]
