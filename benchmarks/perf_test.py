"""Our transactions against Kafka's own measurement: `python -m benchmarks.perf_test`.

`kafka-producer-perf-test` of the Kafka project, with and without `--transaction-duration-ms`, and
the bare Java producers of `onceproof cost` take turns on one stage, with the same settings. Both
give a ratio of throughput, transactional to plain. The intervals must have a value in common.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from onceproof.harness.cost.estimate import LEAST, Estimate, ratio
from onceproof.harness.cost.producers import JVM, producer
from onceproof.harness.cost.program import AnsweringProgram
from onceproof.harness.cost.ways import Where
from onceproof.harness.java.programs import LOGGING
from onceproof.harness.kafka.topics import create_topics
from onceproof.harness.links.topology import AUDITOR
from onceproof.harness.stage.alone import Alone, alone
from onceproof.harness.tools import cache, jar_lock
from onceproof.harness.tools.ivy import Coordinate, Ivy
from onceproof.harness.tools.jvm import jvm
from onceproof.harness.tools.runtimes.jar_sets import of_recipe
from onceproof.harness.tools.runtimes.recipes import Recipe
from onceproof.harness.tools.setup import Tools, ensure

_SIZE: Final = 1024
_EVERY: Final = 0.1
_PLAIN: Final = {
    "acks": "all", "linger.ms": "5", "buffer.memory": str(4 << 20), "enable.idempotence": "false",
}  # fmt: skip
_TRANSACTIONAL: Final = {**_PLAIN, "enable.idempotence": "true"}
_WARM: Final = 20_000
"""Records that the perf test sends before it counts; our producers run all the time."""
_ANSWER: Final = re.compile(r"([\d.]+) records/sec")
_SECONDS: Final = 180.0


class Bench:
    """Rounds on one stage."""

    def __init__(self, up: Alone, tools: Tools, records: int) -> None:
        self._tools = tools
        self._records = records
        self._bootstrap = up.stage.bootstrap(AUDITOR)
        self._libs = _tool_jars(tools)
        create_topics(self._bootstrap, ["ours", "theirs"], partitions=3)
        where = Where.on(up, tools)
        task = {"topic": "ours", "size": _SIZE}
        with_id = {**_TRANSACTIONAL, "transactional.id": "ours"}
        self._plain = AnsweringProgram(producer("java", _PLAIN, task)(where, "plain"))
        self._transactional = AnsweringProgram(
            producer("java", with_id, {**task, "commit_every": _EVERY})(where, "transactional")
        )

    def ours(self, *, transactional: bool) -> float:
        """Return records per second of a producer of `onceproof cost`."""
        program = self._transactional if transactional else self._plain
        order = {"rate": None, "count": self._records, "seconds": 0.0, "delay": 0.0, "block": 0}
        done = program.ask(order, _SECONDS)
        return float(done["sent"] / done["seconds"])

    def theirs(self, *, transactional: bool) -> float:
        """Return records per second of Kafka's perf test."""
        settings = {
            **(_TRANSACTIONAL if transactional else _PLAIN),
            "bootstrap.servers": self._bootstrap,
        }
        by_time = ("--transaction-duration-ms", f"{_EVERY * 1e3:.0f}") if transactional else ()
        done = subprocess.run(
            [
                *jvm(self._tools.java_home / "bin" / "java", *JVM),
                f"-Dlog4j2.configurationFile={LOGGING.as_uri()}",
                "-cp", f"{self._libs}/*", "org.apache.kafka.tools.ProducerPerformance",
                "--topic", "theirs", "--num-records", str(_WARM + self._records),
                "--warmup-records", str(_WARM), "--record-size", str(_SIZE),
                "--throughput", "-1", "--producer-props",
                *(f"{name}={value}" for name, value in settings.items()), *by_time,
            ],
            capture_output=True, text=True, check=False, timeout=_SECONDS,
        )  # fmt: skip
        told = _ANSWER.findall(done.stdout)
        if done.returncode != 0 or not told:
            raise SystemExit(f"the perf test failed: {(done.stdout + done.stderr)[-800:]}")
        return float(told[-1])


def agree(one: Estimate, other: Estimate) -> bool:
    """Return whether two intervals have a value in common."""
    return one.low <= other.high and other.low <= one.high


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print a table."""
    given = _options().parse_args(arguments)
    tools = ensure()
    assert tools.stage is not None
    rates: dict[str, list[float]] = {"ours": [], "ours-txn": [], "theirs": [], "theirs-txn": []}
    with (
        tempfile.TemporaryDirectory(prefix="onceproof-bench-") as folder,
        alone(Path(folder) / "stage", tools.stage) as up,
    ):
        bench = Bench(up, tools, given.records)
        for transactional in (False, True):  # uncounted
            bench.ours(transactional=transactional)
            bench.theirs(transactional=transactional)
        print("round      plain/s  transactional/s: ours         Kafka's perf test")
        for number in range(1, given.rounds + 1):
            for transactional in (number % 2 == 0, number % 2 == 1):
                end = "-txn" if transactional else ""
                rates[f"ours{end}"].append(bench.ours(transactional=transactional))
                rates[f"theirs{end}"].append(bench.theirs(transactional=transactional))
            print(
                f"{number:>5}  {rates['ours'][-1]:8,.0f} {rates['ours-txn'][-1]:8,.0f}      "
                f"{rates['theirs'][-1]:8,.0f} {rates['theirs-txn'][-1]:8,.0f}",
                flush=True,
            )
    ours = ratio(rates["ours"], rates["ours-txn"])
    theirs = ratio(rates["theirs"], rates["theirs-txn"])
    print(f"transactional to plain: ours × {ours.low:.2f} to {ours.high:.2f}, Kafka's perf test "
          f"× {theirs.low:.2f} to {theirs.high:.2f}: "
          + ("they agree" if agree(ours, theirs) else "they DISAGREE"))  # fmt: skip
    return 0 if agree(ours, theirs) else 1


def _tool_jars(tools: Tools) -> Path:
    """Return the folder with Kafka's tools, which no run needs."""
    tool = Coordinate(group="org.apache.kafka", artifact="kafka-tools", version=jar_lock.KAFKA)
    ivy = Ivy(java=tools.java_home / "bin" / "java", jar=jar_lock.installed_pyspark().ivy)
    wanted = Recipe(runtime="kafka-tools", version=jar_lock.KAFKA, roots=(tool,))
    return of_recipe(wanted, ivy, cache_folder=cache.location())


def _options() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    options.add_argument("--rounds", type=int, default=LEAST)
    options.add_argument("--records", type=int, default=20_000, help="of 1 KB, of each measurement")
    return options


if __name__ == "__main__":
    sys.exit(main())
