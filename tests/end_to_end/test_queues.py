"""Queues: forwarders and senders by JMS under what hurts them most, and each broken twin.

A run takes twenty seconds. A pair of them, a forwarder that keeps its claim
and its twin, is tried in every build, and all of them by `make test-faults`.
"""

from __future__ import annotations

import os

import pytest

from onceproof.scenarios import queues
from tests.end_to_end.catalogue import comes_to_what_is_expected

ALWAYS = frozenset({"jms-forwarder-transacted", "jms-forwarder-client"})
pytestmark = pytest.mark.integration


@pytest.mark.parametrize("scenario", queues.SCENARIOS, ids=lambda scenario: scenario.name)
def test_it_comes_to_what_is_expected(scenario, runs):
    if scenario.name not in ALWAYS and "ONCEPROOF_FAULTS" not in os.environ:
        pytest.skip("make test-faults tries it")
    comes_to_what_is_expected(scenario, runs)
