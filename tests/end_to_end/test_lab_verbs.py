"""Parts of real pipelines stopped and paused by hand.

A run takes minutes, so only `make test-faults` runs them; every build tests the same faults on fake
pipelines (`tests/unit/harness/test_faults_*.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.end_to_end.catalogue import MINUTES
from tests.end_to_end.command import onceproof
from tests.end_to_end.test_lab import up

pytestmark = [*MINUTES, pytest.mark.timeout(900)]


@pytest.mark.parametrize(
    ("subject", "faults"),
    [
        (
            "kafka-connect-file-source-quiet",
            {
                "stop connect-task-owner": "exited with 143; worker-",
                "stop connect-workers": "exited with 143; worker-1#",
                "pause connect-workers": "and no offset was committed",
            },
        ),
        (
            "flink-quiet",
            {
                "stop flink-job": "exited with 143: SIGTERM by fault",
                "pause flink-job": "and no checkpoint was completed",
            },
        ),
        (
            "executors-killed-kafka",
            {
                "stop executor": "exited with code 143",
                "pause executors": "was not committed for",
            },
        ),
        ("jms-forwarder-transacted-quiet", {"stop forwarder-0": ": SIGTERM by fault"}),
        ("amqp-forwarder-transacted", {"stop forwarder-0": "ended by signal 15: SIGTERM"}),
    ],
)
def test_stop_and_pause_take_effect_and_heal(
    tmp_path: Path, subject: str, faults: Mapping[str, str]
) -> None:
    with up("verbs", tmp_path, of=(subject, "--seed", "3")) as lab:
        by_name = ("--lab", lab.name)
        for words, evidence in faults.items():
            done = onceproof("fault", *words.split(), *by_name)
            assert done.code == 0, done.out + done.err
            name = done.out.partition(":")[0]
            lab.wait_until_took_effect(name)
            assert evidence in lab.fault(name)["detail"]
            done = onceproof("heal", name, *by_name)
            assert done.code == 0, done.out + done.err
        assert onceproof("end", *by_name).code == 0
        done = lab.process.finish()
        # Spark's Kafka sink is at-least-once: a lost task sends again.
        bad = {
            (claim.split()[0], verdict)
            for claim, verdict in done.verdicts().items()
            if verdict in ("violated", "invalid", "stalled")
        }
        assert bad <= ({("exactly-once", "violated")} if "executor" in str(faults) else set())
