"""Kafka Connect: its exactly-once sources under what hurts them most, each broken twin, and a sink.

A run takes up to a minute and fetches Connect's jars, so `make test-faults`
tries them; every build tests what is ours in them (`tests/unit/harness/subjects/connect/`).
"""

from __future__ import annotations

import pytest

from onceproof.scenarios import connect
from tests.end_to_end.catalogue import MINUTES, comes_to_what_is_expected

pytestmark = MINUTES


@pytest.mark.parametrize("scenario", connect.SCENARIOS, ids=lambda scenario: scenario.name)
def test_it_comes_to_what_is_expected(scenario, runs):
    comes_to_what_is_expected(scenario, runs)
