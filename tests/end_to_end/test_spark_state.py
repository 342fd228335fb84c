"""PySpark's stateful operators: what is written of their state, each killed where it hurts most.

Restarts of Spark take their time, so `make test-faults` tries them.
"""

from __future__ import annotations

import pytest

from onceproof.scenarios import spark_state
from tests.end_to_end.catalogue import MINUTES, comes_to_what_is_expected

pytestmark = MINUTES


@pytest.mark.parametrize("scenario", spark_state.SCENARIOS, ids=lambda scenario: scenario.name)
def test_it_comes_to_what_is_expected(scenario, runs):
    comes_to_what_is_expected(scenario, runs)
