"""Draw schedules from a run's seed: faults of several kinds, aimed at leaders, in random order.

A drawn fault may have no effect, because its target was idle at that time. So no single fault is
required to take effect, but at least one of each kind is. A replay uses the schedule in the run
folder instead of drawing again.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from onceproof.harness.faults.base import Fault
from onceproof.harness.faults.kill import Kill
from onceproof.harness.faults.links.cut_link import CutLink
from onceproof.harness.faults.links.delay import Delay
from onceproof.harness.faults.links.hold import HoldBytes
from onceproof.harness.faults.links.isolate_broker import IsolateBroker
from onceproof.harness.faults.links.lose_requests import LoseRequests
from onceproof.harness.faults.links.one_way import OneWay
from onceproof.harness.faults.links.unanswered import LeaveUnanswered
from onceproof.harness.faults.pause import Pause
from onceproof.harness.faults.stop import Stop
from onceproof.harness.faults.targets.brokers import LeaderOf
from onceproof.harness.faults.targets.spark_driver import SparkDriver
from onceproof.harness.schedule.scenario import ScheduledFault

_SECONDS: Final = 45.0
"""Time limit for an effect; shorter than for a required fault."""
_OVERLAP_PROBABILITY: Final = 0.5
"""Probability that a link fault runs in parallel with the previous fault instead of after it."""

Audiences = tuple[str, ...]
MakeFault = Callable[[LeaderOf, Audiences, random.Random], Fault]

FAULTS: Final[Mapping[str, tuple[MakeFault, ...]]] = {
    "driver": (lambda leader, who, draws: Kill(SparkDriver(), at="after-sink-write"),),
    "process": (
        lambda leader, who, draws: Kill(leader),
        lambda leader, who, draws: Stop(leader),
        lambda leader, who, draws: Pause(leader),
    ),
    "partition": (
        lambda leader, who, draws: IsolateBroker(target=leader),
        lambda leader, who, draws: OneWay(target=leader, lost=draws.choice(("out", "in"))),
        lambda leader, who, draws: CutLink(source=who[-1], target=leader),
    ),
    "link": (
        lambda leader, who, draws: LeaveUnanswered(target=leader),
        lambda leader, who, draws: LoseRequests(source="producer", target=leader),
        lambda leader, who, draws: HoldBytes(
            source=draws.choice(who), target=leader, way="responses"
        ),
        lambda leader, who, draws: Delay(
            source=draws.choice(who),
            target=leader,
            way=draws.choice(("requests", "responses")),
            milliseconds=draws.randrange(100, 1000),
            jitter=draws.randrange(100),
            seed=draws.randrange(1 << 16),
        ),
    ),
}
"""Faults that can be drawn, by kind; all but `driver` are aimed at the leader of a partition."""


@dataclass(frozen=True, kw_only=True)
class Draw:
    """How a schedule is drawn.

    Attributes:
        kinds: of `FAULTS` → how many of each.
        partitions: of the input; each fault is aimed at the leader of one of them.
        audiences: clients whose links are disturbed; `CutLink` cuts off the last one.
        progress: acknowledged part of the workload, 0 to 1, from which the first fault may start.
    """

    kinds: tuple[tuple[str, int], ...]
    partitions: int
    first: tuple[ScheduledFault, ...] = ()
    audiences: Audiences = ("producer", "pipeline")
    progress: float = 0.05

    def __post_init__(self) -> None:
        for kind, many in self.kinds:
            if kind not in FAULTS or many < 1:
                raise ValueError(
                    f"invalid draw {many} × {kind!r}: expected a number ≥ 1 and one of "
                    f"{', '.join(FAULTS)}"
                )

    def describe(self) -> str:
        drawn = ", ".join(f"{many} × {kind}" for kind, many in self.kinds)
        first = "".join(f"{at.name} ({at.do.kind}), then " for at in self.first)
        return f"{first}drawn from the seed: {drawn}"

    def schedule(self, seed: int) -> tuple[ScheduledFault, ...]:
        """Return the schedule of a seed: faults in sequence, link faults also in parallel."""
        draws = random.Random(seed)
        kinds = [kind for kind, many in self.kinds for _ in range(many)]
        draws.shuffle(kinds)
        faults: list[ScheduledFault] = list(self.first)
        for number, kind in enumerate(kinds, 1):
            before = faults[-1] if faults else None
            overlaps = kind == "link" and draws.random() < _OVERLAP_PROBABILITY and number > 1
            after = () if before is None else (before.after if overlaps else (before.name,))
            leader = LeaderOf(partition=draws.randrange(self.partitions))
            faults.append(
                ScheduledFault(
                    name=f"{kind} {number}",
                    do=draws.choice(FAULTS[kind])(leader, self.audiences, draws),
                    progress=self.progress if not after else 0.0,
                    after=after,
                    required=False,
                    one_of=kind,
                    seconds=_SECONDS,
                )
            )
        return tuple(faults)
