"""Apache Flink under kills at the ends of its checkpoints, and each broken twin caught.

A run takes up to a minute, and the first one fetches Flink, so it is
`make test-faults` that tries them; every build has the job's lives with checkpoints made by hand
(`tests/unit/harness/subjects/flink/test_job.py`).
"""

from __future__ import annotations

import pytest

from onceproof.scenarios import flink
from tests.end_to_end.catalogue import MINUTES, comes_to_what_is_expected

pytestmark = MINUTES


@pytest.mark.parametrize("scenario", flink.SCENARIOS, ids=lambda scenario: scenario.name)
def test_it_comes_to_what_is_expected(scenario, runs):
    comes_to_what_is_expected(scenario, runs)
