"""What judging costs: `make bench-checking`, or `python -m benchmarks.checking --help`.

Every run is the whole command in a fresh process, start-up included. Limits
are printed beside the figures, and nothing of them is asserted: the machine is whatever it is. What
is asserted is the verdict, because a fast wrong answer is worth nothing.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from benchmarks import telling
from benchmarks.growing import growth
from benchmarks.plan import CACHE
from benchmarks.suite import MILLION, Suite
from benchmarks.trial import Line, NotAsExpected

SECTIONS: Final = ("fixed", "growth", "kinds", "offsets", "spark")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print a table, write JSON.

    Returns:
        0, also where a limit is missed; 1 if a command failed or its verdict was wrong.
    """
    given = _options().parse_args(arguments)
    notes: list[str] = []

    def told(sentence: str) -> None:
        print(sentence, file=sys.stderr, flush=True)

    suite = Suite(
        cache=given.cache.absolute(),
        largest=100 * MILLION if given.large else given.largest,
        times=given.times,
        memory=given.memory,
        keep=given.keep,
        told=told,
    )
    lines: list[Line] = []
    failed = False
    # Without the fixed cost no line can say how many records a second it judged.
    for section in dict.fromkeys(["fixed", *(given.only or SECTIONS)]):
        measured: Callable[[], Iterator[Line]] = getattr(suite, section)
        try:
            lines.extend(measured())  # what a section measured before it failed stays
        except NotAsExpected as error:
            print(f"{section}: {error}", file=sys.stderr)
            notes.append(f"{section}: failed: {error}")
            failed = True
    fixed = lines[0].best if lines and lines[0].section == "fixed cost" else 0.0
    print(telling.machine())
    if lines:
        print(telling.table(lines, fixed))
    notes += growth([line for line in lines if line.section == "spark"])
    for note in notes:
        print(note)
    given.json.parent.mkdir(parents=True, exist_ok=True)
    given.json.write_text(telling.as_json(lines, fixed, notes) + "\n")
    return int(failed)


def _options() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    options.add_argument("--large", action="store_true", help="also 100 million (12 GB of disk)")
    options.add_argument("--largest", type=int, default=10 * MILLION, help="most records")
    options.add_argument("--only", action="append", choices=SECTIONS, help="sections; repeatable")
    options.add_argument("--times", type=int, help="runs of each line")
    options.add_argument("--memory", type=int, help="bytes that DuckDB may hold, for every size")
    options.add_argument("--cache", type=Path, default=CACHE, help="where histories are kept")
    options.add_argument("--keep", action="store_true", help="keep the 100 million for next time")
    options.add_argument("--json", type=Path, default=CACHE / "checking.json")
    return options


if __name__ == "__main__":
    sys.exit(main())
