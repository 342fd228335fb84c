"""Checkpoints cut open, rows and executors hit: whole runs, each with figures that must agree.

Each starts Spark, mostly twice, and takes a minute, so it is
`make test-faults` that tries them.
"""

from __future__ import annotations

import re

import pytest

from tests.end_to_end.catalogue import LATER
from tests.end_to_end.command import Finished, onceproof

pytestmark = [
    pytest.mark.integration,
    pytest.mark.slow,
    pytest.mark.timeout(900),
    LATER,
]


def tried(runs, name: str) -> tuple[Finished, str]:
    """A run that came out as expected, and the evidence of its only fault."""
    done = onceproof("run", name, "--seed", "3", "--out", runs, timeout=800)
    assert done.code == 0, done.out + done.err
    (fault,) = done.report["faults"]
    assert fault["took_effect"]
    assert fault["healed_at"] is not None
    return done, fault["evidence"]


def count(done: Finished, anomaly: str) -> int:
    return sum(g["count"] for g in done.report["findings"] if g["anomaly"] == anomaly)


def test_a_commit_that_is_lost(runs):
    done, evidence = tried(runs, "commit-lost-kafka")
    present, planned = map(int, re.findall(r"sink had (\d+) of its (\d+) records", evidence)[0])
    assert planned == present > 0
    assert count(done, "duplicate-output") == planned, "every record of that batch, and no other"


def test_a_commit_that_is_lost_where_the_table_knows_its_batches(runs):
    done, _ = tried(runs, "commit-lost-postgres")
    assert set(done.verdicts().values()) == {"holds"}


def test_a_plan_that_is_lost(runs):
    done, evidence = tried(runs, "offsets-lost-postgres")
    assert set(done.verdicts().values()) == {"unknown"}
    assert "offset log and commit log now end with" in evidence
    assert count(done, "lost-output") > 0, "the guard skips what is new in a batch of that number"


def test_a_plan_that_is_torn(runs):
    done, evidence = tried(runs, "offsets-torn-postgres")
    assert set(done.verdicts().values()) == {"holds"}
    assert re.search(
        r"from \d+ to \d+ bytes, .* the next driver exited by itself, .*«.+»", evidence
    )


def test_a_new_checkpoint(runs):
    done, evidence = tried(runs, "spark-behind-ledger")
    assert set(done.verdicts().values()) == {"holds"}
    assert "was replaced by an empty one" in evidence


def test_a_new_checkpoint_where_batches_are_known_by_their_numbers(runs):
    done, evidence = tried(runs, "spark-behind-ledger-batch-id")
    assert set(done.verdicts().values()) == {"violated"}
    assert "was replaced by an empty one" in evidence
    assert count(done, "lost-output") > 0


def test_a_driver_killed_at_a_row(runs):
    done, evidence = tried(runs, "crash-at-row-postgres")
    assert set(done.verdicts().values()) == {"holds"}
    assert re.search(r"written 7 of the \d+ rows .*; the sink showed 0 of them", evidence)


def test_executors_killed(runs):
    done, evidence = tried(runs, "executors-killed-kafka")
    assert re.search(r"executor 0, executor 1 .* exited with code 137", evidence)
    assert count(done, "duplicate-output") > 0
    (driver,) = [p for p in done.report["timeline"]["pipeline"] if p["subject"] == "driver"]
    assert len(driver["lives"]) == 1, "the driver lives on"
    assert {h["hazard"] for h in done.report["hazards"]} == {"retried-task"}


@pytest.mark.parametrize(
    ("name", "answers"),
    [
        ("late-commit-java-2", r"answered with PRODUCER_FENCED, .* abort with no error"),
        ("late-commit-java-1", r"answered with no error, .* abort with INVALID_TXN_STATE"),
        ("late-commit-librdkafka-2", r"answered with no error, .* abort with INVALID_TXN_STATE"),
        ("late-commit-librdkafka-1", r"answered with no error, .* abort with INVALID_TXN_STATE"),
    ],
)
def test_a_commit_that_comes_late(runs, name, answers):
    done, evidence = tried(runs, name)
    assert re.search(answers, evidence)
    # A transaction has six records. What readers got of it was to be aborted by its owner.
    seen = count(done, "precommitted-read")
    assert seen == 0 if name == "late-commit-java-2" else 0 < seen <= 6
