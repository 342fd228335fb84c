"""Count what a program has read since it last wrote, from the messages at its gates."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Final

from onceproof.harness.clock import now
from onceproof.harness.context.pipeline import Positions
from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.messages.message import Message, MessageReports, positions_in
from onceproof.harness.faults.program.programs import program
from onceproof.harness.links.gate.client import Event
from onceproof.harness.user_pipeline.program import AWAY
from onceproof.harness.user_pipeline.subject import OwnPipeline

FETCH: Final = Message(source="pipeline", direction="request", api="Fetch")
_FETCHED: Final = replace(FETCH, direction="response")
"""Names no topic: within a fetch session, a request lists only partitions that have changed."""
_WRITES: Final = [
    Message(source="pipeline", direction="request", api=api) for api in ("Produce", "EndTxn")
]
_SECOND: Final = 1_000_000_000


class InputsInHand:
    """Observe a program's reads and writes, from construction until `remove`.

    A write is a Produce request outside a transaction, the end of a transaction, or, unless all
    outputs are topics, a visible change of the outputs.
    """

    def __init__(self, context: RunContext) -> None:
        """Place the rules; raise `StageTrouble` if a link of the pipeline cannot have a gate."""
        subject = context.subject
        self._topics_only = isinstance(subject, OwnPipeline) and all(
            place.topic is not None for place in subject.places
        )
        self._look = program(context).look
        self._topics = self._look.topics
        self._began = now()
        self._fetches = MessageReports(
            context, [*(replace(FETCH, topic=topic) for topic in self._topics), _FETCHED]
        )
        try:
            self._writes = MessageReports(context, _WRITES)
        except BaseException:
            self._fetches.remove()
            raise

    def count(self) -> int | None:
        """Return how many offsets it has read since it last wrote; None if no read was seen.

        What a response brought has been read: some clients fetch again only after they have
        processed it.
        """
        fetches = self._fetches.fired()
        if not fetches:
            return None
        written = self._written()
        then = self._read(event for event in fetches if event["at"] < written)
        first = self._read(reversed(fetches))
        return sum(
            max(0, offset - then.get(at, first[at])) for at, offset in self._read(fetches).items()
        )

    @property
    def quiet_for(self) -> float:
        """Seconds since the last write, or since construction."""
        return (now() - self._written()) / _SECOND

    def remove(self) -> None:
        self._writes.remove()
        self._fetches.remove()

    def _written(self) -> int:
        """Return the time of the last write, in nanoseconds of CLOCK_MONOTONIC."""
        written = [
            int(event["at"])
            for event in self._writes.fired()
            if event["api"] == "EndTxn" or not event["transactional_ids"]
        ]
        writes = [self._began, *written[-1:]]
        if not self._topics_only:
            with suppress(*AWAY):
                self._look.size()  # changes are seen only by looking
            writes.append(now() - round(self._look.quiet_for * _SECOND))
        return max(writes)

    def _read(self, fetches: Iterable[Event]) -> Positions:
        """Return the last offset of each partition: everything before it has been read."""
        return {
            at: offset
            for event in fetches
            for at, offset in positions_in(event, self._topics).items()
        }
