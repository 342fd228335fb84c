"""What our recording costs a producer: `make bench-recording`, or `python -m benchmarks.recording`.

A bare librdkafka producer and the one of a run, which writes each call and each outcome to its
history, take turns on one stage, as fast as they can. Both send the same values with the same
settings.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from onceproof.harness.cost.estimate import LEAST, ratio
from onceproof.harness.cost.producers import producer
from onceproof.harness.cost.program import AnsweringProgram
from onceproof.harness.cost.ways import Where
from onceproof.harness.history.identity import digest
from onceproof.harness.kafka.topics import create_topics
from onceproof.harness.links.topology import AUDITOR
from onceproof.harness.processes.python import python_module
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.stage.alone import Alone, alone
from onceproof.harness.tools.setup import Tools, ensure
from onceproof.harness.workload.task_file import SenderRecord, SenderTask, save_records

AIM: Final = 0.95
"""The part of a bare client's throughput that is aimed at; printed, never enforced."""
_SIZE: Final = 1024
_SETTINGS: Final = {"acks": "all", "enable.idempotence": "true", "linger.ms": "5"}
_TOPIC: Final = "bench"
_UNCOUNTED: Final = 2
_SECONDS: Final = 120.0


class Bench:
    """Rounds on one stage."""

    def __init__(self, up: Alone, tools: Tools, folder: Path, records: int) -> None:
        self._up = up
        self._folder = folder
        self._records = records
        self._bootstrap = up.stage.bootstrap(AUDITOR)
        self._number = 0
        create_topics(self._bootstrap, [_TOPIC], partitions=3)
        bare = producer("librdkafka", _SETTINGS, {"topic": _TOPIC, "size": _SIZE, "keys": 64})
        self._bare = AnsweringProgram(bare(Where.on(up, tools), "bare"))
        value = "x" * _SIZE
        save_records(
            folder / "records.jsonl",
            (
                SenderRecord(
                    record=f"r{number}",
                    topic=_TOPIC,
                    key=f"k{number % 64}",
                    value=value,
                    digest=digest(f"k{number % 64}".encode(), value.encode()),
                )
                for number in range(records)
            ),
        )

    def bare(self) -> float:
        """Return records per second without recording."""
        order = {"rate": None, "count": self._records, "seconds": 0.0, "delay": 0.0, "block": 0}
        done = self._bare.ask(order, _SECONDS)
        return float(done["sent"] / done["seconds"])

    def recording(self) -> float:
        """Return records per second of a producer of a run."""
        self._number += 1
        name = f"recording-{self._number}"
        task = self._folder / f"{name}.json"
        SenderTask(
            name=name,
            bootstrap=self._bootstrap,
            records=str(self._folder / "records.jsonl"),
            history=str(self._folder),
            client=_SETTINGS,
        ).save(task)
        command = python_module("onceproof.harness.workload.clients.librdkafka", str(task))
        popen = self._up.processes.start(name, command, pipes=True).popen
        assert popen.stdin is not None, "it is started with pipes"
        assert popen.stdout is not None, "it is started with pipes"
        popen.stdin.write(b"rate inf\n")
        popen.stdin.flush()
        first: tuple[float, int] | None = None
        for line in popen.stdout:
            told, now = json.loads(line), time.monotonic()
            if told["done"] and first is not None:
                popen.stdin.close()
                return float((told["ok"] - first[1]) / (now - first[0]))
            if told["ok"] and first is None:  # by now it is connected, as the bare one long is
                first = now, told["ok"]
        raise StageTrouble(f"{name} ended early")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print a table."""
    given = _options().parse_args(arguments)
    tools = ensure()
    assert tools.stage is not None
    bare: list[float] = []
    recording: list[float] = []
    with (
        tempfile.TemporaryDirectory(prefix="onceproof-bench-") as folder,
        alone(Path(folder) / "stage", tools.stage) as up,
    ):
        bench = Bench(up, tools, Path(folder), given.records)
        for _ in range(_UNCOUNTED):
            bench.bare()
            bench.recording()
        print("round    bare/s  recording/s  ratio")
        for number in range(1, given.rounds + 1):
            pair = [bench.bare, bench.recording]
            if number % 2:  # who goes first takes turns as well
                bare.append(pair[0]())
                recording.append(pair[1]())
            else:
                recording.append(pair[1]())
                bare.append(pair[0]())
            print(
                f"{number:>5}  {bare[-1]:8,.0f}     {recording[-1]:8,.0f}  "
                f"{recording[-1] / bare[-1]:5.2f}",
                flush=True,
            )
    found = ratio(bare, recording)
    print(
        f"ratio: {found.low:.2f} to {found.high:.2f}, at least {AIM:.2f} is aimed at: "
        + ("reached" if found.low >= AIM else "MISSED")
    )
    return 0


def _options() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    options.add_argument("--rounds", type=int, default=LEAST, help="pairs of rounds")
    options.add_argument("--records", type=int, default=50_000, help="of 1 KB, for each round")
    return options


if __name__ == "__main__":
    sys.exit(main())
