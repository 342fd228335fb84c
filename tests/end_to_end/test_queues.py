"""Queues: JMS forwarders and senders, with broken twins.

A run takes twenty seconds. Every build runs one forwarder and its broken twin, `make test-faults`
runs all.
"""

from __future__ import annotations

import os

import pytest

from onceproof.scenarios import queues
from tests.end_to_end.catalogue import assert_verdicts_match_expectation

ALWAYS = frozenset({"jms-forwarder-transacted", "jms-forwarder-client"})
pytestmark = pytest.mark.integration


@pytest.mark.parametrize("scenario", queues.SCENARIOS, ids=lambda scenario: scenario.name)
def test_verdicts_match_expectation(scenario, runs):
    if scenario.name not in ALWAYS and "ONCEPROOF_FAULTS" not in os.environ:
        pytest.skip("make test-faults tries it")
    assert_verdicts_match_expectation(scenario, runs)
