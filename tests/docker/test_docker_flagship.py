"""The flagship on both backends: the same verdicts, by the same anomalies.

The one thing to know: `ONCEPROOF_SEEDS=3 make test-docker` tries three seeds instead of one.
"""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from scenarios import flagship
from tests.docker.staging import labelled
from tests.end_to_end.command import Finished

BACKENDS = ("docker", "local")
SEEDS = range(1, 1 + int(os.environ.get("ONCEPROOF_SEEDS", "1")))


def onceproof(*arguments: str | Path) -> Finished:
    """Run the command to its end, which on a busy machine takes minutes."""
    done = subprocess.run(
        [sys.executable, "-m", "onceproof", *map(str, arguments)],
        capture_output=True, text=True, timeout=800,
    )  # fmt: skip
    return Finished(done.returncode, done.stdout, done.stderr)


def told(run: Finished) -> dict[str, tuple[str, frozenset[str]]]:
    """Claim → (verdict, anomalies that refute it)."""
    return {
        claim["name"]: (claim["verdict"], frozenset(claim["refuted_by"]))
        for claim in run.report["claims"]
    }


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("scenario", [scenario.name for scenario in flagship()])
def test_the_same_verdicts_on_both(scenario: str, seed: int, tmp_path: Path) -> None:
    before = labelled()

    def tried(backend: str) -> Finished:
        return onceproof(
            "run", scenario, "--seed", str(seed), "--backend", backend, "--out", tmp_path / backend
        )

    # Side by side: each waits most of the time, for time-outs and for its driver to come back.
    with ThreadPoolExecutor(2) as pool:
        runs = dict(zip(BACKENDS, pool.map(tried, BACKENDS), strict=True))
    for done in runs.values():
        assert done.code == 0, done.out + done.err
    assert told(runs["docker"]) == told(runs["local"])
    faults = {
        backend: {fault["fault"]: fault["bit"] for fault in run.report["faults"]}
        for backend, run in runs.items()
    }
    assert faults["docker"] == faults["local"]
    assert all(faults["docker"].values())
    logs = {log.name for log in (runs["docker"].folder / "logs").iterdir()}
    assert {"broker-1.1.log", "toxiproxy.1.log", "postgres.1.log"} <= logs
    assert runs["docker"].report["run"]["configuration"]["backend"] == "docker"
    assert labelled() == before
