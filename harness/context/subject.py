"""A subject, the system whose claim is under test, as plain data.

A subject says what runs and where its effects go; it never says whether its claim holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from onceproof.harness.context.pipeline import Pipeline, PipelineParts
from onceproof.harness.history.system import System
from onceproof.harness.http_service.settings import HttpSettings
from onceproof.harness.kafka.log_reader import LogReader, PartitionLog
from onceproof.harness.queues.base import QueueSettings
from onceproof.harness.sinks.base import Sink
from onceproof.harness.workload.contributions import Contribution, Transforms, total_and_count
from onceproof.harness.workload.payments import Payment


class Subject(Transforms, Protocol):
    """A system under test."""

    @property
    def name(self) -> str:
        """Short name for `onceproof list`."""

    @property
    def says(self) -> str:
        """What it is and what it guarantees, in one or two sentences."""

    @property
    def system(self) -> System | None:
        """What kind of system it is, for advice in the report; None for advice for any."""

    @property
    def sink(self) -> str:
        """Table or topic of its effects; empty if it has none."""

    @property
    def balances(self) -> bool:
        """Whether `sink` has the balance and the number of payments of each account."""

    @property
    def view(self) -> str:
        """The kind of reader that reads the sink."""

    @property
    def output_topic(self) -> str | None:
        """A topic to create before it starts."""

    @property
    def sends(self) -> bool:
        """Whether the workload's sender is under test, so that its lack of progress is a stall."""

    @property
    def offers(self) -> frozenset[str]:
        """What faults can target in it, besides the stage."""

    @property
    def runtimes(self) -> frozenset[str]:
        """The runtimes that it uses, of which a run can choose versions."""

    @property
    def needs_versions(self) -> Mapping[str, str]:
        """The versions of runtimes with which alone it works; a run chooses them."""

    @property
    def plain_text(self) -> bool:
        """Whether it can connect only to brokers without TLS and authentication."""

    def configuration(self) -> Mapping[str, Any]:
        """Return its settings by component, for the report."""

    def pipeline(self, parts: PipelineParts) -> Pipeline:
        """Return its pipeline, not yet started.

        Raises:
            StageTrouble: the stage lacks something that it needs.
        """

    def lateness(
        self, logs: Sequence[PartitionLog], sink: Sink, history: Path
    ) -> Mapping[tuple[int, int], str]:
        """Return the records of an input that it may drop as late, for the table `log`.

        Returns:
            (partition, offset) → `late` or `unclear`.
        """

    def contributions_of_log(self, reader: LogReader) -> Iterable[Mapping[str, Any]]:
        """Yield rows of `contributions` that follow only from the input's log, after the run."""

    def open_sink(self, *, database: str, reader: LogReader, work: Path) -> Sink:
        """Open its sink, bypassing the proxies; `database` is a connection string."""


class SubjectBase:
    """Defaults for a subject that yields one effect per payment in one sink."""

    @property
    def sinks(self: Subject) -> tuple[str, ...]:
        return (self.sink,)

    @property
    def system(self) -> System | None:
        return None

    @property
    def balances(self) -> bool:
        return False

    @property
    def output_topic(self) -> str | None:
        return None

    @property
    def sends(self) -> bool:
        return False

    @property
    def offers(self) -> frozenset[str]:
        return frozenset()

    @property
    def runtimes(self) -> frozenset[str]:
        return frozenset()

    @property
    def needs_versions(self) -> Mapping[str, str]:
        return {}

    @property
    def plain_text(self) -> bool:
        return False

    def lateness(
        self, logs: Sequence[PartitionLog], sink: Sink, history: Path
    ) -> Mapping[tuple[int, int], str]:
        return {}

    def configuration(self) -> Mapping[str, Any]:
        return {}

    def yields(self, payments: Sequence[Payment]) -> Iterable[tuple[str, str]]:
        for payment in payments:
            yield payment.record, payment.effect_digest

    def contributions(self: Subject, payment: Payment) -> Iterable[Contribution]:
        return total_and_count(self.sink, payment.account, payment) if self.balances else ()

    def contributions_of_log(self, reader: LogReader) -> Iterable[Mapping[str, Any]]:
        return ()


@runtime_checkable
class OnQueues(Protocol):
    """A subject that uses queues."""

    @property
    def queues(self) -> tuple[str, ...]:
        """Addresses that it writes to; empty for a user's pipeline without queues."""

    @property
    def from_queues(self) -> bool:
        """Whether it also consumes queues, so that the workload goes to a queue broker."""

    @property
    def queue_broker(self) -> QueueSettings:
        """Settings of the queue broker, which is under test too."""


@runtime_checkable
class CallsHttp(Protocol):
    """A subject that may call an HTTP service."""

    @property
    def http(self) -> HttpSettings | None:
        """The service that it calls; None if it calls none."""
