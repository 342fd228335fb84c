"""User pipelines that run on the shared stage, with their inputs and outputs."""

from __future__ import annotations

import contextlib
import json
import sys
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

from confluent_kafka import Producer

from onceproof.harness.context.run_context import RunContext, addresses, fresh_reader
from onceproof.harness.faults.base import Fault, Injection, NoEffect
from onceproof.harness.history.identity import RECORD_HEADER
from onceproof.harness.links.topology import AUDITOR, Link
from onceproof.harness.stage.database_login import for_programs
from onceproof.harness.user_pipeline.command import keep_running
from onceproof.harness.user_pipeline.effects import ExpectedEffects
from onceproof.harness.user_pipeline.group_commits import GroupCommits
from onceproof.harness.user_pipeline.identity import Rule
from onceproof.harness.user_pipeline.instances import several
from onceproof.harness.user_pipeline.look import Look
from onceproof.harness.user_pipeline.outputs.kind import OutputAccess
from onceproof.harness.user_pipeline.outputs.output import Output
from onceproof.harness.user_pipeline.program import Program
from onceproof.harness.user_pipeline.together import CombinedOutputs
from onceproof.harness.wait import Overdue, Stop
from onceproof.harness.workload.senders.base import MESSAGE_MAX_BYTES
from tests.integration.faults import context
from tests.integration.staging import Staged, eventually, flowing

COPIES = Path(__file__).with_name("own_copies.py")
ID = Rule.parse("json:$.id")
LONG = 300_000
SHORT = 6_000
"""The broker's minimum session timeout, in milliseconds."""


@dataclass
class RunningPipeline:
    """A running program of `own_copies.py` with its own input and output."""

    staging: Staged
    source: str
    output: Output
    program: Program
    group: str = field(default_factory=lambda: f"group-{uuid.uuid4().hex[:8]}")
    sent: int = 0
    skipped_partitions: int = 0
    """The number of last partitions that `send` skips."""
    hazards: list[str] = field(default_factory=list)
    """Hazards that faults have recorded."""
    holds: list[bool] = field(default_factory=list)
    """Calls of the producers' `hold` by faults."""

    @property
    def context(self) -> RunContext:
        base = context(self.staging.stage, self.source, self.program)
        pace = SimpleNamespace(hold=self.holds.append)
        workload = base.producers.workload
        producers = SimpleNamespace(acknowledged=0, finished=False, pace=pace, workload=workload)
        recorder = SimpleNamespace(
            hazard=lambda name, **_: self.hazards.append(name), met=self.hazards.count
        )
        return replace(base, producers=producers, recorder=recorder)  # type: ignore[arg-type]

    def send(self) -> None:
        """Send a few records to every partition."""
        settings = {
            "bootstrap.servers": self.staging.stage.bootstrap(AUDITOR),
            "topic.metadata.refresh.interval.ms": 500,
        }
        self._producer = getattr(self, "_producer", None) or Producer(settings)
        partitions = len(self._producer.list_topics(self.source, 30).topics[self.source].partitions)
        partitions -= self.skipped_partitions
        for n in range(self.sent, self.sent + 9):
            self._producer.produce(
                self.source,
                json.dumps({"id": f"r-{n}"}),
                partition=n % partitions,
                headers=[(RECORD_HEADER, f"r-{n}".encode())],
            )
        assert self._producer.flush(60) == 0
        self.sent += 9

    def flowing(self) -> contextlib.AbstractContextManager[None]:
        """Send records for the duration of the block."""
        return flowing(self.send)

    def effects(self) -> Counter[str]:
        """The number of effects of each record."""
        with fresh_reader(self.staging.stage) as reader:
            where = OutputAccess(
                database=self.staging.stage.database(AUDITOR), reader=reader, work=Path()
            )
            sink = self.output.open(where, ExpectedEffects())
            return Counter(str(effect.record) for effect in sink.effects())

    def missing(self) -> set[str]:
        """Sent records without effect."""
        return {f"r-{n}" for n in range(self.sent)} - set(self.effects())

    def stdout(self, life: int | None = None) -> list[str]:
        """The standard output of one life, or of all."""
        (name,) = self.program.supervisor.names
        lives = [p for p in self.staging.processes.all if p.name == name]
        chosen = lives if life is None else [lives[life]]
        return [line for p in chosen for line in p.log.read_text().splitlines()]

    def wait_for_line(self, prefix: str) -> str:
        """Wait for a line of output with a prefix and return it."""
        return eventually(
            lambda: next((line for line in self.stdout() if line.startswith(prefix)), None),
            f"the program to say «{prefix}»",
            self.stdout,
        )

    @contextlib.contextmanager
    def injected(self, fault: Fault, *, tries: int = 1) -> Iterator[tuple[Injection, str]]:
        """Inject a fault and wait until it took effect; heal it at the end.

        As a trial does, try a fault again that takes effect only by luck.
        """
        for left in reversed(range(tries)):
            with contextlib.ExitStack() as healed:
                injection = fault.inject(self.context, "x")
                healed.callback(injection.heal)
                try:
                    proof = eventually(injection.evidence, fault.describe())
                except (Overdue, NoEffect):
                    if left:
                        continue
                    raise
                yield injection, proof
                return


@contextlib.contextmanager
def running(
    staging: Staged,
    topic: Callable[..., str],
    form: str,
    *,
    workers: int = 1,
    session: int = LONG,
) -> Iterator[RunningPipeline]:
    """Run a program in one of the forms of `own_copies.py` that has written its first output.

    `session` is the session timeout in milliseconds: if it is long, dead members leave the group
    in time only if something removes them.
    """
    stage, source = staging.stage, topic(3, MESSAGE_MAX_BYTES)
    for broker in stage.brokers:
        # Before any traffic, as in a trial: placing a gate closes connections, after which
        # librdkafka may wait forever for a coordinator.
        stage.gate(Link("pipeline", broker))
    table = form in ("rows", "booked", "locking", "impatient", "twice", "rewound", "locked")
    out = f"rows_{uuid.uuid4().hex[:8]}" if table else topic(3, MESSAGE_MAX_BYTES)
    output = Output.parse(f"postgres:{out}" if table else out, ID)
    database, environment = for_programs(stage.database("pipeline"))
    reader = partial(fresh_reader, stage)
    look = Look(
        topics=(source,),
        groups=GroupCommits((source,), addresses=addresses(stage).values(), reader=reader),
        reader=reader,
        sink=lambda logs: CombinedOutputs(
            [
                output.open(
                    OutputAccess(database=stage.database(AUDITOR), reader=logs, work=Path()),
                    ExpectedEffects(),
                )
            ]
        ),
        sent=(),
        required=(),
    )
    pipeline = RunningPipeline(staging, source, output, None)  # type: ignore[arg-type]
    arguments = [database, out] if form == "rows" else [
        stage.bootstrap("pipeline"), source, out, pipeline.group, *([database] if table else [])
    ]  # fmt: skip
    command = [sys.executable, str(COPIES), form, str(session), *arguments]
    supervisor = keep_running(
        f"own-{pipeline.group}",
        command if workers == 1 else several(workers, command),
        processes=staging.processes,
        environment=environment,
        folder=Path("/"),
        progress=look.size,
    )
    pipeline.program = Program(supervisor, look, Stop())
    try:
        pipeline.program.start()
        if form == "rows":
            pipeline.wait_for_line("did")
        else:
            pipeline.wait_for_line("assigned")
            pipeline.send()
            eventually(lambda: not pipeline.missing(), "its first effects", pipeline.stdout)
        yield pipeline
    finally:
        pipeline.program.close()
        with contextlib.suppress(Exception):
            pipeline.program.kill("the test is over")
