"""The shipped rules: the tables of the documents that this console was built from, as code.

Looked at in this order: the HTTP status, the exception's name, words of the message. Nothing matches: permanent,
since most unknown errors are mistakes in code or data (B19).
"""

import re
from functools import lru_cache

from dlq.classification.verdict import Verdict
from dlq.models.words import Category

TRANSIENT, PERMANENT, POISON = Category.TRANSIENT, Category.PERMANENT, Category.POISON
DEPENDENCY, INFRASTRUCTURE = Category.DEPENDENCY, Category.INFRASTRUCTURE


def client_error(name: str, *, is_security: bool = False) -> Verdict:
    """The request itself was wrong, so sending it again is not offered (E2)."""
    return Verdict(PERMANENT, name, offers_replay=False, is_security=is_security)


# Its consumers wait and go on by themselves; a replay would fail with them (A5).
OWN_OUTAGE = Verdict(INFRASTRUCTURE, "own database or disk", offers_replay=False)
UNKNOWN = Verdict(PERMANENT, "no rule matched")

# E2, E3, E10. 401 and 403 are security events; 429 and 503 are the other side asking for patience.
BY_STATUS = {
    400: client_error("HTTP 400 bad request"),
    401: client_error("HTTP 401 unauthorized", is_security=True),
    403: client_error("HTTP 403 forbidden", is_security=True),
    404: client_error("HTTP 404 not found"),
    405: client_error("HTTP 405 method not allowed"),
    408: Verdict(TRANSIENT, "HTTP 408 request timeout"),
    409: client_error("HTTP 409 conflict"),
    410: client_error("HTTP 410 gone"),
    413: client_error("HTTP 413 payload too large"),
    415: client_error("HTTP 415 unsupported media type"),
    422: client_error("HTTP 422 unprocessable"),
    425: Verdict(TRANSIENT, "HTTP 425 too early"),
    429: Verdict(TRANSIENT, "HTTP 429 throttled"),
    500: Verdict(TRANSIENT, "HTTP 500 internal error"),
    501: client_error("HTTP 501 not implemented"),
    502: Verdict(DEPENDENCY, "HTTP 502 bad gateway"),
    503: Verdict(DEPENDENCY, "HTTP 503 unavailable"),
    504: Verdict(DEPENDENCY, "HTTP 504 gateway timeout"),
}

# C1, C16, D1, E4, E5 and eventsource-py's own classifier; names without their module, in lower case.
NAMES = {
    Verdict(TRANSIENT, "network"): """
        connectionerror connectionreseterror connectionabortederror brokenpipeerror timeouterror timeout
        timeoutexception connecttimeout readtimeout sockettimeoutexception gaierror unknownhostexception sslerror
        sslhandshakeexception remotedisconnected incompleteread temporaryfailure serverbusyerror servicebusyexception
    """,
    Verdict(
        TRANSIENT, "throttled"
    ): "ratelimiterror ratelimited ratelimitexceeded toomanyrequests throttlingexception throttled retryafter",
    Verdict(TRANSIENT, "lock or conflict"): """
        deadlockdetected serializationfailure locknotavailable optimisticlockerror staledataerror concurrencyerror
    """,
    Verdict(DEPENDENCY, "other service away"): """
        connectionrefusederror breakeropen circuitbreakererror circuitopenexception callnotpermittedexception
        serviceunavailable hostunreachable newconnectionerror networkunreachable maxretryerror
    """,
    OWN_OUTAGE: """
        operationalerror interfaceerror adminshutdown toomanyconnections diskfull cannotconnectnow crashshutdown
        systemerror
    """,
    client_error("credentials refused", is_security=True): """
        authenticationerror authenticationfailed authenticationexception unauthorized unauthorizedaccessexception
        unauthorizederror invalidsignature signatureerror invalidtoken tokenexpirederror forbidden accessdenied
        accessdeniedexception permissiondenied
    """,
    Verdict(POISON, "cannot be read"): """
        jsondecodeerror jsonparseexception decodeerror invalidprotocolbufferexception unicodedecodeerror badzipfile
        deserializationerror deserializationexception serializationexception avroserializationexception
        schemaparseexception
    """,
    Verdict(POISON, "breaks its worker"): """
        memoryerror outofmemoryerror recursionerror stackoverflowerror workerlosterror
    """,
    Verdict(PERMANENT, "wrong data or state"): """
        valueerror keyerror typeerror attributeerror indexerror assertionerror zerodivisionerror validationerror
        integrityerror uniqueviolation foreignkeyviolation notfound doesnotexist objectdoesnotexist invalidtransition
        invalidstatetransition invalidstateerror illegalstateexception illegalargumentexception nullpointerexception
    """,
}
BY_NAME = {name: verdict for verdict, names in NAMES.items() for name in names.split()}

# Words of the message, for systems that report no type; the first that is found decides.
BY_WORDS = [
    (
        client_error("credentials refused", is_security=True),
        r"unauthori[sz]ed|authentication fail|invalid signature|access denied",
    ),
    (Verdict(TRANSIENT, "throttled"), r"rate.?limit|throttl|too many requests"),
    (OWN_OUTAGE, r"too many connections|disk full|no space left|shutting down"),
    (
        Verdict(DEPENDENCY, "other service away"),
        r"connection refused|unreachable|circuit.{0,10}open|service unavailable|server busy",
    ),
    (
        Verdict(TRANSIENT, "network"),
        r"timed? ?out|connection (?:reset|aborted|closed)|name resolution|dns|tls handshake|ssl",
    ),
    (Verdict(POISON, "cannot be read"), r"corrupt|circular reference|cannot deserialize|out of memory"),
    (Verdict(PERMANENT, "wrong data or state"), r"malformed|invalid|does not exist|not found"),
]
WORDS = re.compile("|".join(f"(?P<w{i}>{pattern})" for i, (_, pattern) in enumerate(BY_WORDS)), re.IGNORECASE)
HTTP_STATUS = re.compile(
    r"(?:\bHTTP(?:/\d(?:\.\d)?)?|\bstatus(?:[ _]code)?|\banswered|\breturned|^(?=... (?:Client|Server) Error))"
    r"[ :=(]{0,3}([1-5]\d\d)\b",
    re.IGNORECASE,
)
# Most messages have no such number, which is found out sooner than what stands before it.
STATUS_NUMBER = re.compile(r"[1-5](?<!\d.)\d\d(?!\d)")
# What is looked at of a message.
MOST_CHARACTERS = 2000


def find_http_status(message: str) -> int | None:
    """The status that the message speaks of; None if it speaks of none."""
    text = message[:MOST_CHARACTERS]
    match = STATUS_NUMBER.search(text) and HTTP_STATUS.search(text)
    return int(match[1]) if match else None


def judge(error_type: str, normal_message: str, http_status: int | None) -> Verdict:
    """The shipped verdict on an error; there always is one."""
    if http_status in BY_STATUS:
        return BY_STATUS[http_status]
    name = error_type.rpartition(".")[2].lower()
    return BY_NAME.get(name) or judge_words(normal_message)


# The letters of one group have the same words, so a batch asks for few of them.
@lru_cache(maxsize=5000)
def judge_words(normal_message: str) -> Verdict:
    """The earliest word need not be the most telling one: the table's order decides."""
    found = {match.lastgroup for match in WORDS.finditer(normal_message[:MOST_CHARACTERS])}
    return next((verdict for i, (verdict, _) in enumerate(BY_WORDS) if f"w{i}" in found), UNKNOWN)
