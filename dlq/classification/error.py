from dlq.classification.classify import Classifier, Facts
from dlq.cleaning import to_text
from dlq.fingerprints import fingerprint


def classify_error(consumer: str, event_type: str, error: BaseException) -> str:
    """The category that a letter of this failure would get."""
    name, message = type(error).__name__, to_text(error)
    normal = fingerprint(source="", consumer=consumer, error_type=name, message=message, stacktrace="")
    facts = Facts(consumer, event_type, name, message, normal.normal_message)
    return Classifier().classify(facts).category.value
