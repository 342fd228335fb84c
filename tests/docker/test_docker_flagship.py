"""Flagship scenarios in containers yield the expected verdicts and anomalies.

`make test` checks the local stage against the same expectations.
`ONCEPROOF_SEEDS=3 make test-docker` tries three seeds, each on both backends.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from onceproof.harness.schedule.scenario import Scenario
from onceproof.scenarios import flagship
from tests.docker.staging import resources_of_run
from tests.end_to_end.command import Finished

SEEDS = os.environ.get("ONCEPROOF_SEEDS")
BACKENDS = ("docker", "local") if SEEDS else ("docker",)


class FinishedProcess(NamedTuple):
    """A finished run and its process id."""

    process: int
    run: Finished


def onceproof(*arguments: str | Path) -> FinishedProcess:
    """Run the command to its end, which can take minutes."""
    popen = subprocess.Popen(
        [sys.executable, "-m", "onceproof", *map(str, arguments)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    with popen:
        try:
            out, err = popen.communicate(timeout=800)
        except BaseException:
            popen.terminate()  # it stops its stage
            raise
    return FinishedProcess(popen.pid, Finished(popen.returncode, out, err))


def verdicts(run: Finished) -> dict[str, tuple[str, frozenset[str]]]:
    """Claim → (verdict, anomalies that refute it)."""
    return {
        claim["name"]: (claim["verdict"], frozenset(claim["refuted_by"]))
        for claim in run.report["claims"]
    }


@pytest.mark.slow
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("seed", range(1, 1 + int(SEEDS or "1")))
@pytest.mark.parametrize("scenario", flagship(), ids=lambda scenario: scenario.name)
def test_flagship_verdicts_match_expectation(
    scenario: Scenario, seed: int, backend: str, tmp_path: Path
) -> None:
    process, done = onceproof(
        "run", scenario.name, "--seed", str(seed), "--backend", backend, "--out", tmp_path
    )
    assert done.code == 0, done.out + done.err
    assert verdicts(done) == {
        claim.name: (claim.expect.verdict, claim.expect.anomalies)
        for claim in scenario.claims
        if claim.expect is not None
    }
    took_effect = {fault["fault"]: fault["took_effect"] for fault in done.report["faults"]}
    assert took_effect == {at.name: True for at in scenario.schedule}
    assert done.report["run"]["configuration"]["backend"] == backend
    logs = {log.name for log in (done.folder / "logs").iterdir()}
    assert {"broker-1.1.log", "toxiproxy.1.log", "postgres.1.log"} <= logs
    assert resources_of_run(process) == []
