"""Measure ways to write in turns, round after round, on one stage.

In each round every way, in a drawn order, writes at fixed parts of the slowest way's capacity, and
then as fast as it can. At a fixed rate, records are due whether or not the client keeps up,
so a slow client does not hide the latency that it causes.
"""

from __future__ import annotations

import json
import random
import statistics
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil

from onceproof.harness.cost.program import AnsweringProgram
from onceproof.harness.cost.ways import Setup, Way
from onceproof.harness.java.programs import programs_for
from onceproof.harness.kafka.topics import create_topics
from onceproof.harness.links.topology import AUDITOR
from onceproof.harness.processes.python import python_module
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.stage.alone import Alone
from onceproof.harness.tools.setup import Tools

SHARES: Final = (0.3, 0.6, 0.8)
"""Fixed rates, as parts of the slowest way's capacity."""
PROOF_SHARE: Final = 0.05
"""Where the twin is compared: commits take as long as ever, and little else is in their way."""
WARM_UPS: Final = 2
"""Rounds before the first that counts; they give the capacities for the rates."""
_PROOF_LENGTH: Final = 2
"""How many times as long as others a measurement at that share is."""
_PATIENCE: Final = 120.0
_JVM: Final = ("-Xmx512m",)
"""What a Java application has by default, but for its memory."""


@dataclass(frozen=True, kw_only=True)
class Block:
    """What one way did in one phase of a round.

    Attributes:
        share: part of the slowest way's capacity; None: as fast as it can.
        seconds: from its start until its last record was committed.
        transactions: those that lasted as long as they should.
        transaction: seconds that the median one of these took.
        napped: seconds that the median one slept.
        late: how far the client fell behind its schedule, in seconds.
        stall: longest time in which the reader got none of its records, in seconds.
        p50, p99: latency percentiles in seconds, from when a record was due until it was read.
        client, brokers: seconds of processor.
        behind: how often the reader had more records waiting than it takes at once.
        number: of its latencies' file.
    """

    way: str
    round: int
    share: float | None
    sent: int
    seconds: float
    transactions: int
    transaction: float
    napped: float
    late: float
    stall: float
    p50: float
    p99: float
    client: float
    brokers: float
    behind: int
    number: int

    @property
    def rate(self) -> float:
        """Records per second."""
        return self.sent / self.seconds


class Rounds:
    """All ways of one client on one stage."""

    def __init__(
        self,
        up: Alone,
        tools: Tools,
        ways: Sequence[Way],
        setup: Setup,
        *,
        folder: Path,
        seconds: float,
    ) -> None:
        """Create topics, and start the clients and the reader.

        Args:
            folder: for the latencies of each block.
            seconds: length of a phase.
        """
        self._ways = ways
        self._folder = folder
        self._seconds = seconds
        self._number = 0
        self._brokers = [
            psutil.Process(p.popen.pid) for p in up.processes.all if p.name.startswith("broker-")
        ]
        bootstrap = up.stage.bootstrap(AUDITOR)
        topics = [way.topic for way in ways]
        create_topics(bootstrap, topics, partitions=setup.partitions)
        task = {
            "bootstrap": bootstrap,
            "topics": topics,
            "partitions": setup.partitions,
            "folder": str(folder),
        }
        reader = python_module("onceproof.harness.cost.reader", json.dumps(task))
        self._reader = AnsweringProgram(up.processes, f"reader-{ways[0].client}", reader)
        self._loads = {
            way.key: AnsweringProgram(up.processes, way.key, _command(tools, way, setup, bootstrap))
            for way in ways
        }

    def measure(
        self,
        rounds: int,
        *,
        seed: int,
        progress: Callable[[str], None],
        over: Callable[[Block], None],
    ) -> list[Block]:
        """Return the blocks of all rounds; `over` gets each as soon as it is over.

        Raises:
            StageTrouble: a program failed, or records are missing.
        """
        draw = random.Random(seed)
        warm = [self._block(way, -1, None, None) for _ in range(WARM_UPS) for way in self._ways]
        slowest = min(
            statistics.median(b.rate for b in warm if b.way == way.key) for way in self._ways
        )
        progress(f"the slowest way writes {slowest:,.0f} records a second")
        found = []
        for number in range(rounds):
            progress(f"round {number + 1} of {rounds}")
            for way in draw.sample(self._ways, len(self._ways)):
                for share in (*((PROOF_SHARE,) if way.commit_every else ()), *SHARES, None):
                    rate = None if share is None else share * slowest
                    found.append(self._block(way, number, share, rate))
                    over(found[-1])
        return found

    def _block(self, way: Way, number: int, share: float | None, rate: float | None) -> Block:
        load, block = self._loads[way.key], self._number
        self._number += 1
        client, brokers = load.processor_seconds(), self._used()
        longer = _PROOF_LENGTH if share == PROOF_SHARE else 1
        order = {"rate": rate, "seconds": longer * self._seconds, "block": block}
        done = load.ask(order, _PATIENCE)
        question = {"topic": way.topic, "block": block, "count": done["sent"], "seconds": 60.0}
        read = self._reader.ask(question, _PATIENCE)
        if read["read"] != done["sent"]:
            raise StageTrouble(
                f"{way.key}: {done['sent']} records were sent, and {read['read']} were read"
            )
        file = self._folder / f"{way.topic}-{block}.i64"
        latencies = sorted(array("q", file.read_bytes()))
        return Block(
            way=way.key,
            round=number,
            share=share,
            stall=read["stall"],
            p50=percentile(latencies, 0.5),
            p99=percentile(latencies, 0.99),
            client=load.processor_seconds() - client,
            brokers=self._used() - brokers,
            behind=read["behind"],
            number=block,
            **done,
        )

    def _used(self) -> float:
        """Return the seconds of processor of all brokers; raise `StageTrouble` if one ended."""
        try:
            times = [process.cpu_times() for process in self._brokers]
        except psutil.Error as error:
            raise StageTrouble(f"a broker ended: {error}") from None
        return float(sum(t.user + t.system for t in times))


def percentile(ordered: Sequence[int], part: float) -> float:
    """Return the latency in seconds that this part of the records does not exceed."""
    return ordered[min(int(part * len(ordered)), len(ordered) - 1)] / 1e9


def _command(tools: Tools, way: Way, setup: Setup, bootstrap: str) -> list[str | Path]:
    task = json.dumps({
        "client": {**way.settings, "bootstrap.servers": bootstrap},
        "topic": way.topic,
        "size": setup.size,
        "commit_every": way.commit_every,
        "nap": way.nap,
    })  # fmt: skip
    if way.client == "java":
        return programs_for(tools).command("Load", task, options=_JVM)
    return list(python_module("onceproof.harness.cost.load", task))
