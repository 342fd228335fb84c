"""Measure ways to write in turns, round after round, on one stage.

A round goes through its phases in a drawn order: fixed parts of the slowest way's capacity, and as
fast as it can. In each phase all ways take turns, in a drawn order, so that those that are compared
follow close on each other. At a fixed rate, records are due whether or not the client keeps up,
so a slow client does not hide the latency that it causes.
"""

from __future__ import annotations

import random
import statistics
from array import array
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import psutil

from onceproof.harness.cost.block import Block, percentile
from onceproof.harness.cost.processor import processor_seconds
from onceproof.harness.cost.programs import Programs
from onceproof.harness.cost.ways import Comparison, Phase, Way, Where
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.stage.alone import Alone
from onceproof.harness.tools.setup import Tools

WARM_UPS: Final = 3
"""Rounds before the first that counts; they give the capacities for the rates."""
_FIRST: Final = 1_000.0
"""Records a second that a way is taken to handle before its speed is known."""
_PATIENCE: Final = 180.0
_READ_SECONDS: Final = 120.0


class Rounds:
    """All ways of a comparison on one stage."""

    def __init__(
        self, up: Alone, tools: Tools, comparison: Comparison, *, folder: Path, seconds: float
    ) -> None:
        """Create topics, and start all programs.

        Args:
            folder: for the latencies of each block.
            seconds: usual length of a phase.
        """
        self._comparison = comparison
        self._folder = folder
        self._seconds = seconds
        self._number = 0
        self._rates: dict[str, list[float]] = defaultdict(list)
        """Of the warm-ups of each way."""
        self._brokers = [
            psutil.Process(p.popen.pid) for p in up.processes.all if p.name.startswith("broker-")
        ]
        self._programs = Programs(Where.on(up, tools), comparison, folder)

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
        draw, ways = random.Random(seed), self._comparison.ways
        slowest = self._warm_up()
        progress(f"the slowest way handles {slowest:,.0f} records a second")
        phases = list(dict.fromkeys(phase for way in ways for phase in way.phases))
        found = []
        for number in range(rounds):
            progress(f"round {number + 1} of {rounds}")
            for phase in draw.sample(phases, len(phases)):
                for way in draw.sample(ways, len(ways)):
                    if phase in way.phases:
                        found.append(self._block(way, number, phase, slowest))
                        over(found[-1])
        return found

    def end(self) -> None:
        """End all programs."""
        self._programs.end()

    def _warm_up(self) -> float:
        """Return the capacity of the slowest way, in records a second."""
        for _ in range(WARM_UPS):
            for way in self._comparison.ways:
                self._rates[way.key].append(self._block(way, -1, Phase(), 0.0).rate)
        return min(map(self._speed, self._comparison.ways))

    def _block(self, way: Way, number: int, phase: Phase, slowest: float) -> Block:
        load, own = self._programs.loads[way.key], self._programs.own[way.key]
        block, self._number = self._number, self._number + 1
        client, brokers, written = own.processor_seconds(), self._used(), self._written()
        done = load.ask(self._order(way, phase, slowest, block), _PATIENCE)
        question = {
            "topic": way.topic,
            "block": block,
            "count": done["sent"],
            "seconds": _READ_SECONDS,
        }
        read = self._programs.reader.ask(question, _PATIENCE)
        if read["read"] != done["sent"]:
            raise StageTrouble(
                f"{way.key}: {done['sent']} records were sent, and {read['read']} were read in "
                f"{_READ_SECONDS:g} s; last log lines: {own.tail()}"
            )
        began = done.pop("began")
        if way.fed is not None:
            done["seconds"] = (read["last"] - began) / 1e9
        file = f"{way.topic}-{block}.i64"
        latencies = sorted(array("q", (self._folder / file).read_bytes()))
        return Block(
            way=way.key,
            round=number,
            share=phase.share,
            delay=phase.delay,
            stall=read["stall"],
            p50=percentile(latencies, 0.5),
            p99=percentile(latencies, 0.99),
            client=own.processor_seconds() - client,
            brokers=self._used() - brokers,
            written=self._written() - written,
            behind=read["behind"],
            file=file,
            **done,
        )

    def _order(self, way: Way, phase: Phase, slowest: float, block: int) -> dict[str, Any]:
        rate = None if phase.share is None else phase.share * slowest
        speed = rate or self._speed(way)
        between = way.interval + way.records / speed
        seconds = max(phase.longer * self._seconds, phase.commits * between)
        # As fast as it can, a producer ends by time. A pipeline cannot: its source takes more.
        count = int(speed * seconds) + 1 if rate or way.fed is not None else None
        return {"rate": rate, "count": count, "seconds": seconds, "delay": phase.delay,
                "block": block}  # fmt: skip

    def _speed(self, way: Way) -> float:
        """Return the records per second that a way handled when warmed up."""
        first, *later = self._rates[way.key] or [_FIRST]
        return statistics.median(later or [first])

    def _used(self) -> float:
        """Return the seconds of processor of all brokers; raise `StageTrouble` if one ended."""
        try:
            return sum(processor_seconds(process.pid) for process in self._brokers)
        except OSError:
            raise StageTrouble("a broker ended") from None

    def _written(self) -> int:
        """Return the bytes that all brokers have written; raise `StageTrouble` if one ended."""
        try:
            return sum(process.io_counters().write_bytes for process in self._brokers)
        except psutil.Error as error:
            raise StageTrouble(f"a broker ended: {error}") from None
