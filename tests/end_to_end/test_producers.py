"""Kafka's own claims: each client under what hurts it most, and each broken twin caught.

A run takes up to a minute, so `make test-faults` tries them; every
build has the clients themselves (`tests/integration/test_senders.py`).
"""

from __future__ import annotations

import pytest

from onceproof.scenarios import idempotent_producers, transactional_producers
from tests.end_to_end.catalogue import MINUTES, comes_to_what_is_expected

pytestmark = MINUTES
SCENARIOS = (*idempotent_producers.SCENARIOS, *transactional_producers.SCENARIOS)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_it_comes_to_what_is_expected(scenario, runs):
    comes_to_what_is_expected(scenario, runs)
