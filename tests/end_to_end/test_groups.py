"""Consumer groups, Spring and stream libraries, with broken twins.

A run takes up to a minute, so only `make test-faults` runs them; every build tests the members
(`tests/integration/test_group_members.py`, `test_java_member.py`).
"""

from __future__ import annotations

import pytest

from onceproof.scenarios import groups, groups_twins, spring, streams
from tests.end_to_end.catalogue import MINUTES, assert_verdicts_match_expectation

pytestmark = MINUTES
SCENARIOS = (
    *groups.SCENARIOS,
    *groups_twins.SCENARIOS,
    *streams.SCENARIOS,
    *spring.SCENARIOS,
)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_verdicts_match_expectation(scenario, runs):
    assert_verdicts_match_expectation(scenario, runs)
