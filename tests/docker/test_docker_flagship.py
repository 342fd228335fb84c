"""The flagship in containers: the verdicts that its scenarios expect, by the very same anomalies.

`make test` holds the local stage to the same expectation, so both backends
say the same. `ONCEPROOF_SEEDS=3 make test-docker` tries three seeds, and each on both.
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
from tests.docker.staging import of_run
from tests.end_to_end.command import Finished

SEEDS = os.environ.get("ONCEPROOF_SEEDS")
BACKENDS = ("docker", "local") if SEEDS else ("docker",)


class Of(NamedTuple):
    """A run that is over, and the process that it was."""

    process: int
    run: Finished


def onceproof(*arguments: str | Path) -> Of:
    """Run the command to its end, which on a busy machine takes minutes."""
    popen = subprocess.Popen(
        [sys.executable, "-m", "onceproof", *map(str, arguments)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    with popen:
        try:
            out, err = popen.communicate(timeout=800)
        except BaseException:
            popen.terminate()  # it takes its stage down with it
            raise
    return Of(popen.pid, Finished(popen.returncode, out, err))


def told(run: Finished) -> dict[str, tuple[str, frozenset[str]]]:
    """Claim → (verdict, anomalies that refute it)."""
    return {
        claim["name"]: (claim["verdict"], frozenset(claim["refuted_by"]))
        for claim in run.report["claims"]
    }


@pytest.mark.slow
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("seed", range(1, 1 + int(SEEDS or "1")))
@pytest.mark.parametrize("scenario", flagship(), ids=lambda scenario: scenario.name)
def test_the_same_verdicts(scenario: Scenario, seed: int, backend: str, tmp_path: Path) -> None:
    process, done = onceproof(
        "run", scenario.name, "--seed", str(seed), "--backend", backend, "--out", tmp_path
    )
    assert done.code == 0, done.out + done.err
    assert told(done) == {
        claim.name: (claim.expect.verdict, claim.expect.anomalies)
        for claim in scenario.claims
        if claim.expect is not None
    }
    took_effect = {fault["fault"]: fault["took_effect"] for fault in done.report["faults"]}
    assert took_effect == {at.name: True for at in scenario.schedule}
    assert done.report["run"]["configuration"]["backend"] == backend
    logs = {log.name for log in (done.folder / "logs").iterdir()}
    assert {"broker-1.1.log", "toxiproxy.1.log", "postgres.1.log"} <= logs
    assert of_run(process) == []
