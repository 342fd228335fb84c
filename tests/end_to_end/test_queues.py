"""Queues and streams: forwarders and senders of all queue brokers, with broken twins.

A run takes twenty seconds. Every build runs a forwarder that holds and a broken twin,
`make test-faults` runs all.
"""

from __future__ import annotations

import os

import pytest

from onceproof.scenarios import jetstream, queues, valkey
from tests.end_to_end.catalogue import assert_verdicts_match_expectation

EVERY = (*queues.SCENARIOS, *jetstream.SCENARIOS, *valkey.SCENARIOS)
ALWAYS = frozenset({"jetstream-forwarder-client", "valkey-forwarder-scripted"})
pytestmark = pytest.mark.integration


@pytest.mark.parametrize("scenario", EVERY, ids=lambda scenario: scenario.name)
def test_verdicts_match_expectation(scenario, runs):
    if scenario.name not in ALWAYS and "ONCEPROOF_FAULTS" not in os.environ:
        pytest.skip("make test-faults tries it")
    assert_verdicts_match_expectation(scenario, runs)
