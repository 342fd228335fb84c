"""Measure ways to write in turns, round after round, on one stage.

A round goes through its phases in a drawn order: fixed parts of what all ways keep up with, and as
fast as it can. The first round is not counted. In each phase all ways take turns, in a drawn order,
so that those that are compared follow close on each other. At a fixed rate, records are due whether
or not the client keeps up, so a slow client does not hide the latency that it causes.
"""

from __future__ import annotations

import random
from array import array
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

import psutil

from onceproof.harness.cost.block import Block, percentile
from onceproof.harness.cost.orders import Order, Speeds, keeps_up, next_warm_up, warm_up
from onceproof.harness.cost.processor import processor_seconds
from onceproof.harness.cost.programs import Programs
from onceproof.harness.cost.ways import Comparison, Phase, Way, Where
from onceproof.harness.links.topology import QUEUE_BROKER
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.stage.alone import Alone
from onceproof.harness.tools.setup import Tools

_PASSES: Final = 2
_WARM_UPS: Final = 2
"""Fewest measurements of a way in each pass before the first round."""
_MOST_WARM_UPS: Final = 10
_LONG_ENOUGH: Final = 0.7
"""Part of a phase that the last warm-up of a pipeline lasts: a shorter one is mostly latency."""
_ALL_OF_IT: Final = Phase(share=1.0)
_STEP: Final = 0.75
"""Part of a rate that is tried after a producer did not keep up with it."""
_MOST_STEPS: Final = 8
_TRIES: Final = 2
"""How often a producer may try to keep up: a JVM compiles, and a neighbour wakes up."""


class Rounds:
    """All ways of a comparison on one stage."""

    def __init__(
        self, up: Alone, tools: Tools, comparison: Comparison, *, folder: Path, seconds: float
    ) -> None:
        """Create topics or queues, and start all programs.

        Args:
            folder: for the latencies of each block.
            seconds: usual length of a phase.
        """
        self.capacity = 0.0
        """What all ways keep up with, in records a second, once that is known."""
        self._comparison = comparison
        self._folder = folder
        self._seconds = seconds
        self._number = 0
        brokers = QUEUE_BROKER if comparison.by_queues else "broker-"
        self._brokers = [
            psutil.Process(p.popen.pid) for p in up.processes.all if p.name.startswith(brokers)
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
        for _ in range(_PASSES):  # the first one warms the brokers
            known = {way.key: self._warm_up(way) for way in ways}
        speeds = Speeds(comparison=self._comparison, seconds=self._seconds, known=known)
        speeds = replace(speeds, capacity=self._kept_up(speeds))
        self.capacity = speeds.full_load
        progress(f"loads are parts of {speeds.full_load:,.0f} records a second")
        different = dict.fromkeys(phase for way in ways for phase in way.phases)
        phases = [phase for phase in different for _ in range(phase.times)]
        found = []
        for number in range(-1, rounds):
            progress(f"round {number + 1} of {rounds}" if number >= 0 else "a round to warm up")
            for phase in draw.sample(phases, len(phases)):
                for way in draw.sample(ways, len(ways)):
                    if phase in way.phases:
                        found.append(self._block(way, number, phase, speeds.order(way, phase)))
                        over(found[-1])
        return found

    def end(self) -> None:
        """End all programs."""
        self._programs.end()

    def _warm_up(self, way: Way) -> float:
        """Return what a way handles, in records a second, once it is warm."""
        phase = way.phases[-1]
        seconds = phase.longer * self._seconds
        order = warm_up(way, seconds)
        for tried in range(1, _MOST_WARM_UPS + 1):
            block = self._block(way, -1, Phase(), order)
            long_enough = way.fed is None or block.seconds >= _LONG_ENOUGH * seconds
            if tried >= _WARM_UPS and long_enough:
                break
            if way.fed is not None:
                order = next_warm_up(order, rate=block.rate, seconds=seconds)
        return block.rate

    def _kept_up(self, speeds: Speeds) -> float:
        """Return the rate that all ways keep up with.

        A producer does not keep up with its full speed: its batches are smaller if records come
        at a rate, and then it needs more requests.
        """
        rate = speeds.slowest
        producers = [way for way in self._comparison.ways if way.loaded and way.fed is None]
        for _ in range(_MOST_STEPS):
            orders = {
                way: replace(speeds, capacity=rate).order(way, _ALL_OF_IT) for way in producers
            }
            if all(self._keeps_up(way, order) for way, order in orders.items()):
                break
            rate *= _STEP
        return rate

    def _keeps_up(self, way: Way, order: Order) -> bool:
        tries = (self._block(way, -1, _ALL_OF_IT, order) for _ in range(_TRIES))
        return any(keeps_up(order, block.seconds) for block in tries)

    def _block(self, way: Way, number: int, phase: Phase, order: Order) -> Block:
        load, own = self._programs.loads[way.key], self._programs.own[way.key]
        block, self._number = self._number, self._number + 1
        client, brokers, written = own.processor_seconds(), self._used(), self._written()
        done = load.ask(order.as_json(block), order.patience)
        question = {"topic": way.topic, "block": block, "count": done["sent"]}
        patience = order.patience
        read = self._programs.reader.ask({**question, "seconds": patience}, 2 * patience)
        if read["read"] != done["sent"]:
            raise StageTrouble(
                f"{way.key}: {done['sent']} records were sent, and {read['read']} were read in "
                f"{patience:g} s; last log lines: {own.tail()}"
            )
        if read["again"]:
            raise StageTrouble(
                f"{way.key}: {read['again']} of {done['sent']} records were read again: each "
                "input must have one output"
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
