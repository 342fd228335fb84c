"""Put every pair on trial, and say who was caught by what.

    make power
    make power ONLY=no-rewind,thread-pool SEEDS=1,2,3 JOBS=1

It goes on where it was broken off. It ends with 0 if every broken program was caught and every
mended one holds.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from onceproof.matrix.capacity import room
from onceproof.stopping import stop_on_signals
from tests.power.catalogue import VARIANTS, UnknownPair, pairs
from tests.power.kept import Kept
from tests.power.measure import QUICK_SECONDS, Measurement, drawn, told_time
from tests.power.page import page, summary
from tests.power.results import Results
from tests.power.trial import Trial

_USAGE: Final = 2
_INTERRUPTED: Final = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="make power", description=__doc__)
    parser.add_argument("--only", default="", help="names of pairs, with commas between them")
    parser.add_argument("--variant", choices=VARIANTS, help="only broken or only mended ones")
    parser.add_argument("--seeds", default="1", help="seeds, with commas between them")
    parser.add_argument("--preset", default="standard", help="gentle, standard or brutal")
    parser.add_argument("--jobs", type=int, default=room(), help="how many trials at a time")
    parser.add_argument("--quick", action="store_true", help="a drawn sample, in 15 minutes")
    parser.add_argument(
        "--dry-run", action="store_true", help="only do the dry run of each program"
    )
    parser.add_argument("--out", type=Path, default=Path("runs/power"), help="where runs go")
    parser.add_argument("--page", type=Path, help="page of all results, which are kept beside it")
    given = parser.parse_args(arguments)
    try:
        chosen = pairs(name for name in given.only.split(",") if name)
        seeds = [int(seed) for seed in given.seeds.split(",")]
    except UnknownPair as error:
        return _wrong(str(error))
    except ValueError as error:
        return _wrong(f"--seeds {given.seeds}: {error}; expected whole numbers, such as 1,2")
    trials = [
        Trial(pair=pair, variant=variant, seed=seed, preset=given.preset, dry_run=given.dry_run)
        for pair in chosen
        for variant in ([given.variant] if given.variant else VARIANTS)
        for seed in seeds
    ]
    began = time.monotonic()
    given.out.mkdir(parents=True, exist_ok=True)
    measured = Measurement(
        trials=drawn(trials, seeds[0]) if given.quick else trials,
        results=Results(given.out / "results.jsonl"),
        out=given.out.absolute(),
        at_once=given.jobs,
        budget=QUICK_SECONDS if given.quick else None,
        stop=stop_on_signals(),
    )
    measured.execute()
    told = measured.results.told(trials)
    if given.page is not None and not given.dry_run:
        kept = Kept(given.page.with_suffix(".jsonl"))
        kept.add(found for _, found in told)
        there = len(pairs())
        given.page.write_text(page(kept.told(), measured.missing, there), encoding="utf-8")
    print(f"{summary(told)}; took {told_time(began)}")
    if measured.stop.is_set():
        return _INTERRUPTED
    return 0 if told and all(found.right(trial) for trial, found in told) else 1


def _wrong(words: str) -> int:
    print(f"make power: {words}", file=sys.stderr)
    return _USAGE


if __name__ == "__main__":
    sys.exit(main())
