"""A big, correct history as Parquet, made to measure: `python -m benchmarks.generate --records N`.

A folder is named by its plan and appears by one rename when it is whole, so
that it is made only once. `history` in it is what checkers read; `made.json` beside it says how
many rows there are and which effects were mutated.
"""

from __future__ import annotations

import argparse
import json
import shutil
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks.making import make
from benchmarks.plan import CACHE, Plan, Shape


def generate(plan: Plan, cache: Path = CACHE) -> Path:
    """Make the history of a plan, unless it is there already; returns its folder."""
    folder = cache / plan.name
    if (folder / "made.json").exists():
        return folder
    part = cache / f".{plan.name}.part"
    shutil.rmtree(part, ignore_errors=True)
    (part / "history").mkdir(parents=True)
    try:
        started = time.monotonic()
        made = make(plan, part / "history")
        seconds = round(time.monotonic() - started, 1)
        told = {"plan": asdict(plan), **made, "seconds": seconds}
        (part / "made.json").write_text(json.dumps(told, indent=2) + "\n")
        part.rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return folder


def main(arguments: Sequence[str] | None = None) -> None:
    """Make one history and print its folder."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    options.add_argument("--records", type=int, required=True)
    options.add_argument("--offset-base", type=int, default=0)
    options.add_argument("--transactions", action="store_true")
    options.add_argument("--shape", type=Shape, choices=list(Shape), default=Shape.ONE_TO_ONE)
    options.add_argument("--drop", type=int, default=0, help="effects that are left out")
    options.add_argument("--duplicate", type=int, default=0, help="effects that are there twice")
    options.add_argument("--batch", type=int, default=0, help="records of one micro-batch")
    options.add_argument("--cache", type=Path, default=CACHE)
    given = vars(options.parse_args(arguments))
    cache: Path = given.pop("cache")
    print(generate(Plan(**given), cache))


if __name__ == "__main__":
    main()
