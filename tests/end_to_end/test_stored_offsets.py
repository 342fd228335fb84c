"""Consumers with their offsets in a database: under what hurts them most, and each twin caught.

A run takes up to a minute, so `make test-faults` tries them; every build has
the consumers themselves (`tests/integration/test_stored_offsets.py`).
"""

from __future__ import annotations

import pytest

from onceproof.scenarios import stored_offsets
from tests.end_to_end.catalogue import MINUTES, comes_to_what_is_expected

pytestmark = MINUTES


@pytest.mark.parametrize(
    "scenario", stored_offsets.SCENARIOS, ids=lambda scenario: str(scenario.name)
)
def test_it_comes_to_what_is_expected(scenario, runs):
    comes_to_what_is_expected(scenario, runs)
