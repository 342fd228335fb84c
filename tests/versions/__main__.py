"""Run a sample of scenarios in the versions that are tried, and write the page about them.

    make versions
    make versions ONLY=librdkafka

A run that is on the page is not repeated, except with --again. It ends with 1 if a run did not come
out as expected, which the page says: an old version may well break its word.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from onceproof.command import command
from onceproof.harness.tools.runtimes.known import words
from tests.versions.sample import sample

_SECONDS: Final = 900.0
_SEED: Final = "1"


@dataclass(frozen=True, kw_only=True)
class Run:
    """One run of the sample.

    Attributes:
        claims: claim → [verdict, expected verdict].
        why: of the first claim that is not as expected, or the error; empty if all are.
    """

    scenario: str
    versions: Mapping[str, str]
    claims: Mapping[str, Sequence[str]]
    why: str
    seconds: float

    @property
    def key(self) -> tuple[str, str]:
        return self.scenario, json.dumps(dict(self.versions), sort_keys=True)

    @property
    def expected(self) -> bool:
        return bool(self.claims) and not self.why


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make versions", description=__doc__)
    parser.add_argument("--only", default="", help="a runtime")
    parser.add_argument("--again", action="store_true", help="also what is on the page")
    parser.add_argument("--out", type=Path, default=Path("runs/versions"))
    parser.add_argument("--page", type=Path, required=True)
    given = parser.parse_args(arguments)
    kept_file = given.page.with_suffix(".jsonl")
    kept = {run.key: run for run in _read(kept_file)}
    wanted = [
        (scenario, versions)
        for scenario, versions in sample()
        if not given.only or given.only in versions
    ]
    made = []
    for scenario, versions in wanted:
        key = scenario, json.dumps(versions, sort_keys=True)
        if key in kept and not given.again:
            continue
        run = _run(scenario, versions, given.out)
        made.append(run)
        kept[key] = run
        print(f"{'  ' if run.expected else '! '}{_line(run)}", flush=True)
        order = [(s, json.dumps(v, sort_keys=True)) for s, v in sample()]
        told = [kept[each] for each in order if each in kept]
        kept_file.write_text("".join(json.dumps(asdict(each)) + "\n" for each in told))
        given.page.write_text(page(kept), encoding="utf-8")
    return 0 if all(run.expected for run in made) else 1


def _run(scenario: str, versions: Mapping[str, str], out: Path) -> Run:
    began = time.monotonic()
    call = command("run", scenario, "--seed", _SEED, "--out", str(out), *words(versions))
    try:
        done = subprocess.run(call, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        done = None
    seconds = time.monotonic() - began
    if done is None or not (report := _report_of(done.stdout)):
        error = (
            "not over in time" if done is None else (done.stderr.strip() or "?").splitlines()[-1]
        )
        return Run(
            scenario=scenario, versions=versions, claims={}, why=error[:300], seconds=seconds
        )
    claims = {c["name"]: [c["verdict"], c["expectation"]["verdict"]] for c in report["claims"]}
    wrong = [c for c in report["claims"] if not c["expected"]]
    why = f"{wrong[0]['name']}: {wrong[0]['reason']}"[:300] if wrong else ""
    return Run(scenario=scenario, versions=versions, claims=claims, why=why, seconds=seconds)


def _report_of(output: str) -> dict[str, Any] | None:
    for line in output.splitlines():
        if line.startswith("data "):
            found: dict[str, Any] = json.loads(Path(line.split(maxsplit=1)[1]).read_text())
            return found
    return None


def _read(file: Path) -> list[Run]:
    if not file.exists():
        return []
    return [Run(**json.loads(line)) for line in file.read_text().splitlines()]


def _line(run: Run) -> str:
    chosen = " ".join(f"{name}={version}" for name, version in run.versions.items())
    return f"{run.scenario:<32} {chosen:<36} {run.seconds:4.0f} s  {run.why or 'as expected'}"


_HEAD: Final = """<!-- Made by `make versions`; do not edit. -->

# Tried versions

A sample of scenarios in [chosen versions](../how-to/test-another-version.md), with seed 1, as it
came out. What is not named has its usual version. The verdicts are those of the scenario's claims,
in its order; ✗ marks a run whose verdicts differ from those that the scenario expects of the usual
version.

| scenario | versions | verdicts | |
| --- | --- | --- | --- |
"""


def page(kept: Mapping[tuple[str, str], Run]) -> str:
    """Return the page with all of the sample, given the runs that were made by their keys."""
    rows = []
    for scenario, chosen in sample():
        run = kept.get((scenario, json.dumps(chosen, sort_keys=True)))
        versions = ", ".join(f"{name} {version}" for name, version in chosen.items())
        verdicts, mark = "not run", ""
        if run is not None:
            verdicts = ", ".join(verdict for verdict, _ in run.claims.values()) or "none"
            mark = "✓" if run.expected else f"✗ {run.why}"
        rows.append(f"| `{scenario}` | {versions} | {verdicts} | {mark} |\n")
    return _HEAD + "".join(rows)


if __name__ == "__main__":
    sys.exit(main())
