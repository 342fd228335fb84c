"""Results of hunts, one line of JSON each, and the page about them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

from onceproof.harness.tools.versions import host
from tests.known_bugs.catalogue import Bug, Catalogue

AFFECTED: Final = "affected"
FIXED: Final = "fixed"


@dataclass(frozen=True, kw_only=True)
class Result:
    """One hunt.

    Attributes:
        role: `affected` or `fixed`.
        subject: what was explored.
        by: the faults that convicted it; None: not found.
        error: why the hunt is worth nothing; None if it is not.
        load: average load of the machine during the hunt, since it explains long times.
    """

    id: str
    role: str
    subject: str
    versions: Mapping[str, str]
    seed: int
    seconds: float
    trials: int = 0
    by: str | None = None
    others: Mapping[str, int] = field(default_factory=dict)
    missed: int = 0
    error: str | None = None
    load: float = 0.0

    @property
    def right(self) -> bool:
        """Whether an affected version was convicted, or a fixed one held in all trials."""
        if self.error is not None:
            return False
        if self.role == AFFECTED:
            return self.by is not None
        return self.by is None and self.trials > 0 and not self.missed and not self.others

    @property
    def key(self) -> tuple[object, ...]:
        return (self.id, self.role, self.seed)


def line(result: Result) -> str:
    came_to = result.error or (f"found by {result.by}" if result.by else "not found")
    others = "".join(f", {name} {count}" for name, count in sorted(result.others.items()))
    versions = " ".join(f"{name}={version}" for name, version in result.versions.items())
    return (
        f"{'  ' if result.right else '! '}{result.id:<28} {result.role:<8} {versions:<24} "
        f"seed {result.seed}  {result.seconds:5.0f} s  {result.trials:3} trials  {came_to}{others}"
    )


def read(file: Path) -> list[Result]:
    if not file.exists():
        return []
    return [Result(**json.loads(each)) for each in file.read_text().splitlines() if each]


def keep(file: Path, results: Iterable[Result]) -> list[Result]:
    """Add results to a file, in place of those of the same hunts; return all."""
    kept = {each.key: each for each in [*read(file), *results]}
    ordered = sorted(kept.values(), key=lambda each: (each.id, each.role, each.seed))
    file.write_text("".join(json.dumps(asdict(each)) + "\n" for each in ordered))
    return ordered


_HEAD: Final = """<!-- Made by `make known-bugs`; do not edit. -->

# Known bugs

Bugs of released software that `onceproof explore` has to find again, without a fault that was
written for them: kinds of faults, or of messages, are tried in random order until a trial shows
the bug's anomaly. The version with the fix goes through all of them and must not show it; where
none has it, another client does, so that one sees that not all are convicted. Every batch of
trials includes one without faults, which must hold, and a broken twin, which must be caught.
Seconds are those until the conviction, without the start of brokers, on {host}.

{summary}

| bug | what goes wrong | explored | affected | found | fixed, or compared with | clean |
| --- | --- | --- | --- | --- | --- | --- |
"""
_NOT_TRIED: Final = """
## Not in the benchmark

| bug | what goes wrong | why |
| --- | --- | --- |
"""


def page(catalogue: Catalogue, results: Sequence[Result]) -> str:
    rows, always, any_found, with_fix, clean = [], 0, 0, 0, 0
    for bug in catalogue.bugs:
        own = [r for r in results if r.id == bug.id and r.versions in (bug.affected, bug.fixed)]
        affected = [r for r in own if r.role == AFFECTED]
        fixed = [r for r in own if r.role == FIXED]
        any_found += any(r.right for r in affected)
        always += bool(affected) and all(r.right for r in affected)
        with_fix += bug.fixed is not None
        clean += bug.fixed is not None and bool(fixed) and all(r.right for r in fixed)
        rows.append(_row(bug, affected, fixed))
    machine = ", ".join(f"{name} {value}" for name, value in host().items())
    summary = (
        f"* {any_found} of {len(catalogue.bugs)} are found by at least one seed.\n"
        f"* {always} of {len(catalogue.bugs)} are found by every seed.\n"
        f"* {with_fix} have a fixed version, {clean} of which are clean with every seed."
    )
    text = _HEAD.format(host=machine, summary=summary) + "".join(rows)
    if catalogue.not_tried:
        text += _NOT_TRIED
        text += "".join(f"| {b.id} | {b.title} | {b.why} |\n" for b in catalogue.not_tried)
    return text


def _row(bug: Bug, affected: Sequence[Result], fixed: Sequence[Result]) -> str:
    kinds = "; ".join(f"`{each}`" for each in bug.faults)
    kinds += f", then {'; '.join(f'`{each}`' for each in bug.then)}" if bug.then else ""
    found = "<br>".join(
        f"{_mark(r)} {r.by or r.error or 'not found'} ({r.seconds:.0f} s, seed {r.seed})"
        for r in affected
    )
    clean = "<br>".join(
        f"{_mark(r)} {r.error or _tried(r)} ({r.seconds:.0f} s, seed {r.seed})" for r in fixed
    )
    mended = _versions(bug.fixed) if bug.fixed else bug.fixed_subject and f"`{bug.fixed_subject}`"
    cells = [
        *(bug.id, bug.title, f"`{bug.subject}`, {kinds}; `{bug.anomaly}`"),
        *(_versions(bug.affected), found or "not run", mended or "none", clean or "-"),
    ]
    return f"| {' | '.join(cells)} |\n"


def _tried(result: Result) -> str:
    if result.by:
        return f"found by {result.by}"
    others = [f"{name} {count}" for name, count in sorted(result.others.items())]
    missed = [f"{result.missed} faults missed"] if result.missed else []
    return ", ".join([f"{result.trials} trials", *missed, *others])


def _mark(result: Result) -> str:
    return "✓" if result.right else "✗"


def _versions(versions: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in versions.items()) or "as usual"
