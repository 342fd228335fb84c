"""Manipulated checkpoints, kills at a row, killed executors and late commits.

Most runs start Spark twice and take a minute, so only `make test-faults` runs them.
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


def run_scenario(runs, name: str) -> tuple[Finished, str]:
    """A run with the expected verdicts, and the evidence of its only fault."""
    done = onceproof("run", name, "--seed", "3", "--out", runs, timeout=800)
    assert done.code == 0, done.out + done.err
    (fault,) = done.report["faults"]
    assert fault["took_effect"]
    assert fault["healed_at"] is not None
    return done, fault["evidence"]


def count(done: Finished, anomaly: str) -> int:
    return sum(g["count"] for g in done.report["findings"] if g["anomaly"] == anomaly)


def test_lost_commit_duplicates_the_batch_in_kafka(runs):
    done, evidence = run_scenario(runs, "commit-lost-kafka")
    present, planned = map(int, re.findall(r"sink had (\d+) of its (\d+) records", evidence)[0])
    assert planned == present > 0
    assert count(done, "duplicate-output") == planned, "every record of that batch, and no other"


def test_lost_commit_is_harmless_with_batch_numbers_in_the_table(runs):
    done, _ = run_scenario(runs, "commit-lost-postgres")
    assert set(done.verdicts().values()) == {"holds"}


def test_lost_offset_log_entry_loses_output_and_leaves_claims_unknown(runs):
    done, evidence = run_scenario(runs, "offsets-lost-postgres")
    assert set(done.verdicts().values()) == {"unknown"}
    assert "offset log and commit log now end with" in evidence
    assert count(done, "lost-output") > 0, "the guard skips what is new in a batch of that number"


def test_torn_offset_log_entry_is_harmless(runs):
    done, evidence = run_scenario(runs, "offsets-torn-postgres")
    assert set(done.verdicts().values()) == {"holds"}
    assert re.search(
        r"from \d+ to \d+ bytes, .* the next driver exited by itself, .*«.+»", evidence
    )


def test_empty_checkpoint_is_harmless_for_a_ledger(runs):
    done, evidence = run_scenario(runs, "spark-behind-ledger")
    assert set(done.verdicts().values()) == {"holds"}
    assert "was replaced by an empty one" in evidence


def test_empty_checkpoint_loses_output_with_batch_numbers(runs):
    done, evidence = run_scenario(runs, "spark-behind-ledger-batch-id")
    assert set(done.verdicts().values()) == {"violated"}
    assert "was replaced by an empty one" in evidence
    assert count(done, "lost-output") > 0


def test_rows_before_a_driver_kill_are_not_visible(runs):
    done, evidence = run_scenario(runs, "crash-at-row-postgres")
    assert set(done.verdicts().values()) == {"holds"}
    assert re.search(r"written 7 of the \d+ rows .*; the sink showed 0 of them", evidence)


def test_killed_executors_retry_tasks_and_duplicate_output(runs):
    done, evidence = run_scenario(runs, "executors-killed-kafka")
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
def test_late_commit_takes_effect_unless_fenced(runs, name, answers):
    done, evidence = run_scenario(runs, name)
    assert re.search(answers, evidence)
    # A transaction has six records, and readers got those that its owner wanted to abort.
    early_reads = count(done, "precommitted-read")
    assert early_reads == 0 if name == "late-commit-java-2" else 0 < early_reads <= 6
