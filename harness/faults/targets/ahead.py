"""A leader killed while its log holds what no follower has.

Its followers are cut from it first, and it dies before they are out of its
in-sync set. So one of them takes over, as it should, and what only the dead one had is cut off its
log when it comes back. With acks=all nobody was told that it was there; with acks=1 somebody was.
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
"""How many records it must be ahead by."""
_SECONDS: Final = 4.5
"""How long that may take: less than a replica may lag before it is out of the in-sync set."""
_VERSION: Final = 5
_REPLICA: Final = -2
"""A replica that only looks: it is told the end of the log, not the high watermark."""
_LATEST: Final = -1


class KilledAhead:
    """A leader killed when its log was ahead of its followers'."""

    def __init__(self, context: RunContext, node: str, led: tuple[str, int], name: str) -> None:
        """Cut, wait, kill; `led` are topic and partition that the node leads."""
        self._context, self._name = context, name
        self._topic, self._partition = led
        cut = [(Link(other, node), CUT) for other in context.stage.brokers if other != node]
        wire = Wire(addresses(context.stage)[node_id(node)])
        with closing(wire), context.reader() as reader:
            hold = disturb(context.stage, cut)
            try:
                self._end, self._replicated = wait_until(
                    lambda: self._ahead(wire, reader),
                    what=f"{node} to be {_RECORDS} records ahead in {self._topic}-"
                    f"{self._partition} before its followers are out of sync",
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
        """What it had and nobody else, its exit signal, and who leads now."""
        proof = self._killed.evidence()
        if proof is None:
            return None
        return (
            f"its log of {self._topic}-{self._partition} ended at {self._end}, and its followers "
            f"had it up to {self._replicated}; {proof}"
        )

    def heal(self) -> None:
        self._killed.heal()

    def after_collect(self, known: Collected) -> None:
        """Being ahead puts acknowledgements to the test, whoever got one."""
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
        """The end of its log and of what is replicated, if they are far enough apart."""
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
