"""Consumer groups and Kafka Streams: each under what hurts it most, and each broken twin caught.

A run takes up to a minute, so `make test-faults` tries them; every build has
the members themselves (`tests/integration/test_group_members.py`, `test_java_member.py`).
"""

from __future__ import annotations

import pytest

from onceproof.scenarios import groups, groups_twins, streams
from tests.end_to_end.catalogue import MINUTES, comes_to_what_is_expected

pytestmark = MINUTES
SCENARIOS = (*groups.SCENARIOS, *groups_twins.SCENARIOS, *streams.SCENARIOS)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_it_comes_to_what_is_expected(scenario, runs):
    comes_to_what_is_expected(scenario, runs)
