"""Consumers with a database: their offsets in it, or durable workflows; with broken twins.

A run takes up to a minute, so only `make test-faults` runs them; every build tests the consumers
(`tests/integration/test_stored_offsets.py`).
"""

from __future__ import annotations

import pytest

from onceproof.scenarios import durable, stored_offsets
from tests.end_to_end.catalogue import MINUTES, assert_verdicts_match_expectation

pytestmark = MINUTES


@pytest.mark.parametrize(
    "scenario",
    [*stored_offsets.SCENARIOS, *durable.SCENARIOS],
    ids=lambda scenario: str(scenario.name),
)
def test_verdicts_match_expectation(scenario, runs):
    assert_verdicts_match_expectation(scenario, runs)
