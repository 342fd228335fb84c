"""Idempotent and transactional producers of each client, with broken twins.

A run takes up to a minute, so only `make test-faults` runs them; every build tests the clients
(`tests/integration/test_senders.py`).
"""

from __future__ import annotations

import pytest

from onceproof.scenarios import idempotent_producers, transactional_producers
from tests.end_to_end.catalogue import MINUTES, assert_verdicts_match_expectation

pytestmark = MINUTES
SCENARIOS = (*idempotent_producers.SCENARIOS, *transactional_producers.SCENARIOS)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_verdicts_match_expectation(scenario, runs):
    assert_verdicts_match_expectation(scenario, runs)
