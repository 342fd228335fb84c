"""A toy protocol with planted bugs, whose trials cost nothing."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from onceproof.harness.explore.exploration import Batch, Load
from onceproof.harness.explore.points import (
    DIRECTIONS,
    Message,
    Passed,
    Place,
    Point,
    Purpose,
    passed_by,
)
from onceproof.harness.explore.trials import Outcome, Signature, Trial

COORDINATOR = "transaction-coordinator"
ABORTED = 1
"""Number of the transaction that the application aborts."""


def run_of(load: Load) -> list[Message]:
    """The messages of a client that sends transactions."""
    trace = both(0, "InitProducerId", "start", COORDINATOR)
    for unit in range(load.transactions):
        trace += both(unit, "AddPartitionsToTxn", "work", COORDINATOR)
        for _ in range(load.records):
            trace += both(unit, "Produce", "work", "leader")
        trace += both(unit, "EndTxn", "abort" if unit == ABORTED else "commit", COORDINATOR)
        trace[-1] = replace(trace[-1], ends=True)
    return trace


def both(unit: int, api: str, purpose: Purpose, target: str, life: int = 1) -> list[Message]:
    return [
        Message(
            unit=unit, life=life, role="producer", direction=direction, api=api, purpose=purpose,
            target=target,
        )
        for direction in DIRECTIONS
    ]  # fmt: skip


def after_fault(trace: Sequence[Message], at: int, *, killed: bool) -> list[Message]:
    """The messages of a client that sends again what a fault met, or that is killed and starts."""
    met = trace[at]
    if not killed:
        return [*trace[: at + 1], met, *trace[at + 1 :]]
    start = both(met.unit, "InitProducerId", "recovery", COORDINATOR, met.life + 1)
    rest = [replace(m, life=met.life + 1) for m in trace[at + 1 :] if m.unit > met.unit]
    return [*trace[: at + 1], *start, *rest]


def where(trace: Sequence[Message], place: Place, point: Point) -> list[int]:
    """The messages that a gate counts for a fault at a place."""
    mine = [n for n, message in enumerate(trace) if message.life == place.life]
    ended = [n for n in mine if trace[n].ends]
    if len(ended) < place.ends:
        return []
    start = ended[place.ends - 1] if place.ends else -1
    kind = (point.api, point.direction)
    return [n for n in mine if n > start and (trace[n].api, trace[n].direction) == kind]


@dataclass
class Bug:
    """A planted bug.

    Attributes:
        faults: ids of the singles that cause it, in this order.
        rate: how often they do.
        least: the smallest load with which they do.
        name: of its anomaly; by default it has a number.
    """

    faults: tuple[str, ...]
    rate: float = 1.0
    least: Load = field(default_factory=lambda: Load(transactions=1, records=1))
    name: str = ""

    def met(self, ids: Sequence[str], load: Load) -> bool:
        rest = iter(ids)
        return (
            load.transactions >= self.least.transactions
            and load.records >= self.least.records
            and all(fault in rest for fault in self.faults)
        )


@dataclass
class ToyBench:
    """Trials of the toy protocol.

    Attributes:
        miss: whether a single is missed in its n-th trial, from 1.
        unsound: why the n-th batch does not count, if so.
    """

    bugs: Sequence[Bug] = ()
    seed: int = 1
    size: int = 10
    miss: Callable[[str, int], bool] = lambda _id, _n: False
    unsound: Callable[[int], str | None] = lambda _: None
    batches: int = field(default=0, init=False)
    trials: int = field(default=0, init=False)
    renewed: int = field(default=0, init=False)
    tried: Counter[str] = field(default_factory=Counter, init=False)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)

    def quiet(self, count: int, load: Load) -> list[tuple[Passed, ...]]:
        return [passed_by(run_of(load)) for _ in range(count)]

    def attempt(self, trials: Sequence[Trial], load: Load) -> Batch:
        self.batches += 1
        self.trials += len(trials)
        unsound = self.unsound(self.batches)
        return Batch(outcomes=tuple(self._try(trial, load) for trial in trials), unsound=unsound)

    def renew(self) -> None:
        self.renewed += 1

    def _try(self, trial: Trial, load: Load) -> Outcome:
        self.tried[trial.key] += 1
        trace, hits = run_of(load), []
        for aimed in trial.aimed:
            point = aimed.single.point
            same = where(trace, aimed.place, point)
            if len(same) < aimed.place.nth or self.miss(aimed.single.id, self.tried[trial.key]):
                return Outcome(missed="the client ended without the message")
            hits.append(same[aimed.place.nth - 1])
            trace = after_fault(trace, hits[-1], killed=aimed.single.act.kills)
        ids = [single.id for single in trial.faults]
        found = {
            bug.name or f"bug {n}"
            for n, bug in enumerate(self.bugs)
            if bug.met(ids, load) and self._random.random() < bug.rate
        }
        return Outcome(
            verdict="violated" if found else "holds",
            anomalies=frozenset(found),
            signature=Signature(perceived=trial.key),
            trace=passed_by(trace),
            hits=tuple(hits),
        )
