"""What a gate costs: `make bench-gate`, or `python -m benchmarks.gate --help`.

Rounds with the gate and without take turns on one stage, so that both meet
the same noise, and processor time stands beside. Without a gate a link leads past it: what is
measured there is toxiproxy alone, with no gate in the way.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil
from confluent_kafka import Producer

from onceproof.harness.kafka.topics import create_topics
from onceproof.harness.links.topology import AUDITOR, Link
from onceproof.harness.stage.alone import Alone, alone
from onceproof.harness.tools.setup import ensure

LEAST: Final = 0.8
"""The part of the throughput that must be left; printed, never enforced."""
_BYTES: Final = 1024
_WARM_UP: Final = 2_000
"""Records that a client sends before it is timed."""
_UNCOUNTED: Final = 2
"""Pairs of rounds before the first that counts."""
_SECONDS: Final = 120.0
_TOPIC: Final = "bench"


@dataclass(frozen=True, kw_only=True)
class Round:
    """One round on one kind of link."""

    wall: float
    records: int
    toxiproxy: float
    """Seconds of processor."""
    gate: float

    @property
    def rate(self) -> float:
        """Megabytes a second."""
        return self.records * _BYTES / self.wall / 1e6


class Bench:
    """Rounds on one stage."""

    def __init__(self, up: Alone, records: int) -> None:
        self._up = up
        self._records = records
        self._links = [Link("producer", node) for node in up.stage.brokers]
        create_topics(up.stage.bootstrap(AUDITOR), [_TOPIC], partitions=3)

    def through(self, *, gate: bool) -> Round:
        """One round; the client is new, since a gate that comes or goes closes connections."""
        for link in self._links:
            if gate:
                self._up.stage.gate(link)
            else:
                self._up.stage.ungate(link)
        producer = Producer({
            "bootstrap.servers": self._up.stage.bootstrap("producer"),
            "enable.idempotence": True,
            "acks": "all",
            "linger.ms": 5,
            "batch.size": 256 * 1024,
            "queue.buffering.max.messages": self._records + 1,
            "log_level": 0,
        })  # fmt: skip
        self._send(producer, _WARM_UP)
        before = self._cpu()
        begun = time.perf_counter()
        self._send(producer, self._records)
        wall = time.perf_counter() - begun
        after = self._cpu()
        return Round(
            wall=wall,
            records=self._records,
            toxiproxy=after["toxiproxy"] - before["toxiproxy"],
            gate=after.get("gate", 0) - before.get("gate", 0),
        )

    def _send(self, producer: Producer, records: int) -> None:
        value = bytes(_BYTES)
        for _ in range(records):
            producer.produce(_TOPIC, value=value)
            producer.poll(0)
        if left := producer.flush(_SECONDS):
            raise SystemExit(f"{left} records were not acknowledged within {_SECONDS:g} s")

    def _cpu(self) -> dict[str, float]:
        """Seconds of processor that the proxies took so far."""
        found = {}
        for process in self._up.processes.all:
            if process.name in ("toxiproxy", "gate") and process.leader_alive():
                used = psutil.Process(process.session).cpu_times()
                found[process.name] = used.user + used.system
        return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print a table."""
    given = _options().parse_args(arguments)
    tools = ensure().stage
    assert tools is not None
    pairs: list[tuple[Round, Round]] = []
    with (
        tempfile.TemporaryDirectory(prefix="onceproof-bench-") as folder,
        alone(Path(folder) / "stage", tools) as up,
    ):
        bench = Bench(up, given.records)
        for gate in (True, False) * _UNCOUNTED:
            bench.through(gate=gate)  # brokers get faster for a while
        print(_HEAD)
        for number in range(1, given.rounds + 1):
            # Who goes first takes turns as well.
            first = number % 2 == 0
            one, other = bench.through(gate=first), bench.through(gate=not first)
            without, gated = (other, one) if first else (one, other)
            pairs.append((without, gated))
            print(_line(number, without, gated), flush=True)
    for line in summary(pairs):
        print(line)
    return 0


_HEAD: Final = (
    "round    toxiproxy alone              with a gate\n"
    "             MB/s  cpu s                  MB/s  cpu s   of the gate   ratio"
)


def _line(number: int, without: Round, gated: Round) -> str:
    return (
        f"{number:>5}  {without.rate:10.1f} {without.toxiproxy:6.2f}            "
        f"{gated.rate:10.1f} {gated.toxiproxy:6.2f}  {gated.gate:12.2f}  "
        f"{gated.rate / without.rate:6.2f}"
    )


def summary(pairs: Sequence[tuple[Round, Round]]) -> list[str]:
    """The medians, and whether they are as they should be.

    The ratio is that of rounds which met the same noise, one after the other.
    """
    without, gated = (statistics.median(pair[i].rate for pair in pairs) for i in (0, 1))
    cpu = statistics.median(pair[1].gate / max(pair[1].toxiproxy, 0.01) for pair in pairs)
    ratio = statistics.median(pair[1].rate / pair[0].rate for pair in pairs)
    return [
        f"medians: {without:.1f} MB/s alone, {gated:.1f} MB/s with a gate, "
        f"which takes {cpu:.2f} of toxiproxy's processor time",
        f"ratio: {ratio:.2f} in the median round, at least {LEAST:.2f} is aimed at: "
        + ("reached" if ratio >= LEAST else "MISSED"),
    ]


def _options() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    options.add_argument("--rounds", type=int, default=7, help="pairs of rounds")
    options.add_argument("--records", type=int, default=60_000, help="of 1 KB, for each round")
    return options


if __name__ == "__main__":
    sys.exit(main())
