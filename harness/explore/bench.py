"""Make trials of producers on a stage that stays up, several lanes side by side."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Final

from onceproof.harness.context.run_context import addresses, fresh_reader
from onceproof.harness.explore.acts import Single
from onceproof.harness.explore.exploration import Batch, Load
from onceproof.harness.explore.injection import Injection, Met
from onceproof.harness.explore.lane import Lane
from onceproof.harness.explore.points import Passed, Place
from onceproof.harness.explore.reports import Reports, report_everything
from onceproof.harness.explore.subjects import TWIN, ProducerSubject
from onceproof.harness.explore.trials import Aimed, Outcome, Trial
from onceproof.harness.explore.verdicts import LaneVerdict, claims_on, collect, judge
from onceproof.harness.kafka.metadata import ClusterView
from onceproof.harness.kafka.topics import create_topics
from onceproof.harness.links.gate.client import Gate
from onceproof.harness.links.topology import AUDITOR, Link
from onceproof.harness.processes.processes import Process
from onceproof.harness.processes.python import python_module
from onceproof.harness.stage.alone import Alone, alone
from onceproof.harness.subjects.observer import ObserverTask
from onceproof.harness.tools.setup import Tools
from onceproof.harness.wait import Stop, wait_until

_SECONDS: Final = 60.0
_SOURCE: Final = "producer"
_LOST: Final = Aimed(
    single=Single.parse(f"response lost @ {_SOURCE}/response/Produce/work/first/leader"),
    place=Place(life=1, nth=1),
)
_BROKEN: Final = Trial(aimed=(_LOST,))
"""The trial in which the broken twin sends a record twice."""


@dataclass(frozen=True, kw_only=True)
class _Stage:
    """A running stage with gates that report every message of producers."""

    up: Alone
    gate: Gate
    links: tuple[str, ...]
    reports: Reports


class ProducerBench:
    """Trials of one producer."""

    def __init__(
        self,
        subject: ProducerSubject,
        *,
        tools: Tools,
        folder: Path,
        stop: Stop,
        lanes: int,
        size: int = 24,
    ) -> None:
        """`folder` gets the stage's files and the histories; `lanes` run side by side."""
        assert tools.stage is not None
        self.size = size
        self._subject, self._tools, self._stop = subject, tools, stop
        self._stage_tools = tools.stage
        self._folder, self._lanes = folder, lanes
        self._numbers, self._batches, self._stages = count(1), count(1), count(1)
        self._stack = ExitStack()
        self._on: _Stage | None = None

    def __enter__(self) -> ProducerBench:
        self.renew()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def renew(self) -> None:
        self._stack.close()
        self._on = self._stack.enter_context(self._stage())
        # The first clients of a cluster wait until its coordinators are there, others do not.
        self._batch([Trial()] * self._lanes, Load(transactions=1))

    def quiet(self, count: int, load: Load) -> list[tuple[Passed, ...]]:
        met, verdicts, _ = self._batch([Trial()] * count, load)
        wrong = [v.reason for v in verdicts if v.verdict != "holds"]
        if wrong or any(each.stalled for each in met):
            raise ValueError(f"{self._subject.name} fails without faults: {wrong}")
        return [each.outcome.trace for each in met]

    def attempt(self, trials: Sequence[Trial], load: Load) -> Batch:
        met, verdicts, twin = self._batch([Trial(), *trials], load)
        (quiet, *others), (own, *rest) = met, verdicts
        unsound = None
        if quiet.stalled or own.verdict != "holds":
            unsound = f"a quiet trial came out wrong: {quiet.stalled or own.reason}"
        elif twin.verdict != "violated":
            unsound = f"the broken twin was not caught: {twin.verdict}, {twin.reason}"
        outcomes = tuple(map(_judged, others, rest))
        return Batch(outcomes=outcomes, unsound=unsound)

    def _batch(
        self, trials: Sequence[Trial], load: Load
    ) -> tuple[list[Met], list[LaneVerdict], LaneVerdict]:
        """Make trials beside the broken twin; return what happened, and all verdicts."""
        folder = self._folder / "batches" / f"{next(self._batches):04d}"
        history, work = folder / "history", folder / "work"
        for made in (history, work):
            made.mkdir(parents=True)
        lanes = [self._lane(self._subject, load, history, work) for _ in trials]
        twin = self._lane(TWIN, Load(transactions=3), history, work)
        every = [*lanes, twin]
        names = [lane.name for lane in every]
        self._create(names)
        observer = self._observe(names, history, work)
        with ThreadPoolExecutor(self._lanes) as pool:
            running = [
                pool.submit(self._injection(lane, trial).run)
                for lane, trial in zip(every, [*trials, _BROKEN], strict=True)
            ]
            met = [future.result() for future in running]
        self._collect(names, history, observer)
        claims = [
            claim
            for lane in every
            # A transaction of one record cannot be torn.
            for claim in claims_on(lane.name, atomic=lane.transactional and lane.load.records > 1)
        ]
        verdicts = judge(history, claims)
        for name in names:
            self._stage_on.reports.forget(name)
        return met[:-1], [verdicts[lane.name] for lane in lanes], verdicts[twin.name]

    @property
    def _stage_on(self) -> _Stage:
        assert self._on is not None
        return self._on

    def _injection(self, lane: Lane, trial: Trial) -> Injection:
        on = self._stage_on
        return Injection(lane, trial, gate=on.gate, links=on.links, reports=on.reports)

    def _lane(self, subject: ProducerSubject, load: Load, history: Path, work: Path) -> Lane:
        up = self._stage_on.up
        return Lane(
            name=f"lane{next(self._numbers)}",
            sender=subject.sender,
            transactional=subject.transactional,
            load=load,
            bootstrap=up.stage.bootstrap(_SOURCE),
            processes=up.processes,
            tools=self._tools,
            history=history,
            work=work,
            stop=self._stop,
        )

    def _create(self, names: list[str]) -> None:
        stage = self._stage_on.up.stage
        create_topics(stage.bootstrap(AUDITOR), names, partitions=1)
        with ClusterView(addresses(stage)) as view:

            def led() -> bool:
                leaders = {p.topic for p in view.partitions() if p.leader >= 0}
                return leaders.issuperset(names)

            wait_until(led, what="the topics to have leaders", seconds=_SECONDS, stop=self._stop)

    def _observe(self, names: list[str], history: Path, work: Path) -> Process:
        """Start a reader of all topics with `read_committed`."""
        up = self._stage_on.up
        task = work / "observer.json"
        ObserverTask(
            name="observer",
            bootstrap=up.stage.bootstrap(AUDITOR),
            history=str(history),
            partitions=[(name, 0) for name in names],
            client={
                "group.id": "observer",
                "enable.partition.eof": True,
                "enable.auto.commit": False,
                "isolation.level": "read_committed",
                "log_level": 0,
            },
            isolation="read_committed",
        ).save(task)
        command: list[str | Path] = [*python_module("onceproof.harness.subjects.observer"), task]
        return up.processes.start("observer", command, pipes=True)

    def _collect(self, names: list[str], history: Path, observer: Process) -> None:
        stage = self._stage_on.up.stage
        with fresh_reader(stage) as reader:
            ends = collect(reader, names, history, self._stop)
        stdout, stdin = observer.popen.stdout, observer.popen.stdin
        assert stdout is not None
        assert stdin is not None
        for line in stdout:
            seen = json.loads(line)["ends"]
            if all(seen.get(f"{name}/0", 0) >= end for name, end in ends.items()):
                break
        stdin.write(b"enough\n")
        stdin.close()
        wait_until(
            lambda: not observer.leader_alive(),
            what="the observer to end",
            seconds=_SECONDS,
            stop=self._stop,
            seen=observer.tail,
        )

    @contextmanager
    def _stage(self) -> Iterator[_Stage]:
        folder = self._folder / "stages" / f"{next(self._stages):03d}"
        with alone(folder, self._stage_tools) as up:
            links = [Link(_SOURCE, node) for node in up.stage.brokers]
            for link in links:
                gate = up.stage.gate(link).gate  # one process for all links
            names = tuple(map(str, links))
            reports = Reports(gate, report_everything(gate, list(names)), self._stop)
            try:
                yield _Stage(up=up, gate=gate, links=names, reports=reports)
            finally:
                reports.close()


def _judged(met: Met, verdict: LaneVerdict) -> Outcome:
    outcome = replace(
        met.outcome,
        verdict=verdict.verdict,
        anomalies=verdict.anomalies,
        reason=verdict.reason,
    )
    if met.stalled and verdict.verdict != "violated":
        return replace(outcome, verdict="stalled", reason=met.stalled)
    return outcome
