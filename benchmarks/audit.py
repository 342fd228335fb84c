"""An audit of a large topic on a local cluster: `make bench-audit`.

Inputs and outputs are made with losses, duplicates and wrong contents at known places. The audit
must find exactly those. Its time stands beside that of plain consumers, as many as it has workers,
which read the same bytes and do nothing with them.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from onceproof.harness.links.topology import AUDITOR
from onceproof.harness.stage.alone import alone
from onceproof.harness.tools.setup import ensure

PARTITIONS: Final = 4
LOST, TWICE, WRONG = 1_000, 1_000, 500
SECONDS, GIGABYTES, RATIO = 600.0, 3.0, 0.5
"""What is asked for at 20 million; printed, never enforced."""
_FUNCTION: Final = """
def enriched(order):
    return {"id": order["id"], "total": order["amount"] * 2}
"""
_AGO: Final = 3_600_000


def planted(records: int) -> tuple[set[int], set[int], set[int]]:
    """Numbers of the inputs whose effects are lost, there twice, and wrong."""
    # The last minute is left alone: what lacks its effect there may still be on its way.
    step = records * 24 // 25 // (LOST + TWICE + WRONG + 1)
    numbers = [step * n for n in range(1, LOST + TWICE + WRONG + 1)]
    kinds = [n % 5 for n in range(len(numbers))]  # 2 : 2 : 1
    return (
        {n for n, kind in zip(numbers, kinds, strict=True) if kind in (0, 1)},
        {n for n, kind in zip(numbers, kinds, strict=True) if kind in (2, 3)},
        {n for n, kind in zip(numbers, kinds, strict=True) if kind == 4},
    )


def produce(bootstrap: str, topic: str, partition: int, records: int, began: int) -> None:
    """Fill a partition of the input, or of the output."""
    producer = Producer(
        {
            "bootstrap.servers": bootstrap,
            "linger.ms": 50,
            "batch.size": 1 << 20,
            "queue.buffering.max.messages": 500_000,
            "queue.buffering.max.kbytes": 262_144,
            "compression.type": "lz4",
            "acks": 1,
        }
    )
    lost, twice, wrong = planted(records)
    effects = topic == "enriched"
    for n in range(partition, records, PARTITIONS):
        if effects:
            if n in lost:
                continue
            value = f'{{"id":"o{n:09d}","total":{2 * n + (n in wrong)}}}'
        else:
            value = f'{{"id":"o{n:09d}","amount":{n}}}'
        for _ in range(2 if effects and n in twice else 1):
            while True:
                try:
                    producer.produce(
                        topic,
                        value,
                        f"o{n:09d}",
                        partition,
                        timestamp=began + n * 3_000_000 // records,
                    )
                    break
                except BufferError:
                    producer.poll(0.1)
    assert producer.flush(600) == 0


def consume(bootstrap: str, topic: str, partition: int) -> None:
    """Read a partition to its end, as plainly as the client can in batches."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "plain",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "isolation.level": "read_committed",
        }
    )
    consumer.assign([TopicPartition(topic, partition, 0)])
    ended = False
    while not ended:
        for message in consumer.consume(10_000, timeout=1.0):
            if message.error() is not None:
                ended = True
            else:
                message.value()
    consumer.close()


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="make bench-audit", description=__doc__)
    parser.add_argument("--records", type=int, default=2_000_000, help="how many inputs")
    parser.add_argument("--keys", action="store_true", help="do not compare contents")
    parser.add_argument("--memory", default="2GB", help="as `onceproof audit` takes it")
    given = parser.parse_args(arguments)
    tools = ensure().stage
    assert tools is not None
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        with alone(folder / "stage", tools, brokers=1) as up:
            bootstrap = up.stage.bootstrap(AUDITOR)
            admin = AdminClient({"bootstrap.servers": bootstrap})
            for each in admin.create_topics(
                [NewTopic(topic, PARTITIONS, 1) for topic in ("orders", "enriched")]
            ).values():
                each.result()
            began = time.time_ns() // 1_000_000 - _AGO
            places = [(t, p) for t in ("orders", "enriched") for p in range(PARTITIONS)]
            _all(produce, [(bootstrap, *place, given.records, began) for place in places])
            print(f"{given.records} inputs and their outputs are there", flush=True)
            plain = _all(consume, [(bootstrap, *place) for place in places])
            print(f"plain consumers   {plain:8.1f} s", flush=True)
            return _audit(folder, bootstrap, given, plain)


def _audit(folder: Path, bootstrap: str, given: argparse.Namespace, plain: float) -> int:
    (folder / "rules.py").write_text(_FUNCTION)
    command = [sys.executable, "-m", "onceproof", "audit", "--bootstrap", bootstrap]
    command += ["--input", "orders", "--output", "enriched", "--identity", "key"]
    command += ["--settle", "60", "--memory", given.memory, "--out", str(folder / "runs")]
    command += [] if given.keys else ["--expect", "rules.py:enriched"]
    began = time.monotonic()
    process = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    judged = began
    for line in process.stderr:
        if line.startswith("judging"):
            judged = time.monotonic()
        print(line, end="", flush=True)
    code = process.wait()
    took = time.monotonic() - began
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e6
    if code != 1:
        print(f"audit ended with {code} after {took:.1f} s")
        return 1
    (file,) = folder.glob("runs/*/repairs.jsonl")
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    lost, twice, wrong = planted(given.records)
    due = {
        "lost": {f"o{n:09d}" for n in lost},
        "duplicate": {f"o{n:09d}" for n in twice},
        "wrong": set() if given.keys else {f"o{n:09d}" for n in wrong},
    }
    found = {kind: {x["record"] for x in lines if x["repair"] == kind} for kind in due}
    print(f"audit             {took:8.1f} s   of {SECONDS:.0f} allowed, exit code {code}")
    print(f"  reading         {judged - began:8.1f} s   of plain consumers' throughput: "
          f"{plain / (judged - began):.2f} (asked: {RATIO})")  # fmt: skip
    print(f"  memory          {most:8.2f} GB  of {GIGABYTES:.0f} allowed, the largest process")
    for kind, records in due.items():
        print(f"  {kind:<15} {len(found[kind]):8} of {len(records)} planted, "
              f"{len(found[kind] - records)} others")  # fmt: skip
    return 0 if found == due and {x["repair"] for x in lines} <= due.keys() else 1


def _all(work: object, calls: list[tuple[object, ...]]) -> float:
    """Do all of it with two processes at a time; returns the seconds."""
    began = time.monotonic()
    with multiprocessing.get_context("spawn").Pool(2, maxtasksperchild=1) as pool:
        pool.starmap(work, calls, chunksize=1)  # type: ignore[arg-type]
    return time.monotonic() - began


if __name__ == "__main__":
    sys.exit(main())
