"""Systems whose tables are known: what their columns mean."""

from sources.sql.mapping import Mapping

# dead_letter_queue is the same in all versions from 0.8 to 0.15. retry_count counts tries, not retries; there is no
# column for the error's type; resolved_at and resolved_by stay behind when a resolved row fails again, so only the
# status says whether it is resolved.
EVENTSOURCE_PY = Mapping(
    table="dead_letter_queue",
    key="id",
    consumer="projection_name",
    event_id="event_id",
    payload="event_data",
    event_type="event_type",
    error_message="error_message",
    stacktrace="error_stacktrace",
    attempts="retry_count",
    first_failed_at="first_failed_at",
    failed_at="last_failed_at",
    status="status",
    closed_by="resolved_by",
    closed_at="resolved_at",
    sequence="$.aggregate_id",
    sequence_no="$.aggregate_version",
    trace="$.correlation_id",
    tenant="$.tenant_id",
    open=("failed", "retrying"),
    resolved="resolved",
    retry="retrying",
)

# The dlq table of cornjacket's platform-services: keys are UUIDs of version 7, which grow.
PLATFORM_SERVICES = Mapping(
    table="dlq",
    key="dlq_id",
    consumer="consumer",
    event_id="event_id",
    payload="event_payload",
    event_type="$.event_type",
    error_message="error_message",
    attempts="retry_count",
    failed_at="failed_at",
    status="status",
    sequence="$.aggregate_id",
    trace="$.metadata.trace_id",
    version="$.metadata.schema_version",
    open=("pending",),
    resolved="replayed",
    discarded="discarded",
)
