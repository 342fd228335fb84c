"""Spark queries that are restarted, or share a driver, with broken twins.

Spark takes long to restart, so only `make test-faults` runs them.
"""

from __future__ import annotations

import pytest

from onceproof.scenarios import spark_triggers
from tests.end_to_end.catalogue import MINUTES, assert_verdicts_match_expectation

pytestmark = MINUTES


@pytest.mark.parametrize(
    "scenario", spark_triggers.SCENARIOS, ids=lambda scenario: str(scenario.name)
)
def test_verdicts_match_expectation(scenario, runs):
    assert_verdicts_match_expectation(scenario, runs)
