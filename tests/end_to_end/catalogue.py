"""Runs a built-in scenario with the command and compares its verdicts with the expected ones."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from onceproof.harness.schedule.scenario import Scenario
from tests.end_to_end.command import onceproof

LATER = pytest.mark.skipif(
    not os.environ.get("ONCEPROOF_FAULTS"), reason="make test-faults tries it"
)
"""Mark of tests that are too slow for every build."""
MINUTES = [pytest.mark.integration, pytest.mark.slow, LATER]
"""Marks of tests that run scenario after scenario, up to a minute each."""


def assert_verdicts_match_expectation(scenario: Scenario, runs: Path, seed: int = 3) -> None:
    """Run a scenario; every verdict must match, and every fault must have taken effect."""
    done = onceproof("run", scenario.name, "--seed", seed, "--out", runs)
    assert done.code == 0, done.out + done.err
    expected = {c.name: str(c.expect.verdict) for c in scenario.claims if c.expect is not None}
    assert done.verdicts() == expected
    assert all(fault["evidence"] for fault in done.report["faults"])
