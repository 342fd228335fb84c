"""What is compared: ways to write, and what all of them have in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from onceproof.harness.cost.stamp import stamp
from onceproof.harness.links.topology import AUDITOR
from onceproof.harness.processes.processes import Process, Processes
from onceproof.harness.stage.alone import Alone
from onceproof.harness.tools.setup import Tools
from onceproof.harness.wait import Stop

SHARES: Final = (0.3, 0.6, 0.8)
"""Fixed rates, as parts of what all ways keep up with."""
AGAIN_SHARE: Final = SHARES[1]
"""Where latencies of the base are compared with its own."""
PROOF_SHARE: Final = 0.05
"""Where the twin is compared: commits take as long as ever, and little else is in their way."""
NAP: Final = 0.005
"""Seconds that the twin sleeps after each commit, before the next transaction."""


@dataclass(frozen=True, kw_only=True)
class Where:
    """Where a way's program runs.

    Attributes:
        bootstrap: addresses of the brokers.
        work: an existing folder for its files.
        address: where it may listen.
        queue_broker: address of the queue broker, if there is one.
    """

    tools: Tools
    bootstrap: str
    work: Path
    processes: Processes
    address: str
    stop: Stop
    queue_broker: str = ""

    @classmethod
    def on(cls, up: Alone, tools: Tools) -> Where:
        return cls(
            tools=tools,
            bootstrap=up.stage.bootstrap(AUDITOR),
            work=up.processes.logs.parent / "work",
            processes=up.processes,
            address="127.0.0.1",
            stop=up.stop,
            queue_broker=up.stage.topology.queue_broker(AUDITOR),
        )


Start = Callable[[Where, str], Process]
"""Start a program under a name, with pipes if it answers."""


@dataclass(frozen=True, kw_only=True)
class Setup:
    """What all ways of a measurement have in common.

    Attributes:
        size: bytes of a record's value.
        commit_every: seconds between two commits. The first interval is in the headline; the others
            are measured beside it.
        commit_records: records of a transaction, instead of an interval; 0: by interval.
        linger: milliseconds that a client waits to fill a batch.
        acks: of the plain producer; the others need `all`.
        transaction_version: of the brokers; None: as they are set up.
        delay: seconds by which the base, measured again, is delayed once in a round, to prove
            latencies.
    """

    size: int = 1024
    partitions: int = 3
    commit_every: tuple[float, ...] = (0.1,)
    commit_records: int = 0
    linger: int = 5
    acks: str = "all"
    transaction_version: int | None = None
    delay: float = 0.02


@dataclass(frozen=True, kw_only=True)
class Phase:
    """A measurement of a way in a round.

    Attributes:
        share: part of what all ways keep up with; None: as fast as it can.
        delay: seconds between the time when a record is due and the time when it is sent.
        longer: how many times as long as others it lasts.
        times: how often it is measured in a round. A processor's speed changes within seconds,
            so several short turns say more than a long one.
        commits: fewest commits in it, which make it last longer if they are rare.
    """

    share: float | None = None
    delay: float = 0.0
    longer: int = 1
    times: int = 1
    commits: int = 2


FULL: Final = (Phase(times=3),)
USUAL: Final = (*(Phase(share=share) for share in SHARES), *FULL)
PROOF: Final = (Phase(share=PROOF_SHARE, times=2, commits=5),)


def again(setup: Setup) -> tuple[Phase, ...]:
    """Return the phases of the base when it is measured again, to prove the instrument.

    Once it is delayed. It has about as much to do as the base, because a JVM gets faster by that.
    """
    return (Phase(share=AGAIN_SHARE), *FULL, Phase(share=SHARES[0], delay=setup.delay))


@dataclass(frozen=True, kw_only=True)
class Fed:
    """What a pipeline reads: its source, and the values in it.

    Attributes:
        around: what is before and after the stamp in a value; None: only filler, up to the size.
        keys: number of different keys; 0: records have none.
    """

    around: tuple[str, str] | None = None
    keys: int = 0

    def setup(self, setup: Setup, commit_every: tuple[float, ...]) -> Setup:
        """Return what of a setup is true of a pipeline that reads this; its size is about so."""
        size = setup.size
        if self.around is not None:
            size = len("".join(self.around).encode()) + len(stamp(10**14, 100, 10_000))
        return replace(setup, size=size, commit_every=commit_every, commit_records=0, acks="all")


@dataclass(frozen=True, kw_only=True)
class Way:
    """One way to write: a producer, or a pipeline that reads what a plain producer wrote.

    Attributes:
        comparison: name of the comparison that it belongs to.
        name: what it does, such as `idempotent`.
        fed: what it reads from the topic `source`; None: it is a producer.
        answers: whether its program says that it is ready, and answers orders.
        interval: seconds between two commits; 0 if they do not go by time.
        records: of a transaction; 0 if they are not counted.
        nap: seconds of sleep after each commit.
        beside: more topics that it needs, of one partition.
    """

    comparison: str
    name: str
    start: Start
    phases: tuple[Phase, ...] = USUAL
    fed: Fed | None = None
    answers: bool = True
    interval: float = 0.0
    records: int = 0
    nap: float = 0.0
    beside: tuple[str, ...] = ()

    @property
    def loaded(self) -> bool:
        """Whether it is compared with others at fixed rates."""
        return not self.nap and any(phase.share is not None for phase in self.phases)

    @property
    def key(self) -> str:
        return f"{self.comparison}-{self.name}"

    @property
    def topic(self) -> str:
        """The topic that is read by the reader."""
        return topic_of(self.key)

    @property
    def source(self) -> str:
        """The topic that a pipeline reads."""
        return source_of(self.key)


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Ways that are measured in turns.

    Attributes:
        name: such as `java`.
        pairs: names of the ways to compare; the other of the first pair is in the headline.
        again: name of the first pair's base, measured as if it were another way.
        twin: a way and its twin that sleeps after each commit, where there is one.
        by_queues: whether records go through queues instead of topics.
    """

    name: str
    setup: Setup
    ways: tuple[Way, ...]
    pairs: tuple[tuple[str, str], ...]
    again: str
    twin: tuple[str, str] | None = None
    by_queues: bool = False

    @property
    def base(self) -> str:
        return self.pairs[0][0]

    @property
    def delayed(self) -> Phase:
        """The phase in which the base, measured again, is delayed, to prove latencies."""
        return next(phase for phase in self.way(self.again).phases if phase.delay)

    def way(self, name: str) -> Way:
        return next(way for way in self.ways if way.name == name)


def at_interval(name: str, interval: float) -> str:
    """Return the name of a way that commits in another interval than the first."""
    return f"{name}-{interval * 1e3:g}ms"


def topic_of(key: str) -> str:
    return f"cost-{key}"


def source_of(key: str) -> str:
    return f"cost-{key}-source"
