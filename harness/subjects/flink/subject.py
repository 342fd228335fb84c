"""An Apache Flink job from topic to topic, which commits its transactions on checkpoints.

A complete checkpoint promises to commit its transactions. If they time out before the job can do
so, their records are lost.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal

from onceproof.harness.context.pipeline import PipelineParts
from onceproof.harness.context.run_context import fresh_reader
from onceproof.harness.context.subject import SubjectBase
from onceproof.harness.history.system import System
from onceproof.harness.kafka.log_reader import LogReader
from onceproof.harness.sinks.balances import BalancesTopic
from onceproof.harness.sinks.base import Sink
from onceproof.harness.sinks.topic import TopicSink
from onceproof.harness.subjects.flink.job import Command, FlinkJob
from onceproof.harness.subjects.flink.programs import program_for
from onceproof.harness.subjects.group.positions import GroupPositions
from onceproof.harness.tools.jar_lock import FLINK
from onceproof.harness.tools.setup import Tools

JOB: Final = "job"
"""Offered to faults: a job that can be killed, and replaced while it is paused."""
VERSION: Final = next(iter(FLINK))
Guarantee = Literal["exactly-once", "at-least-once"]

_FLINK: Final[Mapping[str, Any]] = {
    "parallelism.default": 2,
    "execution.checkpointing.interval": "1s",
    # Complete checkpoints are read by the harness, and must still exist then on a busy machine.
    "execution.checkpointing.num-retained": 20,
    "execution.checkpointing.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION",
    # The harness restarts the job: a zombie must not restart itself.
    "restart-strategy.type": "disable",
    "state.backend.type": "hashmap",
    "taskmanager.memory.network.min": "16mb",
    "taskmanager.memory.network.max": "16mb",
    "taskmanager.memory.managed.size": "16mb",
}
_CLIENT: Final[Mapping[str, Any]] = {
    "request.timeout.ms": 3000,
    "reconnect.backoff.ms": 50,
    "reconnect.backoff.max.ms": 500,
}
_SOURCE: Final[Mapping[str, Any]] = {**_CLIENT, "isolation.level": "read_committed"}
_SINK: Final[Mapping[str, Any]] = {**_CLIENT, "linger.ms": 5}


@dataclass(frozen=True, kw_only=True)
class Flink(SubjectBase):
    """Payments to payments with their fee, or to balances.

    Attributes:
        balances: keep the balance of each account in the job's state, and write that.
        transaction_timeout_ms: the producers' `transaction.timeout.ms`.
        restored: whether it is restarted from its last checkpoint.
        start: where it starts without a checkpoint.
        into: output topic; by default its name depends on `balances`.
        job: its name, its consumer group, and the prefix of its transactional ids.
    """

    guarantee: Guarantee = "exactly-once"
    balances: bool = False
    transaction_timeout_ms: int = 600_000
    restored: bool = True
    start: Literal["earliest", "group"] = "earliest"
    version: str = VERSION
    into: str | None = None
    view: str = "read_committed"
    job: str = "billing"

    def __post_init__(self) -> None:
        """Raise `ValueError` for a version whose jars are not locked."""
        if self.version not in FLINK:
            raise ValueError(
                f"unsupported Flink version {self.version}: expected {' or '.join(FLINK)}"
            )

    @property
    def name(self) -> str:
        """For example `flink`, `flink-balances`, `flink-at-least-once`, `flink-1.20`."""
        line = "" if self.version == VERSION else f"-{self.version.rpartition('.')[0]}"
        balances = "-balances" if self.balances else ""
        least = "-at-least-once" if self.guarantee == "at-least-once" else ""
        hasty = "-hasty" if self._hasty else ""
        anew = "" if self.restored else "-anew"
        return f"flink{line}{balances}{least}{hasty}{anew}"

    @property
    def _hasty(self) -> bool:
        return self.transaction_timeout_ms < 60_000

    @property
    def system(self) -> System:
        return System.FLINK

    @property
    def runtimes(self) -> frozenset[str]:
        return frozenset({"flink"})

    @property
    def says(self) -> str:
        keeps = " It keeps balances in its state." if self.balances else ""
        if self.guarantee == "at-least-once":
            promise = (
                "DeliveryGuarantee.AT_LEAST_ONCE: records after its last checkpoint are processed "
                "again."
            )
        else:
            promise = (
                "DeliveryGuarantee.EXACTLY_ONCE: its sink's transactions are committed when a "
                "checkpoint is complete, after a restart if necessary."
            )
        hasty = (
            " Broken twin: its transactions time out before it has restarted."
            if self._hasty
            else ""
        )
        anew = "" if self.restored else " Broken twin: it is restarted without its checkpoint."
        return f"An Apache Flink job with {promise}{keeps}{hasty}{anew}"

    @property
    def sink(self) -> str:
        return self.into or ("balances" if self.balances else "payments-with-fees")

    @property
    def sinks(self) -> tuple[str, ...]:
        """The topic; a balance is not the effect of a single payment, so it is not listed."""
        return () if self.balances else (self.sink,)

    @property
    def output_topic(self) -> str:
        return self.sink

    @property
    def sends(self) -> bool:
        return False

    @property
    def plain_text(self) -> bool:
        """True: the job has no settings for TLS or SASL."""
        return True

    @property
    def offers(self) -> frozenset[str]:
        return frozenset({JOB})

    @property
    def _producer(self) -> Mapping[str, Any]:
        return {**_SINK, "transaction.timeout.ms": self.transaction_timeout_ms}

    def configuration(self) -> Mapping[str, Any]:
        return {
            "flink": {"version": self.version, "guarantee": self.guarantee, **_FLINK},
            "flink's source": {"starts": self.start, **_SOURCE},
            "flink's sink": dict(self._producer),
        }

    def pipeline(self, parts: PipelineParts) -> FlinkJob:
        """Return the job; download Flink if necessary.

        Raises:
            SetupError: there is no compiler, or a jar cannot be downloaded.
        """
        temporary = parts.work / "flink"
        temporary.mkdir()
        return FlinkJob(
            name=self.job,
            command=self.launcher(
                parts.tools,
                temporary=temporary,
                address=parts.address,
                topic=parts.topic,
                source=parts.stage.bootstrap("pipeline"),
                sink=parts.stage.bootstrap("pipeline-sink"),
            ),
            parts=parts,
            sink=self.sink,
            transactional=self.guarantee == "exactly-once",
            restored=self.restored,
            start=0 if self.start == "earliest" else None,
            kept=(
                None
                if self.start == "earliest"
                else GroupPositions.from_now(self.job, partial(fresh_reader, parts.stage))
            ),
        )

    def launcher(
        self, tools: Tools, *, temporary: Path, address: str, topic: str, source: str, sink: str
    ) -> Command:
        """Return what builds the command line of a life, given settings of its own.

        Args:
            temporary: folder for the files of all lives.
            address: where the job listens.
            source: the brokers to read from.
            sink: the brokers to write to.

        Raises:
            SetupError: there is no compiler, or a jar cannot be downloaded.
        """
        program = program_for(tools, self.version)
        listening = dict.fromkeys(
            ("jobmanager.bind-host", "taskmanager.bind-host", "taskmanager.host", "rest.address",
             "rest.bind-address"),
            address,
        )  # fmt: skip
        settings = {
            "job.name": self.job,
            "job.topic": topic,
            "job.into": self.sink,
            "job.balances": str(self.balances).lower(),
            "job.guarantee": self.guarantee.upper().replace("-", "_"),
            "job.start": self.start,
            **_part("flink", {**_FLINK, **listening, "io.tmp.dirs": temporary}),
            **_part(
                "source",
                {
                    **_SOURCE,
                    "bootstrap.servers": source,
                    "group.id": self.job,
                },
            ),
            **_part("sink", {**self._producer, "bootstrap.servers": sink}),
        }

        def command(own: Mapping[str, str]) -> list[str | Path]:
            options = [f"{name}={value}" for name, value in (settings | dict(own)).items()]
            return program.command(options, temporary=temporary)

        return command

    def open_sink(self, *, database: str, reader: LogReader, work: Path) -> Sink:
        topic = BalancesTopic if self.balances else TopicSink
        return topic(reader, topic=self.sink, view=self.view)


def _part(prefix: str, settings: Mapping[str, Any]) -> dict[str, str]:
    return {f"{prefix}.{name}": str(value) for name, value in settings.items()}
