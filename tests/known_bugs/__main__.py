"""Find known bugs again in affected versions, and nothing in fixed ones.

    make known-bugs
    make known-bugs ONLY=KAFKA-17754,KAFKA-13598 SEEDS=1

It ends with 0 if every bug was found with every seed, and no fixed version was convicted.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from onceproof.harness.tools.error import SetupError
from onceproof.harness.tools.runtimes.known import asked, words
from onceproof.harness.tools.setup import ensure
from onceproof.harness.wait import Interrupted, Stop
from onceproof.stopping import stop_on_signals
from tests.known_bugs.catalogue import Bug, UnknownBug, load
from tests.known_bugs.hunt import CannotHunt, Hunt
from tests.known_bugs.results import AFFECTED, FIXED, Result, keep, line, page

_USAGE, _INTERRUPTED = 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make known-bugs", description=__doc__)
    parser.add_argument("--only", default="", help="ids of bugs, with commas between them")
    parser.add_argument("--seeds", default="1,2,3", help="seeds, with commas between them")
    parser.add_argument("--role", choices=(AFFECTED, FIXED), help="only these versions")
    parser.add_argument("--page", type=Path, help="page of all results, which are kept beside it")
    given = parser.parse_args(arguments)
    catalogue = load()
    try:
        bugs = catalogue.named(each for each in given.only.split(",") if each)
        seeds = [int(seed) for seed in given.seeds.split(",")]
    except (UnknownBug, ValueError) as error:
        print(f"known-bugs: {error}", file=sys.stderr)
        return _USAGE
    stop, wrong = stop_on_signals(), 0
    for bug in bugs:
        try:
            for result in _hunts(bug, seeds, given.role, stop):
                print(line(result), flush=True)
                wrong += not result.right
                if given.page is not None:
                    kept = keep(given.page.with_suffix(".jsonl"), [result])
                    given.page.write_text(page(catalogue, kept), encoding="utf-8")
        except Interrupted:
            return _INTERRUPTED
    return 1 if wrong else 0


def _hunts(bug: Bug, seeds: Sequence[int], only: str | None, stop: Stop) -> Iterator[Result]:
    tried: list[tuple[str, str, Mapping[str, str]]] = [(AFFECTED, bug.subject, bug.affected)]
    if bug.fixed is not None or bug.fixed_subject is not None:
        versions = bug.affected if bug.fixed is None else bug.fixed
        tried.append((FIXED, bug.fixed_subject or bug.subject, versions))
    for role, subject, versions in tried:
        if only in (None, role):
            yield from _hunts_in(bug, role, subject, versions, seeds, stop)


def _hunts_in(
    bug: Bug, role: str, subject: str, versions: Mapping[str, str], seeds: Sequence[int], stop: Stop
) -> Iterator[Result]:
    about = {"id": bug.id, "role": role, "subject": subject, "versions": dict(versions)}
    folder = Path(tempfile.mkdtemp(prefix="onceproof-known-bugs-"))
    try:
        tools = ensure(versions=asked(words(versions)[1::2], "local"))
        hunt = Hunt(bug, subject, tools=tools, folder=folder, stop=stop)
        with stop.in_order(), hunt.bench:
            for seed in seeds:
                try:
                    found = hunt.run(seed)
                except CannotHunt as error:
                    yield Result(**about, seed=seed, seconds=0, error=str(error)[:300])
                    continue
                yield Result(**about, seed=seed, load=os.getloadavg()[0], **vars(found))
    except SetupError as error:
        # For example a package that this machine's Python has no wheel for.
        for seed in seeds:
            yield Result(**about, seed=seed, seconds=0, error=f"skipped: {error}"[:300])
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
