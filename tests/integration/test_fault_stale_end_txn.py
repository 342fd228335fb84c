"""A delayed commit ends a later transaction of librdkafka."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from confluent_kafka import KafkaException

from onceproof.harness.faults.by_hand import asked
from onceproof.harness.kafka.coordinator import Refused
from onceproof.harness.kafka.features import finalize, finalized
from onceproof.harness.links.topology import AUDITOR
from tests.integration.faults import context
from tests.integration.staging import Staged, eventually
from tests.integration.test_fault_surgery import Hazards
from tests.integration.transactions import SECONDS, Background, Reader, producer, send

pytestmark = pytest.mark.integration

ALL = bool(os.environ.get("ONCEPROOF_FAULTS"))


@pytest.fixture
def version(staging: Staged) -> Iterator[Callable[[int], None]]:
    """Set the cluster's transaction version; it is restored at teardown."""
    brokers = staging.stage.bootstrap(AUDITOR)
    before = finalized(brokers.split(",")[0])
    yield lambda number: finalize(brokers, number)
    finalize(brokers, before)


def test_finalize_sets_transaction_version_on_every_broker(
    staging: Staged, version: Callable[[int], None]
) -> None:
    brokers = staging.stage.bootstrap(AUDITOR)
    for number in (1, 2, 1):
        version(number)
        assert [finalized(broker) for broker in brokers.split(",")] == [number] * 3
    with pytest.raises(Refused, match=r"setting transaction\.version to 99: "):
        version(99)


@pytest.mark.parametrize("number", [1, 2] if ALL else [1])
def test_late_commit_commits_records_that_the_owner_aborts(
    staging: Staged, topic: Callable[..., str], version: Callable[[int], None], number: int
) -> None:
    """Transaction version 2 does not prevent it: this client still sends the old EndTxn."""
    version(number)
    stage, name, hazards = staging.stage, topic(1), Hazards()
    world = replace(context(stage), recorder=hazards)  # type: ignore[arg-type]
    owner = producer(stage.bootstrap("producer"), f"owner-{name}")
    reader = Reader(stage.bootstrap(AUDITOR), name)
    fault = asked("stale-end-txn", [f"owner-{name}"]).inject(world, "late")
    try:
        assert fault.evidence() is None
        owner.begin_transaction()
        send(owner, name, "committed")
        first = Background(lambda: owner.commit_transaction(SECONDS))
        eventually(lambda: fault.evidence() or first.over, "a commit over another connection")
        assert first.wait() is None
        assert fault.evidence() is None, "nothing is late yet"
        assert fault.at is not None

        owner.begin_transaction()
        send(owner, name, "aborted by its owner")
        reader.shows("committed")
        second = Background(lambda: owner.abort_transaction(SECONDS))
        proof = eventually(fault.evidence, "the late commit and the abort to be answered")
    finally:
        fault.heal()
        fault.heal()
    assert "EndTxn request" in proof
    assert "the held commit was answered with no error, the later transaction's abort" in proof
    assert "INVALID_TXN_STATE" in proof
    error = second.wait()
    assert isinstance(error, KafkaException), "its abort cannot have succeeded"
    assert eventually(lambda: reader.all()[1:], "what was to be aborted, committed") == [
        "aborted by its owner"
    ]
    reader.close()
    assert hazards.seen == [("late-commit", "produce")]
    assert stage.disturbed() == {}
