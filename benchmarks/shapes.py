"""Whether any query grows faster than its rows: `make bench-shapes`.

Histories of many shapes are judged at two sizes, the second twice the first, query by query. Each
size is a process of its own. Processor time counts, as other work on the machine hardly changes
it. A query whose time or memory grows by more than `--most` is named; so is one that takes longer
than `--patience`, and nothing that comes after it is measured on that history.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from graphlib import TopologicalSorter
from pathlib import Path
from threading import Timer
from typing import Final

import duckdb

from benchmarks.shape_histories import SHAPES, history
from onceproof.checkers.anomalies import anomalies
from onceproof.checkers.engines import Layer, Settings, open_engine
from onceproof.checkers.trials import Input, Output, Trials

_SOURCE: Final = re.compile(r"\b(?:FROM|JOIN)\s+(\w+)")
_SECONDS: Final = 1.0
"""A query that takes less processor time at the larger size is not looked at."""
_BYTES: Final = 500_000_000
"""Likewise for memory."""


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What one query cost on one history."""

    query: str
    rows: int
    seconds: float
    """Of all processors."""
    peak: int
    """Bytes beyond what the process held before."""
    whole: bool = True
    """False: it was given up."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print.

    Returns:
        0; 1 if a query is named.
    """
    options = argparse.ArgumentParser(prog="make bench-shapes", description=__doc__)
    options.add_argument("--records", type=int, default=200_000, help="of the larger history")
    options.add_argument("--only", default="", help="only shapes whose name has this part")
    options.add_argument("--most", type=float, default=2.6, help="growth that is not named yet")
    options.add_argument("--patience", type=float, default=120.0, help="seconds for a query")
    options.add_argument("--threads", type=int, help="of DuckDB")
    options.add_argument("--measure", help=argparse.SUPPRESS)
    given = options.parse_args(arguments)
    if given.measure:
        for cost in _measured(given.measure, given.records, given.patience, given.threads):
            print(json.dumps(asdict(cost)), flush=True)
        return 0
    named = []
    for shape in (name for name in SHAPES if given.only in name):
        print(f"\n{shape}", flush=True)
        smaller, larger = (_costs(shape, n, given) for n in (given.records // 2, given.records))
        for query, cost in larger.items():
            before = smaller[query]
            line = _line(before, cost)
            if not cost.whole or _grew(before, cost) > given.most:
                named.append(f"{shape}: {line}")
            if cost.seconds >= _SECONDS or cost.peak >= _BYTES:
                print(f"  {line}", flush=True)
    print(f"\n{len(named)} queries grow by more than {given.most} when the records double")
    for line in named:
        print(f"  {line}")
    return int(bool(named))


def _grew(before: Cost, after: Cost) -> float:
    """How many times the cost, as far as it is worth a look, and the rows do not explain it."""
    seconds = after.seconds / max(before.seconds, 0.01) if after.seconds >= _SECONDS else 0.0
    memory = after.peak / max(before.peak, 1_000_000) if after.peak >= _BYTES else 0.0
    rows = after.rows / max(before.rows, 1)
    return max(seconds, memory) / max(1.0, rows / 2)


def _line(before: Cost, after: Cost) -> str:
    if not after.whole:
        return f"{after.query}: given up after {after.seconds:.0f} s"
    return (
        f"{after.query}: {after.rows:,} rows, {before.seconds:.2f} → {after.seconds:.2f} s, "
        f"{before.peak / 1e6:.0f} → {after.peak / 1e6:.0f} MB, {_grew(before, after):.1f} times"
    )


def _costs(shape: str, records: int, given: argparse.Namespace) -> dict[str, Cost]:
    command = [
        *(sys.executable, "-m", "benchmarks.shapes", "--measure", shape),
        *("--records", str(records), "--patience", str(given.patience)),
        *(("--threads", str(given.threads)) if given.threads else ()),
    ]
    ran = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    costs = [Cost(**json.loads(line)) for line in ran.stdout.splitlines()]
    return {cost.query: cost for cost in costs}


def _measured(shape: str, records: int, patience: float, threads: int | None) -> Iterator[Cost]:
    trials = Trials(
        inputs=(Input(topic="input"),),
        outputs=tuple(
            Output(topic="input", sink="ledger", view=view) for view in ("table", "journal")
        ),
        settled=("input",),
    )
    with open_engine(history(shape, records), trials, Settings(threads=threads)) as layer:
        for name, query in _queries(layer).items():
            cost = _cost(layer, name, query, patience)
            yield cost
            if not cost.whole:
                return


def _queries(layer: Layer) -> dict[str, str]:
    """What judging asks of a whole history, in an order in which nothing is asked for twice."""
    needs = {
        name: {n for n in _SOURCE.findall(relation.sql) if n in layer.queries}
        for name, relation in layer.queries.items()
    }
    asked = {
        name: f"SELECT count(*) AS n FROM {name}"
        for name in TopologicalSorter(needs).static_order()
        if layer.queries[name].stored
    }
    for anomaly in anomalies().values():
        more = {"undecided": anomaly.undecided}
        for mutator in anomaly.mutations:
            if mutator.of_the_whole:
                more |= {f"{mutator.name}, needs": mutator.needs, mutator.name: mutator.targets}
        for name, sql in more.items():
            if sql:
                asked[f"{anomaly.name}: {name}"] = f"SELECT count(*) AS n FROM ({sql}) q"
    return asked


def _cost(layer: Layer, name: str, query: str, patience: float) -> Cost:
    timer = Timer(patience, layer.database.interrupt)
    held = _memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # forgets the peak
    before = time.process_time()
    timer.start()
    rows, whole = 0, True
    try:
        rows = layer.number(query)
    except (duckdb.InterruptException, KeyboardInterrupt):
        whole = False
    finally:
        timer.cancel()
    return Cost(
        query=name,
        rows=rows,
        seconds=time.process_time() - before,
        peak=max(0, _memory("VmHWM") - held),
        whole=whole,
    )


def _memory(what: str) -> int:
    """A figure of this process in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(what)).split()[1]) * 1024


if __name__ == "__main__":
    sys.exit(main())
