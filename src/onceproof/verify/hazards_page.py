"""Generate the reference page of hazards: `python -m onceproof.verify.hazards_page`."""

from __future__ import annotations

import sys
from typing import Final

from onceproof.verify.hazards.hazard import Hazard
from onceproof.verify.hazards.registry import TABLE
from onceproof.verify.plan import ROUNDS

_HEAD: Final = """\
<!-- Made by `make reference`; do not edit. -->

# Hazards of a pipeline

`onceproof verify` first runs your pipeline without faults and observes its requests to brokers and
databases. From these it derives the hazards that the pipeline has, and the faults that cause them.
A claim `holds` only if all of them occurred in this run; otherwise it is `unexercised`, and the
verdict names the missing ones. `--accept-untested HAZARD` accepts a hazard that did not occur, and
the report's title says so. `--accept-untested all` accepts all of them; then any one hazard is
enough. `--fault` and `--schedule` replace the faults of the plan with others from
[the list of faults](faults.md). They do not change the hazards: these must still occur.

`--preset` sets how often each hazard is triggered: {presets}. Hazards marked † take long: `gentle`
and `standard` trigger them once, `brutal` three times. Only `brutal` tests hazards marked ‡: a
pipeline may be correct although it fails there. Hazards of the input are tested together, all
others one after another.

| hazard | what happens to the pipeline | which pipelines have it | what proves that it occurred |
| --- | --- | --- | --- |
"""


def page() -> str:
    presets = ", ".join(f"`{name}` {rounds}×" for name, rounds in ROUNDS.items())
    rows = [
        f"| `{hazard.name}`{_marks(hazard)} | {hazard.says} | {hazard.of} | {hazard.proof} |\n"
        for hazard in TABLE
    ]
    return "".join([_HEAD.format(presets=presets), *rows])


def _marks(hazard: Hazard) -> str:
    return f"{' †' if hazard.rare else ''}{' ‡' if hazard.brutal else ''}"


if __name__ == "__main__":
    sys.stdout.write(page())
