"""Delete the oldest records of a partition (DeleteRecords) from all in-sync replicas."""

from __future__ import annotations

from typing import Final

from kafka.protocol.admin import DeleteRecordsRequest, DeleteRecordsResponse

from onceproof.harness.kafka.coordinator import Refused
from onceproof.harness.kafka.errors import error_name
from onceproof.harness.kafka.wire import Wire

_VERSION: Final = 1
_MILLISECONDS: Final = 4_000


def delete_records(leader: str, topic: str, partition: int, *, before: int) -> int:
    """Delete records below `before` at the leader (`host:port`), and return the low watermark.

    Raises:
        OSError: the leader does not answer.
        Refused: the leader refused.
    """
    wanted = DeleteRecordsRequest.DeleteRecordsTopic
    one = wanted.DeleteRecordsPartition(partition_index=partition, offset=before)
    request = DeleteRecordsRequest(
        topics=[wanted(name=topic, partitions=[one])], timeout_ms=_MILLISECONDS
    )
    wire = Wire(leader)
    try:
        found = wire.ask(request, version=_VERSION, answer=DeleteRecordsResponse)
    finally:
        wire.close()
    result = found.topics[0].partitions[0]
    if result.error_code:
        raise Refused(
            f"deleting {topic}-{partition} before {before}: {error_name(result.error_code)}"
        )
    return int(result.low_watermark)
