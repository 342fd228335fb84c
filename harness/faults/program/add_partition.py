"""Add a partition to the input while the pipeline reads it, as an operator does."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar, Final

from confluent_kafka.admin import AdminClient, NewPartitions

from onceproof.harness.clock import now
from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.program.programs import at_work, program, start_again, wait_works
from onceproof.harness.kafka.connecting.connection import connection
from onceproof.harness.kafka.topics import answer
from onceproof.harness.links.topology import AUDITOR
from onceproof.harness.user_pipeline.program import AWAY, PROGRAM
from onceproof.harness.wait import Overdue, wait_until

_SECONDS: Final = 30.0
_FIND_SECONDS: Final = 3.0
"""How long a pipeline may take to find it before it is restarted; clients take minutes."""


@dataclass(frozen=True, kw_only=True)
class AddPartition:
    """Add a partition to the input, and wait until the pipeline has written what it read from it.

    If it has not after some seconds, kill and restart it: its client finds the partition only when
    it refreshes its metadata.
    """

    kind: ClassVar[str] = "timeout"
    needs = PROGRAM

    def describe(self) -> str:
        return "add a partition to the input, and restart the pipeline if it does not discover it"

    def inject(self, context: RunContext, name: str) -> _Added:
        at_work(context)
        return _Added(context, name)


class _Added:
    def __init__(self, context: RunContext, name: str) -> None:
        self._context = context
        self._pipeline = program(context)
        self._partition = len(context.partitions())
        self.target = f"{context.topic}-{self._partition}"
        admin = AdminClient(
            {**connection(context.stage.bootstrap(AUDITOR)).librdkafka(), "log_level": 0}
        )
        wanted = [NewPartitions(context.topic, self._partition + 1)]
        answer(admin.create_partitions(wanted)[context.topic], f"{self.target} to be added")
        self.at = now()
        wait_until(
            self._holds_inputs,
            what=f"inputs in {self.target}",
            seconds=_SECONDS,
            every=0.2,
            stop=context.stop,
        )
        added = context.topic, self._partition
        self._is_past = self._pipeline.look.getting_past({added: 0})
        found = False
        with suppress(Overdue):
            found = wait_until(
                self._found, what="", seconds=_FIND_SECONDS, every=0.5, stop=context.stop
            )
        self._how = "the pipeline discovered it by itself"
        if not found:
            process, _ = self._pipeline.kill(f"SIGKILL by fault «{name}»")
            self._how = f"{process.instance} did not discover it within {_FIND_SECONDS:g} s"
            start_again(context)
            self._how += ", and was killed and restarted"
            self._pipeline.look.added.add(added)

    def evidence(self) -> str | None:
        return f"{self.target} was added and has inputs; {self._how}"

    def heal(self) -> None:
        """Wait until the pipeline writes; the partition stays."""
        wait_works(self._context)

    def _holds_inputs(self) -> bool:
        with suppress(*AWAY), self._context.reader() as reader:
            return bool(reader.ends(self._context.topic).get(self._partition, (0, 0))[1])
        return False

    def _found(self) -> bool:
        with suppress(*AWAY):
            return self._is_past()
        return False
