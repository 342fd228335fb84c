"""A scenario of the catalogue run by the command, and what it came to beside what is expected."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from onceproof.harness.schedule.scenario import Scenario
from tests.end_to_end.command import onceproof

LATER = pytest.mark.skipif(
    not os.environ.get("ONCEPROOF_FAULTS"), reason="make test-faults tries it"
)
"""Mark of a test for which a build has no time."""
MINUTES = [pytest.mark.integration, pytest.mark.slow, LATER]
"""Marks of tests that run scenario after scenario, up to a minute each."""


def comes_to_what_is_expected(scenario: Scenario, runs: Path, seed: int = 3) -> None:
    """Run it, and compare the verdict of every claim; each fault must have taken effect."""
    done = onceproof("run", scenario.name, "--seed", seed, "--out", runs)
    assert done.code == 0, done.out + done.err
    expected = {c.name: str(c.expect.verdict) for c in scenario.claims if c.expect is not None}
    assert done.verdicts() == expected
    assert all(fault["evidence"] for fault in done.report["faults"])
