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
A claim `holds` only if every one of them occurred in this run; otherwise it is `unexercised`, and
the verdict names the missing ones. `--accept-untested HAZARD` accepts a hazard that did not occur,
and the report's title says so. `--fault` and `--schedule` replace the plan's faults by those of
[the whole list](faults.md), not its hazards: they must occur all the same. `--accept-untested all`
accepts them all; then any one hazard is enough.

`--preset` sets how often each hazard is triggered: {presets}. A hazard marked † takes long:
`gentle` and `standard` trigger it once, `brutal` three times. Only `brutal` tests a hazard marked
‡: a pipeline may be correct although it fails there. Hazards in the input itself are tested
together, all others one after the other.

| hazard | what happens to the pipeline | which pipeline has it | what proves it |
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
