"""Make trials of clients on a stage that stays up, several lanes side by side."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import count, cycle
from pathlib import Path
from typing import Final

from onceproof.harness.context.run_context import addresses, fresh_reader
from onceproof.harness.explore.bench.convoy import Convoy
from onceproof.harness.explore.bench.failing import FAILING, QueueBrokerKilled
from onceproof.harness.explore.bench.injection import Injection, Met
from onceproof.harness.explore.bench.lanes.base import Lane, Surroundings
from onceproof.harness.explore.bench.observer import Observer
from onceproof.harness.explore.bench.reports import Reports, report_everything
from onceproof.harness.explore.bench.subjects.base import Subject
from onceproof.harness.explore.bench.verdicts import LaneVerdict, collect, judge, keep
from onceproof.harness.explore.exploration import Batch, Load
from onceproof.harness.explore.points import Passed
from onceproof.harness.explore.trials import Outcome, Trial
from onceproof.harness.history.tables import read_lines
from onceproof.harness.kafka.metadata import ClusterView
from onceproof.harness.kafka.topics import create_topics
from onceproof.harness.links.gate.client import Gate
from onceproof.harness.links.topology import AUDITOR, Link, node_id
from onceproof.harness.stage.alone import Alone, alone
from onceproof.harness.stage.backends import BROKERS
from onceproof.harness.tools.setup import Tools
from onceproof.harness.wait import Stop, wait_until

KEPT: Final = "violations"
"""Folder of the histories of violations, in that of the exploration."""
_SECONDS: Final = 60.0
_SIZE: Final = 24
_EACH: Final = 6
"""How many trials each lane makes in a batch at most: an interrupted batch is lost."""
_SIZE_ALONE: Final = 6
"""Where each trial takes as long as a stage needs to start."""
_MOST: Final = 400
"""Trials on one stage: each leaves topics, which make brokers slower and their folders large."""
_CONVOY: Final = 12
"""Maximum number of trials in which the same broker fails."""


@dataclass(frozen=True, kw_only=True)
class _Stage:
    """A running stage with gates that report every message of clients under test."""

    up: Alone
    view: ClusterView
    gate: Gate
    links: tuple[str, ...]
    reports: Reports


class StageBench:
    """Trials of one subject."""

    def __init__(
        self,
        subject: Subject,
        *,
        tools: Tools,
        folder: Path,
        stop: Stop,
        lanes: int,
        size: int | None = None,
        kept: Path | None = None,
    ) -> None:
        """`folder` gets the stage's files and the histories; `lanes` run side by side.

        `size` is the number of trials that are judged together, by default as many as is sensible.

        The tables of batches with a violation are written to folders in `kept`.
        """
        assert tools.stage is not None
        self._subject, self._tools, self._stop = subject, tools, stop
        self._stage_tools = tools.stage
        self._folder, self._kept = folder, kept or folder / KEPT
        self._lanes = min(lanes, subject.lanes)
        self.size = size or (_SIZE_ALONE if subject.alone else min(_SIZE, _EACH * self._lanes))
        self._numbers, self._batches, self._stages = count(1), count(1), count(1)
        self._fails = cycle(range(1, BROKERS + 1))
        self._stack = ExitStack()
        self._on: _Stage | None = None
        self._made = 0

    def __enter__(self) -> StageBench:
        self.renew()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def renew(self) -> None:
        if self._subject.alone:
            return  # each trial does
        self._start_stage()
        # The first clients of a cluster wait until its coordinators are there, others do not.
        self._batch([Trial()] * self._lanes, Load(transactions=1))

    def _start_stage(self) -> None:
        self._stack.close()
        self._on, self._made = self._stack.enter_context(self._stage()), 0

    def quiet(self, count: int, load: Load) -> list[tuple[Passed, ...]]:
        met, verdicts, _ = self._together([Trial()] * count, load)
        wrong = [v.reason for v in verdicts if v.verdict != "holds"]
        wrong += [each.stalled for each in met if each.stalled]
        if wrong:
            raise ValueError(f"{self._subject.name} fails without faults: {'; '.join(wrong)}")
        return [each.outcome.trace for each in met]

    def attempt(self, trials: Sequence[Trial], load: Load) -> Batch:
        assert len({trial.breaks for trial in trials}) <= 1, "a broker fails in all or in none"
        if self._made >= _MOST:
            self.renew()
        outcomes: list[Outcome] = []
        size = _CONVOY if trials and trials[0].breaks else self.size
        for first in range(0, len(trials), size):
            met, verdicts, twin = self._together([Trial(), *trials[first : first + size]], load)
            (quiet, *others), (own, *rest) = met, verdicts
            if quiet.stalled or own.verdict != "holds":
                return _unsound(f"a quiet trial came out wrong: {quiet.stalled or own.reason}")
            if twin.verdict != "violated":
                return _unsound(f"the broken twin was not caught: {twin.verdict}, {twin.reason}")
            outcomes += map(_judged, others, rest)
        return Batch(outcomes=tuple(outcomes))

    def _together(
        self, trials: Sequence[Trial], load: Load
    ) -> tuple[list[Met], list[LaneVerdict], LaneVerdict]:
        """Make trials and one of the broken twin; return what happened, and all verdicts."""
        if not self._subject.alone:
            met, (*verdicts, twin) = self._batch(trials, load)
            return met[:-1], verdicts, twin
        met, verdicts, twin = [], [], LaneVerdict(verdict="violated")
        for trial in trials:
            self._start_stage()
            # It is also the first client of the cluster, which waits for its coordinators.
            _, (caught,) = self._batch([], load)
            if caught.verdict != "violated":
                twin = caught
            (own,), (verdict,) = self._batch([trial], load, twin=False)
            met.append(own)
            verdicts.append(verdict)
        return met, verdicts, twin

    def _batch(
        self, trials: Sequence[Trial], load: Load, *, twin: bool = True
    ) -> tuple[list[Met], list[LaneVerdict]]:
        """Make trials, with the broken twin as the last one; return what happened, and verdicts."""
        folder = self._folder / "batches" / f"{next(self._batches):04d}"
        history, work = folder / "history", folder / "work"
        for made in (history, work):
            made.mkdir(parents=True)
        around = self._around(history, work)
        node = next(self._fails)
        self._made += len(trials)
        lanes = [self._lane(self._subject, load, around) for _ in trials]
        every = list(zip(lanes, trials, strict=True))
        if twin:
            broken, usual = self._subject.twin, replace(around, tools=self._tools.usual)
            every.append((self._lane(broken.subject, broken.load, usual), broken.trial))
        elif self._subject.alone:
            self._stage_on.reports.take_all_for(lanes[0])
        apart = [(lane, trial) for lane, trial in every if not trial.breaks]
        convoy = [(lane, trial) for lane, trial in every if trial.breaks]
        self._create([lane for lane, _ in apart])
        self._create([lane for lane, _ in convoy], leader=node)
        topics = {topic: count for lane, _ in every for topic, count in lane.topics.items()}
        up = self._stage_on.up
        observer = Observer(up, topics, history, work) if self._subject.observed else None
        with fresh_reader(up.stage) as reader:
            for lane, _ in every:
                lane.prepare(reader)
        done = self._run(apart, None, self._lanes)
        if convoy:
            done |= self._run_convoy(convoy, node)
        met = [done[lane.name] for lane, _ in every]
        with fresh_reader(up.stage) as reader:
            ends = collect(reader, [lane for lane, _ in every], history, self._stop)
        if observer is not None:
            observer.finish(ends, self._stop)
        tables = read_lines(history).tables
        verdicts = judge(tables, [lane for lane, _ in every])
        if any(verdicts[lane.name].violated for lane in lanes):
            name = f"{time.time_ns():x}"
            keep(tables, self._kept / name)
            verdicts = {of: _in_folder(each, name) for of, each in verdicts.items()}
        for lane, _ in every:
            self._stage_on.reports.forget(lane.name)
        return met, [verdicts[lane.name] for lane, _ in every]

    @property
    def _stage_on(self) -> _Stage:
        assert self._on is not None
        return self._on

    def _run(
        self, trials: Sequence[tuple[Lane, Trial]], convoy: Convoy | None, lanes: int
    ) -> dict[str, Met]:
        """Make trials, some side by side; return what happened by the name of the lane."""
        on = self._stage_on
        with ThreadPoolExecutor(lanes) as pool:
            running = {
                lane.name: pool.submit(
                    Injection(
                        lane,
                        trial,
                        gate=on.gate,
                        links=on.links,
                        reports=on.reports,
                        convoy=convoy,
                    ).run
                )
                for lane, trial in trials
            }
            return {name: future.result() for name, future in running.items()}

    def _run_convoy(self, trials: Sequence[tuple[Lane, Trial]], node: int) -> dict[str, Met]:
        """Make trials in which the broker `node` fails once, and mend it.

        It leads the topics of the lanes, and is the coordinator of all groups and transactions. If
        there is a queue broker, it is that.
        """
        on, (how, *_) = self._stage_on, [trial.breaks for _, trial in trials]
        assert how is not None
        queues = self._subject.queues(self._tools)
        kind = FAILING[how] if queues is None else QueueBrokerKilled
        failing = kind(on.up.stage, on.view, node, self._stop)
        failing.place()
        convoy = Convoy(len(trials), failing.broker, failing.fail)
        with ThreadPoolExecutor(1) as pool:
            running = pool.submit(self._run, trials, convoy, len(trials))
            try:
                failing.wait_replaced(running.done)
            finally:
                failing.mend()
            return running.result()

    def _lane(self, subject: Subject, load: Load, around: Surroundings) -> Lane:
        return subject.lane(f"lane{next(self._numbers)}", load, around)

    def _around(self, history: Path, work: Path) -> Surroundings:
        on = self._stage_on
        return Surroundings(
            bootstrap=on.up.stage.bootstrap(self._subject.audience),
            view=on.view,
            addresses=addresses(on.up.stage),
            reader=partial(fresh_reader, on.up.stage),
            database=on.up.stage.database,
            queue_broker=on.up.stage.queue_broker,
            queues=on.up.stage.queues,
            processes=on.up.processes,
            tools=self._tools,
            history=history,
            work=work,
            stop=self._stop,
        )

    def _create(self, lanes: Sequence[Lane], *, leader: int | None = None) -> None:
        """Create the topics of lanes, which a broker leads, or any."""
        on = self._stage_on
        topics = {topic: count for lane in lanes for topic, count in lane.topics.items()}
        nodes = [node_id(name) for name in on.up.stage.brokers]
        replicas = None if leader is None else [leader, *(n for n in nodes if n != leader)]
        for partitions in set(topics.values()):
            names = [topic for topic, number in topics.items() if number == partitions]
            create_topics(
                on.up.stage.bootstrap(AUDITOR), names, partitions=partitions, replicas=replicas
            )

        # A client that asks a broker that does not know them yet may not ask again for minutes.
        for node, address in addresses(on.up.stage).items():
            with ClusterView({node: address}) as view:
                wait_until(
                    partial(_leads, view, topics.keys()),
                    what=f"the topics to have leaders in the metadata of broker {node}",
                    seconds=_SECONDS,
                    stop=self._stop,
                )

    @contextmanager
    def _stage(self) -> Iterator[_Stage]:
        folder = self._folder / "stages" / f"{next(self._stages):03d}"
        queues = self._subject.queues(self._tools)
        with alone(folder, self._stage_tools, queues=queues) as up:
            links = [Link(self._subject.audience, node) for node in up.stage.brokers]
            for link in links:
                gate = up.stage.gate(link).gate  # one process for all links
            names = tuple(map(str, links))
            reports = Reports(gate, report_everything(gate, list(names)), self._stop)
            try:
                with ClusterView(addresses(up.stage)) as view:
                    yield _Stage(up=up, view=view, gate=gate, links=names, reports=reports)
            finally:
                reports.close()


def _leads(view: ClusterView, topics: Collection[str]) -> bool:
    found = view.partitions()
    return set(topics) <= {p.topic for p in found} - {p.topic for p in found if p.leader < 0}


def _in_folder(verdict: LaneVerdict, name: str) -> LaneVerdict:
    claims = (word for claim in verdict.violated for word in ("--claim", claim))
    kept = (f"{KEPT}/{name}", *claims) if verdict.violated else ()
    return replace(verdict, kept=kept)


def _unsound(why: str) -> Batch:
    return Batch(outcomes=(), unsound=why)


def _judged(met: Met, verdict: LaneVerdict) -> Outcome:
    outcome = replace(
        met.outcome,
        verdict=verdict.verdict,
        anomalies=verdict.anomalies,
        reason=verdict.reason,
        kept=verdict.kept,
    )
    if met.stalled and verdict.verdict != "violated":
        return replace(outcome, verdict="stalled", reason=met.stalled)
    return outcome
