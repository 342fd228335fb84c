"""The driver killed exactly at each crash point of a micro-batch.

Spark takes minutes to restart, so only `make test-faults` runs this.
"""

from __future__ import annotations

import re

import pytest

from tests.end_to_end.catalogue import LATER
from tests.end_to_end.command import onceproof

pytestmark = [
    pytest.mark.integration,
    pytest.mark.slow,
    pytest.mark.timeout(900),
    LATER,
]


def test_driver_is_killed_at_every_crash_point(runs):
    done = onceproof("run", "crash-points-kafka", "--seed", "1", "--out", runs, timeout=800)
    assert done.code == 0, done.out + done.err
    sink = "payments-with-fees"
    assert done.verdicts() == {
        f"at-least-once payments → {sink}": "holds",
        f"exactly-once payments → {sink}": "violated",
    }
    seen = {}
    for fault in done.report["faults"]:
        evidence = fault["evidence"]
        present, planned = map(int, re.findall(r"sink had (\d+) of the (\d+) records", evidence)[0])
        seen[fault["fault"].removeprefix("killed ")] = (
            present,
            planned,
            "had no commit" in evidence,
        )
    assert all(planned for _, planned, _ in seen.values())
    assert list(seen) == [
        "after-offset-log", "during-sink-write", "after-sink-write", "after-commit"
    ]  # fmt: skip
    present, _, no_commit = seen["after-offset-log"]
    assert (present, no_commit) == (0, True)
    present, planned, no_commit = seen["during-sink-write"]
    assert (0 < present < planned, no_commit) == (True, True)
    for name, uncommitted in (("after-sink-write", True), ("after-commit", False)):
        present, planned, no_commit = seen[name]
        assert (present, no_commit) == (planned, uncommitted)
    # Only records that were in the sink before the commit are duplicated.
    (group,) = [g for g in done.report["findings"] if g["anomaly"] == "duplicate-output"]
    assert group["count"] == seen["during-sink-write"][0] + seen["after-sink-write"][0]


@pytest.mark.parametrize(
    ("scenario", "verdict", "anomalies"),
    [
        ("crash-in-state-commit", "holds", set()),
        ("crash-in-state-commit-home-made", "violated", {"state-mismatch"}),
    ],
)
def test_driver_is_killed_during_a_state_commit(runs, scenario, verdict, anomalies):
    done = onceproof("run", scenario, "--seed", "1", "--out", runs, timeout=800)
    assert done.code == 0, done.out + done.err
    assert done.verdicts() == {"exactly-once payments → balances": verdict}
    (fault,) = done.report["faults"]
    written, partitions = map(
        int, re.findall(r"(\d+) of (\d+) state partitions had", fault["evidence"])[0]
    )
    assert 0 < written < partitions
    assert "had no commit" in fault["evidence"]
    assert {group["anomaly"] for group in done.report["findings"]} == anomalies
