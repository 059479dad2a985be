"""Which kind of failure it is: the operator's rules first, then what the reporter said, then the shipped tables."""

from dlq.classification.classify import REPORTER, Classifier, Facts
from dlq.classification.verdict import Verdict

__all__ = ["REPORTER", "Classifier", "Facts", "Verdict"]
