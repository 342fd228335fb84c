"""The reference page of hazards: `python -m onceproof.verify.hazards_page`."""

from __future__ import annotations

import sys
from typing import Final

from onceproof.verify.hazards.hazard import Hazard
from onceproof.verify.hazards.table import TABLE
from onceproof.verify.plan import ROUNDS

_HEAD: Final = """\
<!-- Made by `make reference`; do not edit. -->

# Hazards of a pipeline

`onceproof verify` does a dry run of your pipeline first: it runs it without faults and learns what
it speaks. From that follow the hazards that the pipeline has, and the faults that bring them.
A claim `holds` only if every one of them was met in this run; else it is `unexercised`, and the
verdict names those that were not. `--accept-untested HAZARD` lets you live with one, and the report
says so in its title. `--fault` and `--schedule` replace the plan by faults of
[the whole list](faults.md); then any one hazard is enough, and the report lists what was done.

`--preset` says how often each hazard is met: {presets}. A hazard marked † takes long: `gentle` and
`standard` meet it once, `brutal` three times. Only `brutal` brings one marked ‡: a pipeline may be
right although it fails there. Those that only concern what is in the input come side by side,
all others one after the other.

| hazard | what happens to the pipeline | which pipeline has it | what proves it |
| --- | --- | --- | --- |
"""


def page() -> str:
    """The whole page."""
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
