"""Runs that must not end in `holds`, whatever the pipeline does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.command import Finished, onceproof

pytestmark = [pytest.mark.integration, pytest.mark.slow]


def record(run: Finished) -> dict[str, Any]:
    return json.loads((run.folder / "run.json").read_text())


@pytest.fixture(scope="module")
def toothless(runs: Path) -> Finished:
    return onceproof("run", "control-toothless-fault", "--seed", "1", "--out", runs)


def test_a_fault_that_bites_nothing_makes_the_run_invalid_and_is_named(toothless):
    (claim,) = toothless.report["claims"]
    assert claim["verdict"] == "invalid"
    assert "unused link cut" in claim["reason"]
    assert toothless.code == 0  # as that scenario expects


def test_a_replay_does_the_same_again(toothless, runs):
    again = onceproof("replay", toothless.folder, "--out", runs)
    assert again.folder != toothless.folder
    assert (again.code, again.verdicts()) == (0, toothless.verdicts())
    for same in ("scenario", "seed", "schedule", "plan", "claims", "workload"):
        assert record(again)[same] == record(toothless)[same]


def test_a_history_of_nothing_is_invalid(runs):
    done = onceproof("run", "control-nothing-sent", "--seed", "1", "--out", runs)
    (claim,) = done.report["claims"]
    assert claim["verdict"] == "invalid"
    assert claim["reason"] == "Nothing was read from the log of payments."
    assert not [mutation for mutation in done.report["mutation_check"] if mutation["found"]]
