"""One line of a benchmark: a history, a command, and what its runs cost beside those of another.

Judging and what it is compared with take turns, so that a noisy machine is
noisy for both, and their ratio means more than either.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from benchmarks.measure import Cost, Ran, run

CLAIM: Final = "exactly-once:input->ledger@table,hazard=replayed-batch"
"""What generated histories are judged by."""
_ANSWER: Final = "judged.json"
_DONE: Final = frozenset({0})
_JUDGED: Final = frozenset({0, 1})
"""Exit codes of claims that hold and of violated ones."""


class NotAsExpected(Exception):
    """A command failed or found something else: what it cost does not matter."""


@dataclass(frozen=True, kw_only=True)
class Limit:
    """What must not be passed."""

    seconds: float
    peak: int | None = None
    """Bytes."""


@dataclass(kw_only=True)
class Line:
    """What is measured of one history."""

    section: str
    what: str
    records: int
    judged: list[Cost] = field(default_factory=list)
    against: list[Cost] = field(default_factory=list)
    """What it is compared with: reading the same columns once, or another history."""
    limit: Limit | None = None
    expected: Mapping[str, int] = field(default_factory=dict)
    """The findings that there must be, and how many; empty: the claim must hold."""

    @property
    def best(self) -> float:
        """Seconds of the fastest judging."""
        return min(cost.wall for cost in self.judged)

    @property
    def median(self) -> float:
        """Seconds of the middle one."""
        return statistics.median(cost.wall for cost in self.judged)

    @property
    def peak(self) -> int:
        """Bytes of the hungriest one."""
        return max(cost.peak for cost in self.judged)

    @property
    def ratio(self) -> float | None:
        """To what it is compared with, both at their best."""
        if not self.against:
            return None
        return self.best / min(cost.wall for cost in self.against)

    @property
    def met(self) -> bool | None:
        """Whether the median and the peak are within the limit; None without one."""
        if self.limit is None:
            return None
        peak = self.limit.peak
        return self.median <= self.limit.seconds and (peak is None or self.peak <= peak)


def measure(
    line: Line,
    *,
    judge: Sequence[str],
    against: Sequence[str],
    times: int,
    told: Callable[[str], None],
) -> Line:
    """Let a judging and what it is compared with take turns.

    Args:
        line: gets the costs.
        judge: the command that judges and writes what it found where `--json` says.
        against: the command that it is compared with.
        times: turns.
        told: gets a sentence about each run.

    Raises:
        NotAsExpected: a command failed, or its verdict is wrong.
    """
    _succeeded(run(against), against)  # not counted: from now on the files are in memory
    for turn in range(times):
        line.against.append(_succeeded(run(against), against).cost)
        ran = run(judge)
        _judged_right(_judged(ran, judge), line)
        line.judged.append(ran.cost)
        told(
            f"{line.section}, {line.what}: run {turn + 1} of {times}, {ran.cost.wall:.2f} s, "
            f"{ran.cost.peak / 1e6:,.0f} MB"
        )
    return line


def expected_findings(folder: Path) -> dict[str, int]:
    """What a generated history must be found to have."""
    made = json.loads((folder / "made.json").read_text())
    found = {"lost-output": len(made["dropped"]), "duplicate-output": len(made["duplicated"])}
    return {anomaly: count for anomaly, count in found.items() if count}


def python(module: str, *arguments: str) -> tuple[str, ...]:
    """A command that runs a module of this package."""
    return (sys.executable, "-m", f"benchmarks.{module}", *arguments)


def check(folder: Path, *options: str) -> tuple[str, ...]:
    """The command that a user gives, for a generated history; it says what exactly it found."""
    history = str(folder / "history")
    return (
        *(sys.executable, "-m", "onceproof", "check", history, "--format", "parquet"),
        *("--claim", CLAIM, "--json", str(folder / _ANSWER), *options),
    )


def _succeeded(ran: Ran, command: Sequence[str], codes: frozenset[int] = _DONE) -> Ran:
    if ran.exit_code not in codes:
        raise NotAsExpected(
            f"{' '.join(command)} ended with {ran.exit_code} after {ran.cost.wall:.1f} s; it said "
            f"last: {ran.errors[-2000:] or ran.output[-2000:]}"
        )
    return ran


def _judged(ran: Ran, command: Sequence[str]) -> dict[str, Any]:
    """What a judging wrote down, which is gone afterwards and cannot be taken for the next one."""
    answer = Path(command[command.index("--json") + 1])
    # A command that broke down may end with the code of a violated claim, but it leaves no answer.
    if not answer.exists():
        _succeeded(ran, command, frozenset())
    _succeeded(ran, command, _JUDGED)
    told: dict[str, Any] = json.loads(answer.read_text(encoding="utf-8"))
    answer.unlink()
    return told


def _judged_right(answer: Mapping[str, Any], line: Line) -> None:
    (claim,) = answer["claims"]
    counts = {group["anomaly"]: group["count"] for group in answer["findings"]}
    found = {name: n for name, n in counts.items() if name != "offset-ahead"}
    verdict = "violated" if line.expected else "holds"
    if claim["verdict"] != verdict or found != line.expected:
        raise NotAsExpected(
            f"{line.section}, {line.what}: expected {verdict} with {dict(line.expected)}, found "
            f"{claim['verdict']} with {counts}: {claim['reason']}"
        )
