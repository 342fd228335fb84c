"""Apache Flink killed around its checkpoints, with broken twins.

A run takes up to a minute, and the first one downloads Flink, so only `make test-faults` runs them;
every build tests the job with hand-made checkpoints
(`tests/unit/harness/subjects/flink/test_job.py`).
"""

from __future__ import annotations

import pytest

from onceproof.scenarios import flink
from tests.end_to_end.catalogue import MINUTES, assert_verdicts_match_expectation

pytestmark = MINUTES


@pytest.mark.parametrize("scenario", flink.SCENARIOS, ids=lambda scenario: scenario.name)
def test_verdicts_match_expectation(scenario, runs):
    assert_verdicts_match_expectation(scenario, runs)
