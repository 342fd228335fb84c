"""What else PySpark writes to, and how it reads: each where it hurts most, each twin caught.

Restarts of Spark take their time, so `make test-faults` tries them.
"""

from __future__ import annotations

import re

import pytest

from onceproof.scenarios import spark_sinks
from tests.end_to_end.catalogue import MINUTES, comes_to_what_is_expected
from tests.end_to_end.command import onceproof

pytestmark = MINUTES
FILES, *OTHERS = spark_sinks.SCENARIOS


@pytest.mark.parametrize("scenario", OTHERS, ids=lambda scenario: scenario.name)
def test_it_comes_to_what_is_expected(scenario, runs):
    comes_to_what_is_expected(scenario, runs)


def test_a_listing_shows_what_the_log_does_not(runs):
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
    # What its own log had when the driver died is not written again.
    (group,) = [g for g in done.report["findings"] if g["anomaly"] == "duplicate-output"]
    assert group["count"] == present["during-sink-write"] + present["before-sink-commit"]
