"""What a subject is: the system whose claim is on trial, as plain data.

A subject says what runs and where its effects go; it never says whether its
claim holds. Add one by adding a file here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from onceproof.harness.artemis.configuration import QueueSettings
from onceproof.harness.context.pipeline import Pipeline, PipelineParts
from onceproof.harness.http_service.settings import HttpSettings
from onceproof.harness.kafka.log_reader import LogReader, PartitionLog
from onceproof.harness.sinks.base import Sink
from onceproof.harness.workload.contributions import Contribution, Transforms, total_and_count
from onceproof.harness.workload.payments import Payment


class Subject(Transforms, Protocol):
    """A system on trial."""

    @property
    def name(self) -> str:
        """Short name: what `onceproof list` shows."""

    @property
    def says(self) -> str:
        """What it is and what it promises, in a sentence or two."""

    @property
    def sink(self) -> str:
        """Table or topic that its effects go to; empty if it has none."""

    @property
    def balances(self) -> bool:
        """Whether `sink` has the balance of each account and the number of its payments."""

    @property
    def view(self) -> str:
        """Who looks at the sink."""

    @property
    def output_topic(self) -> str | None:
        """A topic that has to be there before it starts."""

    @property
    def sends(self) -> bool:
        """Whether who sends the workload is on trial, so that its standing still is its own."""

    @property
    def offers(self) -> frozenset[str]:
        """What faults can aim at in it, beside its stage."""

    @property
    def plain_text(self) -> bool:
        """Whether it can use only brokers that take plain text."""

    def configuration(self) -> Mapping[str, Any]:
        """Its settings, by part, printed in the report."""

    def pipeline(self, parts: PipelineParts) -> Pipeline:
        """It, ready to be started.

        Raises:
            StageTrouble: the stage lacks something that it needs.
        """

    def lateness(
        self, logs: Sequence[PartitionLog], sink: Sink, history: Path
    ) -> Mapping[tuple[int, int], str]:
        """Which of its inputs it may drop as late, as the table `log` has it.

        Args:
            logs: of every partition of an input.
            sink: where its effects are.
            history: folder that has what was recorded during the run.

        Returns:
            Partition and offset → `late` or `unclear`.
        """

    def contributions_of_log(self, reader: LogReader) -> Iterable[Mapping[str, Any]]:
        """Rows of `contributions` that can be told only from the input's log, when all is over."""

    def open_sink(self, *, database: str, reader: LogReader, work: Path) -> Sink:
        """Our own way into its sink, past all proxies.

        Args:
            database: how to connect to the stage's database.
            reader: reads topics.
            work: the folder that its pipeline works in.
        """


class SubjectBase:
    """What a subject need not say itself: one effect of each payment, in one sink."""

    @property
    def sinks(self: Subject) -> tuple[str, ...]:
        """Its one sink."""
        return (self.sink,)

    @property
    def balances(self) -> bool:
        """It keeps no state."""
        return False

    @property
    def output_topic(self) -> str | None:
        """None has to be there."""
        return None

    @property
    def sends(self) -> bool:
        """The workload's producers are not on trial as such."""
        return False

    @property
    def offers(self) -> frozenset[str]:
        """Nothing that faults can aim at."""
        return frozenset()

    @property
    def plain_text(self) -> bool:
        """It connects as our own clients do."""
        return False

    def lateness(
        self, logs: Sequence[PartitionLog], sink: Sink, history: Path
    ) -> Mapping[tuple[int, int], str]:
        """It drops none."""
        return {}

    def configuration(self) -> Mapping[str, Any]:
        """No settings."""
        return {}

    def yields(self, payments: Sequence[Payment]) -> Iterable[tuple[str, str]]:
        """Each payment, with its fee."""
        for payment in payments:
            yield payment.record, payment.effect_digest

    def contributions(self: Subject, payment: Payment) -> Iterable[Contribution]:
        """Where it has balances: to that of the payment's account."""
        return total_and_count(self.sink, payment.account, payment) if self.balances else ()

    def contributions_of_log(self, reader: LogReader) -> Iterable[Mapping[str, Any]]:
        """None: what is due follows from the workload alone."""
        return ()


@runtime_checkable
class OnQueues(Protocol):
    """What a subject says beside, if queues are part of it."""

    @property
    def queues(self) -> tuple[str, ...]:
        """Addresses that it writes to; none of a pipeline of somebody's own that has no queue."""

    @property
    def from_queues(self) -> bool:
        """Whether it consumes queues too, and the workload is sent to a queue broker."""

    @property
    def queue_broker(self) -> QueueSettings:
        """Of the queue broker, which is on trial with it."""


@runtime_checkable
class CallsHttp(Protocol):
    """What a subject says beside, if it may call an HTTP service."""

    @property
    def http(self) -> HttpSettings | None:
        """The service that it calls; None: it calls none."""
