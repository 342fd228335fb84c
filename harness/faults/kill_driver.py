"""SIGKILL of the Spark driver, aimed at the window between the sink's write and the commit.

The one thing to know: aimed, it stays armed until it has hit, and then proves the window by
identity: the sink holds effects of exactly the batch that has no commit. When that batch is
committed after the restart, it has run twice: that is the hazard.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final, Literal

from harness.bench import Aftermath, Bench
from harness.clock import now
from harness.faults.by_hand import ByHand, UnknownFault
from harness.faults.driver import wait_reads
from harness.identity import RECORD_HEADER
from harness.settle import settle
from harness.subjects.spark import Hit, SparkPipeline

Window = Literal["after-sink-write"]


@dataclass(frozen=True, kw_only=True)
class KillDriver:
    """SIGKILL the driver with all its processes; restart it when all of them are gone."""

    kind: ClassVar[str] = "crash"
    needs: ClassVar[str | None] = "pipeline"
    window: Window | None = "after-sink-write"
    idle: bool = False
    """Wait until the pipeline has done everything there is; only without a window."""

    def describe(self) -> str:
        """The act in words."""
        if self.window is None:
            return "SIGKILL the Spark driver" + (" while it is idle" if self.idle else "")
        return "SIGKILL the Spark driver after the sink's write and before the batch's commit"

    def inject(self, bench: Bench, name: str) -> _AnyTime | _InWindow:
        """Kill it now, or arm."""
        if self.window is not None:
            return _InWindow(bench, name)
        if self.idle:
            bench.producers.hurry()
            settle(bench)
        return _AnyTime(bench, name)


def _asked(when: str) -> KillDriver:
    if when == "now":
        return KillDriver(window=None)
    if when == "after-sink-write":
        return KillDriver(window="after-sink-write")
    raise UnknownFault(f"{when!r} is no moment; expected now or after-sink-write")


BY_HAND: Final = ByHand(
    name="kill-driver",
    takes=("WHEN",),
    example="kill-driver after-sink-write",
    says="SIGKILL the Spark driver: now, or after-sink-write (before the batch's commit)",
    make=_asked,
)


class _AnyTime:
    def __init__(self, bench: Bench, name: str) -> None:
        self._bench = bench
        process = bench.pipeline.process
        self.target = process.instance if process else "driver"
        self.at = now()
        self._count = bench.pipeline.kill(f"SIGKILL by fault «{name}»")

    def evidence(self) -> str | None:
        """How many processes it took."""
        return f"{self.target} and all its {self._count} processes ended by signal 9"

    def heal(self) -> None:
        """Restart it and wait until its query runs."""
        _start(self._bench.pipeline)
        wait_reads(self._bench)

    def aftermath(self, known: Aftermath) -> None:
        """Nothing more to say."""


class _InWindow:
    def __init__(self, bench: Bench, name: str) -> None:
        self._bench = bench
        self._name = name
        self.target = "driver"
        self.at: int | None = None
        self._look = bench.pipeline.kill_in_window(f"SIGKILL by fault «{name}»")
        self._hit: Hit | None = None
        self._present = self._planned = 0
        self._proof: str | None = None

    def evidence(self) -> str | None:
        """The batch that the sink has and the commit log has not."""
        if self._proof is None and (hit := self._look()) is not None:
            self._hit = hit
            self.target = hit.instance
            self.at = hit.at
            self._present, self._planned = self._effects_of(hit.batch)
            if self._present:
                missed = f", after {hit.misses} misses that were let go" if hit.misses else ""
                self._proof = (
                    f"{hit.instance} and all its {hit.processes} processes ended by signal 9; of "
                    f"the {self._planned} records of micro-batch {hit.batch} the sink had "
                    f"{self._present}, and the batch had no commit{missed}"
                )
        return self._proof

    def heal(self) -> None:
        """Restart it; wait until the batch that it was killed in is committed at last."""
        pipeline = self._bench.pipeline
        pipeline.disarm()
        hit = self._hit or self._look()
        if hit is None:
            return  # it was never hit, so there is nothing to restart
        _start(pipeline)
        pipeline.wait_batch(hit.batch, seconds=150)
        if self._present:
            self._bench.recorder.hazard(
                "replayed-batch",
                hop="process",
                fault=self._name,
                owner=pipeline.checkpoint.query_id(),
                batch=hit.batch,
                detail=(
                    f"micro-batch {hit.batch} ran again after {self._present} of its "
                    f"{self._planned} effects were visible in the sink"
                ),
            )

    def aftermath(self, known: Aftermath) -> None:
        """Nothing more to say."""

    def _effects_of(self, batch: int) -> tuple[int, int]:
        """How many of a batch's records have an effect in the sink, and how many it has."""
        records: set[str] = set()
        with self._bench.reader() as reader:
            ranges = self._bench.pipeline.checkpoint.range_of(batch)
            for (topic, partition), (start, end) in ranges.items():
                for entry in reader.read(topic, partition, start).entries:
                    if entry.offset < end and entry.kind == "data":
                        records.add(entry.headers.get(RECORD_HEADER, b"").decode())
            effects = {e.record for e in self._bench.open_sink(reader).effects()}
        return len(records & effects), len(records)


def _start(pipeline: SparkPipeline) -> None:
    """Give it a new life, unless an earlier try to heal did and only its progress is waited for."""
    if not pipeline.alive():
        pipeline.start()
