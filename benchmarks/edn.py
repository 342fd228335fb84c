"""What judging a Jepsen history costs: `make bench-edn`, or `python -m benchmarks.edn --help`.

A correct history of 5 clients is generated once, and `onceproof check` judges it.
In turn with it the forms of the file are read by the complete reader of EDN and dropped: what that
takes is the measure beside which to read the time of the check.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from benchmarks.measure import Cost, run
from benchmarks.plan import CACHE
from tests.unit.checkers.imports.generate import write_history

WALL: Final = 14.0
"""Seconds for 500 000 operations, half of what Jepsen's checker takes; printed, not enforced."""
PEAK: Final = 1_050_000_000
"""Bytes likewise: a quarter."""
_READ: Final = """\
import sys
from onceproof.checkers.imports.edn import read
for _ in read(open(sys.argv[1], "rb")): pass
"""
_IMPORT: Final = """\
import sys
from onceproof.checkers.imports import read
read(sys.argv[1])
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print.

    Returns:
        0; 1 if the history was not found to be correct.
    """
    options = argparse.ArgumentParser(prog="make bench-edn", description=__doc__)
    options.add_argument("--operations", type=int, default=500_000)
    options.add_argument("--times", type=int, default=3)
    given = options.parse_args(arguments)
    file: Path = CACHE / f"jepsen-{given.operations}.edn"
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        made = file.with_suffix(".part")
        write_history(made, given.operations)
        made.rename(file)
    commands = {
        "forms of EDN alone": [sys.executable, "-c", _READ, str(file)],
        "import alone": [sys.executable, "-c", _IMPORT, str(file)],
        "onceproof check": [sys.executable, "-m", "onceproof", "check", str(file)],
    }
    costs: dict[str, list[Cost]] = {name: [] for name in commands}
    for _ in range(given.times):
        for name, command in commands.items():
            ran = run(command)
            if ran.exit_code:
                print(f"{name}: exit code {ran.exit_code}\n{ran.output}{ran.errors}")
                return 1
            costs[name].append(ran.cost)
    for line in lines(costs):
        print(line)
    print(f"aimed at, for 500 000 operations on two idle cores: {WALL:.0f} s, {PEAK / 1e9:.2f} GB")
    return 0


def lines(costs: dict[str, list[Cost]]) -> list[str]:
    """A line for each command, the first of which is what the others are compared with."""
    best = {name: min(cost.cpu for cost in of) for name, of in costs.items()}
    first = next(iter(best.values()))
    return [
        f"{name:20} best {min(cost.wall for cost in of):6.1f} s, "
        f"median {statistics.median(cost.wall for cost in of):6.1f} s, "
        f"processor {best[name]:6.1f} s ({best[name] / first:.2f}), "
        f"peak {max(cost.peak for cost in of) / 1e9:.2f} GB"
        for name, of in costs.items()
    ]


if __name__ == "__main__":
    sys.exit(main())
