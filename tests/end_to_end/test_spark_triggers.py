"""Queries that end and are started again, and two in one driver: each twin caught.

Restarts of Spark take their time, so `make test-faults` tries them.
"""

from __future__ import annotations

import pytest

from onceproof.scenarios import spark_triggers
from tests.end_to_end.catalogue import MINUTES, comes_to_what_is_expected

pytestmark = MINUTES


@pytest.mark.parametrize(
    "scenario", spark_triggers.SCENARIOS, ids=lambda scenario: str(scenario.name)
)
def test_it_comes_to_what_is_expected(scenario, runs):
    comes_to_what_is_expected(scenario, runs)
