"""Kafka's own claims: each client under what hurts it most, and each broken twin caught.

The one thing to know: a run takes up to a minute, so `make test-faults` tries them; every
build has the clients themselves (`tests/integration/test_senders.py`).
"""

from __future__ import annotations

import os

import pytest

from scenarios import idempotent_producers, transactional_producers
from tests.end_to_end.command import onceproof

pytestmark = [
    pytest.mark.integration,
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.skipif(not os.environ.get("ONCEPROOF_FAULTS"), reason="make test-faults tries it"),
]
SCENARIOS = (*idempotent_producers.SCENARIOS, *transactional_producers.SCENARIOS)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_it_comes_to_what_is_expected(scenario, runs):
    done = onceproof("run", scenario.name, "--seed", "3", "--out", runs, timeout=280)
    assert done.code == 0, done.out + done.err
    expected = {claim.name: str(claim.expect.verdict) for claim in scenario.claims}
    assert done.verdicts() == expected
    assert all(fault["evidence"] for fault in done.report["faults"])
