"""A pipeline of a user at work on the shared stage: its program, its input, what it says."""

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
from onceproof.harness.faults.base import Fault, Injection
from onceproof.harness.history.identity import RECORD_HEADER
from onceproof.harness.links.topology import AUDITOR, Link
from onceproof.harness.stage.database_login import for_programs
from onceproof.harness.user_pipeline.command import keep_running
from onceproof.harness.user_pipeline.effects import Yield
from onceproof.harness.user_pipeline.group_commits import GroupCommits
from onceproof.harness.user_pipeline.identity import Rule
from onceproof.harness.user_pipeline.instances import several
from onceproof.harness.user_pipeline.look import Look
from onceproof.harness.user_pipeline.outputs.kind import Where
from onceproof.harness.user_pipeline.outputs.output import Output
from onceproof.harness.user_pipeline.program import Program
from onceproof.harness.user_pipeline.together import Together
from onceproof.harness.wait import Stop
from onceproof.harness.workload.senders.base import MESSAGE_MAX_BYTES
from tests.integration.faults import context
from tests.integration.staging import Staged, eventually, flowing

COPIES = Path(__file__).with_name("own_copies.py")
ID = Rule.parse("json:$.id")
LONG = 300_000
SHORT = 6_000
"""The shortest that a broker takes."""


@dataclass
class Own:
    """One program of `own_copies.py`, with an input and an output of its own."""

    staging: Staged
    source: str
    output: Output
    program: Program
    group: str = field(default_factory=lambda: f"group-{uuid.uuid4().hex[:8]}")
    sent: int = 0
    left_out: int = 0
    """Of how many partitions, the last ones, nothing is sent to."""
    hazards: list[str] = field(default_factory=list)
    """Those that faults have recorded."""
    holds: list[bool] = field(default_factory=list)
    """What faults have asked of the producers."""

    @property
    def context(self) -> RunContext:
        made = context(self.staging.stage, self.source, self.program)
        pace = SimpleNamespace(hold=self.holds.append)
        workload = made.producers.workload
        producers = SimpleNamespace(acknowledged=0, finished=False, pace=pace, workload=workload)
        recorder = SimpleNamespace(
            hazard=lambda name, **_: self.hazards.append(name), met=self.hazards.count
        )
        return replace(made, producers=producers, recorder=recorder)  # type: ignore[arg-type]

    def send(self) -> None:
        """A few records on every partition."""
        settings = {
            "bootstrap.servers": self.staging.stage.bootstrap(AUDITOR),
            "topic.metadata.refresh.interval.ms": 500,
        }
        self._producer = getattr(self, "_producer", None) or Producer(settings)
        partitions = len(self._producer.list_topics(self.source, 30).topics[self.source].partitions)
        partitions -= self.left_out
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
        """Records come for as long as the block lasts."""
        return flowing(self.send)

    def effects(self) -> Counter[str]:
        """How many effects each record has."""
        with fresh_reader(self.staging.stage) as reader:
            where = Where(database=self.staging.stage.database(AUDITOR), reader=reader, work=Path())
            sink = self.output.open(where, Yield())
            return Counter(str(effect.record) for effect in sink.effects())

    def missing(self) -> set[str]:
        """Records that were sent and have no effect."""
        return {f"r-{n}" for n in range(self.sent)} - set(self.effects())

    def said(self, life: int | None = None) -> list[str]:
        """What one of its lives, or all of them, said."""
        (name,) = self.program.supervisor.names
        lives = [p for p in self.staging.processes.all if p.name == name]
        chosen = lives if life is None else [lives[life]]
        return [line for p in chosen for line in p.log.read_text().splitlines()]

    def heard(self, words: str) -> str:
        """Wait until it says something that begins so; returns the line."""
        return eventually(
            lambda: next((line for line in self.said() if line.startswith(words)), None),
            f"the program to say «{words}»",
            self.said,
        )

    @contextlib.contextmanager
    def struck(self, fault: Fault) -> Iterator[tuple[Injection, str]]:
        """A fault once it has proved that it had an effect; healed at the end."""
        injection = fault.inject(self.context, "x")
        try:
            yield injection, eventually(injection.evidence, fault.describe())
        finally:
            injection.heal()


@contextlib.contextmanager
def running(
    staging: Staged,
    topic: Callable[..., str],
    form: str,
    *,
    workers: int = 1,
    session: int = LONG,
) -> Iterator[Own]:
    """A program of that form at work; it has written already.

    Members of its group have that session time-out, in milliseconds: if it is long, they are gone
    in time only where somebody removes them.
    """
    stage, source = staging.stage, topic(3, MESSAGE_MAX_BYTES)
    for broker in stage.brokers:
        # As in a trial, before anything flows: it closes connections, after which librdkafka may
        # wait for a coordinator for good.
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
        sink=lambda logs: Together(
            [
                output.open(
                    Where(database=stage.database(AUDITOR), reader=logs, work=Path()), Yield()
                )
            ]
        ),
        sent=(),
        required=(),
    )
    own = Own(staging, source, output, None)  # type: ignore[arg-type]
    asked = [database, out] if form == "rows" else [
        stage.bootstrap("pipeline"), source, out, own.group, *([database] if table else [])
    ]  # fmt: skip
    command = [sys.executable, str(COPIES), form, str(session), *asked]
    supervisor = keep_running(
        f"own-{own.group}",
        command if workers == 1 else several(workers, command),
        processes=staging.processes,
        environment=environment,
        folder=Path("/"),
        progress=look.size,
    )
    own.program = Program(supervisor, look, Stop())
    try:
        own.program.start()
        if form == "rows":
            own.heard("did")
        else:
            own.heard("assigned")
            own.send()
            eventually(lambda: not own.missing(), "its first effects", own.said)
        yield own
    finally:
        own.program.close()
        with contextlib.suppress(Exception):
            own.program.kill("the test is over")
