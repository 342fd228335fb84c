"""Kill a leader whose log has records that no follower has.

Its followers are cut off, and it dies before it removes them from the ISR. One of them becomes
leader, and the records are truncated. Only with acks=1 were they acknowledged.
"""

from __future__ import annotations

from contextlib import closing
from typing import Any, Final

from kafka.protocol.consumer import ListOffsetsRequest, ListOffsetsResponse

from onceproof.harness.clock import now
from onceproof.harness.context.run_context import Collected, RunContext, addresses
from onceproof.harness.faults.links.disturbing import disturb
from onceproof.harness.faults.targets.broker_ended import KilledBroker
from onceproof.harness.kafka.wire import Wire
from onceproof.harness.links.disturbances import CUT
from onceproof.harness.links.topology import Link, node_id
from onceproof.harness.wait import wait_until

_RECORDS: Final = 10
"""Minimum number of records that only the leader has."""
_SECONDS: Final = 4.5
"""Deadline, shorter than the time after which a lagging replica leaves the ISR."""
_VERSION: Final = 5
_REPLICA: Final = -2
"""Kafka's debug replica id: requests with it get the log end offset, not the high watermark."""
_LATEST: Final = -1


class KilledAhead:
    """A leader that was killed while ahead of its followers."""

    def __init__(self, context: RunContext, node: str, led: tuple[str, int], name: str) -> None:
        """Cut, wait, kill; `led` is a topic and partition that the node leads."""
        self._context, self._name = context, name
        self._topic, self._partition = led
        cut = [(Link(other, node), CUT) for other in context.stage.brokers if other != node]
        wire = Wire(addresses(context.stage)[node_id(node)])
        with closing(wire), context.reader() as reader:
            hold = disturb(context.stage, cut)
            try:
                self._end, self._replicated = wait_until(
                    lambda: self._ahead(wire, reader),
                    what=f"{node} to be {_RECORDS} records ahead of its in-sync followers in "
                    f"{self._topic}-{self._partition}",
                    seconds=_SECONDS,
                    every=0.02,
                    stop=context.stop,
                )
                killed_at = now()
                self._killed = KilledBroker(context, node, name)
            finally:
                hold.release()
        self.at = killed_at
        self.target = self._killed.target

    def evidence(self) -> str | None:
        proof = self._killed.evidence()
        if proof is None:
            return None
        return (
            f"its log of {self._topic}-{self._partition} ended at offset {self._end}, and its "
            f"followers had replicated it up to {self._replicated}; {proof}"
        )

    def heal(self) -> None:
        self._killed.heal()

    def after_collect(self, known: Collected) -> None:
        """Record the hazard, whether or not any of these records was acknowledged."""
        self._context.recorder.hazard(
            "leader-ahead",
            hop="produce",
            at=self.at,
            fault=self._name,
            detail=(
                f"the leader of {self._topic}-{self._partition} died with "
                f"{self._end - self._replicated} records that no follower had"
            ),
        )

    def _ahead(self, wire: Wire, reader: Any) -> tuple[int, int] | None:
        """Return the log end offset and the high watermark, once they are far enough apart."""
        wanted = ListOffsetsRequest.ListOffsetsTopic
        request = ListOffsetsRequest(
            replica_id=_REPLICA,
            isolation_level=0,
            topics=[
                wanted(
                    name=self._topic,
                    partitions=[
                        wanted.ListOffsetsPartition(
                            partition_index=self._partition,
                            current_leader_epoch=-1,
                            timestamp=_LATEST,
                        )
                    ],
                )
            ],
        )
        answer = wire.ask(request, version=_VERSION, answer=ListOffsetsResponse)
        end = int(answer.topics[0].partitions[0].offset)
        replicated = reader.ends(self._topic)[self._partition][1]
        return (end, replicated) if end - replicated >= _RECORDS else None
