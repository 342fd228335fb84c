"""One program on trial: its command line, and what its report says."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

from onceproof.harness.processes.side_by_side import Ended, Job
from onceproof.harness.tools.versions import sum_of
from tests.power.catalogue import FOLDER, Pair, Variant
from tests.power.payments import payments_file
from tests.power.start import command

_ROOT: Final = Path(__file__).parents[2]
_WORST_FIRST: Final = ("violated", "invalid", "stalled", "unknown", "unexercised", "holds")
NO_FAULT: Final = "no fault at all"
NONE: Final = "no verdict"
"""Of a trial that ended without a report."""
WELL: Final = "dry run"
"""Of a dry run that found every record."""
_FOLDER: Final = re.compile(r"^report\s+(.*)/report\.html$", re.MULTILINE)
_SECONDS: Final = 1200.0
_DRY_RUN_RECORDS: Final = "6000"
"""Enough that `verify` refuses no preset; a dry run sends fewer by itself."""


@dataclass(frozen=True, kw_only=True)
class Trial:
    """A program, a seed and a preset.

    Attributes:
        pair: whose program.
        variant: which of its two.
        seed: of the workload.
        preset: how hard it is hit.
        dry_run: only do its dry run.
    """

    pair: Pair
    variant: Variant
    seed: int
    preset: str
    dry_run: bool = False

    @property
    def name(self) -> str:
        """Also of its log and of the folder for its run."""
        return f"{self.pair.name}-{self.variant}-{self.seed}"

    @property
    def key(self) -> tuple[str, ...]:
        """What a stored result must share with it to count for it."""
        kind = "dry-run" if self.dry_run else self.preset
        digest = self.pair.digest(self.variant)
        return self.pair.name, self.variant, str(self.seed), kind, digest, code()

    def job(self, out: Path) -> Job:
        """It as a command; `out` gets its run folder.

        Raises:
            MissingTool: its program cannot be started here.
        """
        pair = self.pair
        program = command(pair.program(self.variant), pair.called(self.variant))
        how = ("--dry-run", "--records", _DRY_RUN_RECORDS) if self.dry_run else ()
        outputs = [word for output in pair.outputs for word in ("--output", output)]
        words = (
            *(sys.executable, "-m", "onceproof", "verify", "--out", str(out / self.name)),
            *("--instances", str(pair.workers)),
            *("--seed", str(self.seed), "--preset", self.preset, "--claim", pair.claim),
            *(*outputs, *_filled(pair), *how, "--", *program),
        )
        return Job(name=self.name, command=words, seconds=_SECONDS)


@dataclass(frozen=True, kw_only=True)
class Result:
    """What a trial came to.

    Attributes:
        key: of its trial.
        verdict: the worst of its claims' verdicts.
        why: one sentence.
        anomalies: how many findings there are of each anomaly that refutes a claim.
        caught_by: the faults behind which the findings came about, most frequent first.
        seconds: how long it took.
        folder: of its run; None if it left none.
    """

    key: tuple[str, ...]
    verdict: str
    why: str
    anomalies: dict[str, int] = field(default_factory=dict)
    caught_by: tuple[str, ...] = ()
    seconds: float
    folder: str | None = None

    def right(self, trial: Trial) -> bool:
        """Whether this is what the program deserves."""
        if trial.dry_run:
            return self.verdict == WELL
        if trial.variant == "mended":
            return self.verdict == "holds"
        return self.verdict == "violated" and bool(self.anomalies.keys() & {*trial.pair.anomalies})

    def as_json(self) -> str:
        """One line."""
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, line: str) -> Result:
        """What `as_json` wrote."""
        said = json.loads(line)
        return cls(**{**said, "key": tuple(said["key"]), "caught_by": tuple(said["caught_by"])})


@cache
def code() -> str:
    """A short sum of what makes and judges a trial."""
    folders = ("checkers", "harness", "scenarios", "src/onceproof")
    return sum_of(_ROOT / folder for folder in folders)


def result(trial: Trial, ended: Ended) -> Result:
    """Read what a trial left behind."""
    said = ended.log.read_text(encoding="utf-8", errors="replace")
    last = next((line for line in reversed(said.splitlines()) if line.strip()), "it said nothing")
    if ended.overdue:
        last = f"it took longer than {ended.job.seconds:.0f} s; it said last: {last}"
    if trial.dry_run:
        verdict = WELL if ended.code == 0 else NONE
        return Result(key=trial.key, verdict=verdict, why=last, seconds=ended.seconds)
    found = _FOLDER.findall(said)
    if not found:
        return Result(
            key=trial.key,
            verdict=NONE,
            why=f"exit code {ended.code}: {last}",
            seconds=ended.seconds,
        )
    report = json.loads((Path(found[-1]) / "report.json").read_text(encoding="utf-8"))
    claims = sorted(report["claims"], key=lambda claim: _WORST_FIRST.index(claim["verdict"]))
    return Result(
        key=trial.key,
        verdict=claims[0]["verdict"],
        why=claims[0]["reason"],
        anomalies=_anomalies(report),
        caught_by=_caught_by(report),
        seconds=ended.seconds,
        folder=found[-1],
    )


def _filled(pair: Pair) -> Iterator[str]:
    for option in pair.options:
        if option == "{payments}":
            yield str(payments_file())
        else:
            filled = option.replace("{folder}", str(FOLDER / pair.name))
            yield filled.replace("{python}", sys.executable)


def _anomalies(report: dict[str, Any]) -> dict[str, int]:
    count: Counter[str] = Counter()
    for findings in report["findings"]:
        if findings["refutes"]:
            count[findings["anomaly"]] += findings["count"]
    return dict(count)


def _caught_by(report: dict[str, Any]) -> tuple[str, ...]:
    """Behind which faults the findings came about, as far as reports say when that was.

    A finding names its causes where these are known; of the user's pipelines they seldom are, and
    the fault before it stands in for them.
    """
    injected = sorted(
        (fault["injected_at"], fault["fault"])
        for fault in report["faults"]
        if fault["injected_at"] is not None
    )
    blamed: Counter[str] = Counter()
    for finding in _shown(report):
        named = {cause["fault"] for cause in finding["causes"] if cause["fault"]}
        if not named and finding["at"] is not None:
            before = [name for at, name in injected if at <= finding["at"]]
            named = {before[-1] if before else NO_FAULT}
        blamed.update(named)
    return tuple(name for name, _ in blamed.most_common(3))


def _shown(report: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for findings in report["findings"]:
        if findings["refutes"]:
            yield from findings["shown"]
