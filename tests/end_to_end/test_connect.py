"""Kafka Connect: exactly-once sources with broken twins, and a sink.

A run takes up to a minute and downloads Connect's jars, so only `make test-faults` runs them; every
build tests our code (`tests/unit/harness/subjects/connect/`).
"""

from __future__ import annotations

import pytest

from onceproof.scenarios import connect
from tests.end_to_end.catalogue import MINUTES, assert_verdicts_match_expectation

pytestmark = MINUTES


@pytest.mark.parametrize("scenario", connect.SCENARIOS, ids=lambda scenario: scenario.name)
def test_verdicts_match_expectation(scenario, runs):
    assert_verdicts_match_expectation(scenario, runs)
