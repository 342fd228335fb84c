"""The forwarders of a run: processes that consume one queue in parallel.

A queue has no offsets, only messages that are left. So the forwarders have finished when no message
is queued or in delivery.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Final

from onceproof.harness.context.pipeline import PipelineParts, Positions
from onceproof.harness.history.tables import Recorded
from onceproof.harness.history.writer import HistoryWriter
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.queues.auditor import QueueTrouble
from onceproof.harness.sinks.base import Sink
from onceproof.harness.subjects.queue.hazards import hazards
from onceproof.harness.subjects.queue.moments import Moments
from onceproof.harness.subjects.queue.task import ForwarderTask
from onceproof.harness.subjects.tasks import Program, Tasks
from onceproof.harness.wait import wait_until

_MOMENT_SECONDS: Final = 50.0
"""Limit for a forwarder to reach a moment; shorter than a lab waits for its fault."""
_SECONDS: Final = 60.0


class Forwarders(Tasks[ForwarderTask]):
    """The forwarders of one run."""

    counted = "effects of the pipeline"
    awaited = "a first effect in the output queue"

    def __init__(
        self, tasks: Sequence[ForwarderTask], parts: PipelineParts, *, program: Program
    ) -> None:
        super().__init__(tasks, parts, program=program)
        self._topic, self._sink = parts.topic, tasks[0].sink
        self._seen = 0

    @contextmanager
    def standing(self, name: str, moment: str) -> Iterator[str]:
        """Wait until a forwarder is held at a moment; yield the first record that it has in hand.

        It is held until `let_go`, or released if the wait or the block fails. With AUTO_ACKNOWLEDGE
        also wait until the broker has removed the record, for which the client does not wait.

        Raises:
            Overdue: it does not reach the moment in time.
            PipelineTrouble: forwarders repeatedly ended by themselves.
        """
        moments = self._moments(name)

        def held_record() -> str | None:
            self.check()
            return moments.held()

        moments.ask(moment)
        try:
            record = wait_until(
                held_record,
                what=f"{name} to reach {moment}",
                seconds=_MOMENT_SECONDS,
                every=0.005,
                stop=self._parts.stop,
                seen=self.shortly,
            )
            if self._tasks[name].acknowledge == "auto":
                self._wait_consumed(record)
            yield record
        except BaseException:
            moments.let_go()
            raise

    def _wait_consumed(self, record: str) -> None:
        queues = self._parts.stage.queues()
        wait_until(
            lambda: record not in queues.delivering(self._topic),
            what=f"the broker to remove {record} as consumed",
            seconds=_SECONDS,
            stop=self._parts.stop,
            seen=lambda: queues.counts(self._topic),
        )

    def let_go(self, name: str) -> None:
        self._moments(name).let_go()

    def consumers(self) -> int | None:
        """Return the broker's number of consumers; None while it does not answer."""
        try:
            return self._parts.stage.queues().counts(self._topic).consumers
        except QueueTrouble:
            return None

    def given(self, record: str, *, since: int, but: str) -> str | None:
        """Return the forwarder other than `but` that was given a record after `since`, if any."""
        for name in self.names:
            path = self._parts.history / f"{name}.jsonl"
            lines = path.read_bytes().splitlines() if name != but and path.exists() else []
            for line in lines:
                # The last line may be incomplete.
                if record.encode() in line and line.endswith(b"}"):
                    row = json.loads(line)
                    if (row["t"], row.get("record")) == ("delivered", record) and row["at"] > since:
                        return name
        return None

    def wait_consuming(self) -> None:
        """Wait until the broker has every forwarder that runs and is not paused as a consumer.

        Raises:
            Overdue: it has not in time.
            PipelineTrouble: forwarders repeatedly ended by themselves.
        """

        def all_listed() -> bool:
            self.check()
            lives = [self._running[name] for name in self.names]
            awake = sum(life.leader_alive() and not life.frozen() for life in lives)
            return (self.consumers() or 0) >= awake

        wait_until(
            all_listed,
            what="the broker to list every running forwarder as a consumer",
            seconds=_SECONDS,
            every=0.1,
            stop=self._parts.stop,
            seen=self.consumers,
        )

    @property
    def commits(self) -> int:
        """Number of effects; the last known one while the broker does not answer."""
        with suppress(QueueTrouble):  # it is unavailable now
            self._seen = self._parts.stage.queues().sent(self._sink)
        return self._seen

    def flows(self) -> bool:
        return self.commits > 0

    def shortly(self) -> str | None:
        return f"{self.commits} effects" if self._running else None

    def positions(self) -> Positions | None:
        """Return the end of the input once nothing of it is left; None before."""
        queues = self._parts.stage.queues()
        try:
            left = queues.counts(self._topic)
            end = queues.sent(self._topic)
        except QueueTrouble:
            return None
        return {(self._topic, 0): end} if left.messages == left.delivering == 0 else None

    def idle(self) -> bool:
        try:
            return self._parts.stage.queues().counts(self._topic).delivering == 0
        except QueueTrouble:
            return False

    def collect(self, writer: HistoryWriter, recorded: Recorded, sink: Sink) -> None:
        logged = self._parts.stage.queues().dropped(self._sink)
        dropped = [*logged, *(row["record"] for row in recorded.lines.get("dropped", ()))]
        writer.write_all(
            "hazards",
            hazards(recorded.lines, source=self._topic, sink=self._sink, dropped=dropped),
        )

    def _moments(self, name: str) -> Moments:
        if name not in self._tasks:
            raise StageTrouble(f"unknown forwarder {name!r}: expected {' or '.join(self.names)}")
        return Moments(self._parts.work, name)
