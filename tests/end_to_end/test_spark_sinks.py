"""Other sinks and sources of PySpark, with broken twins.

Spark takes long to restart, so only `make test-faults` runs them.
"""

from __future__ import annotations

import re

import pytest

from onceproof.scenarios import spark_sinks
from tests.end_to_end.catalogue import MINUTES, assert_verdicts_match_expectation
from tests.end_to_end.command import onceproof

pytestmark = MINUTES
FILES, *OTHERS = spark_sinks.SCENARIOS


@pytest.mark.parametrize("scenario", OTHERS, ids=lambda scenario: scenario.name)
def test_verdicts_match_expectation(scenario, runs):
    assert_verdicts_match_expectation(scenario, runs)


def test_directory_listing_has_duplicates_that_the_sink_log_omits(runs):
    done = onceproof("run", FILES.name, "--seed", "3", "--out", runs)
    assert done.code == 0, done.out + done.err
    assert done.verdicts() == {
        "at-least-once payments → files": "holds",
        "exactly-once payments → files": "holds",
        "at-least-once payments → directory": "holds",
        "exactly-once payments → directory": "violated",
    }
    present = {}
    for fault in done.report["faults"]:
        seen, planned = map(
            int, re.findall(r"sink had (\d+) of the (\d+) records", fault["evidence"])[0]
        )
        present[fault["fault"].removeprefix("killed ")] = seen
        assert seen <= planned
    assert list(present) == ["during-sink-write", "before-sink-commit", "after-sink-write"]
    # Files in the sink's own log when the driver died are not written again.
    (group,) = [g for g in done.report["findings"] if g["anomaly"] == "duplicate-output"]
    assert group["count"] == present["during-sink-write"] + present["before-sink-commit"]
