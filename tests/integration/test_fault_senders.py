"""Faults that hit producers: withheld responses, leaders ahead of followers, zombies, signals."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from onceproof.harness.clock import now
from onceproof.harness.context.run_context import Collected, RunContext
from onceproof.harness.faults.by_hand import asked
from onceproof.harness.faults.kill import Kill
from onceproof.harness.faults.links.unanswered import LeaveUnanswered
from onceproof.harness.faults.messages.hit_message import HitMessage
from onceproof.harness.faults.messages.message import Message
from onceproof.harness.faults.targets.brokers import AHEAD, LeaderOf
from onceproof.harness.faults.transactions.zombie_sender import RECORDS, ZombieSender
from onceproof.harness.history.identity import ATTEMPT_HEADER
from onceproof.harness.history.tables import read_lines
from onceproof.harness.links.topology import Link
from onceproof.harness.processes.processes import Processes
from onceproof.harness.wait import Stop
from onceproof.harness.workload.control import Producers, ProducerTrouble
from onceproof.harness.workload.payments import Payments, payments_of
from onceproof.harness.workload.senders.base import Sender
from onceproof.harness.workload.senders.librdkafka import LIBRDKAFKA, Librdkafka
from tests.end_to_end.catalogue import LATER
from tests.integration.faults import active_fault, context
from tests.integration.staging import Staged, eventually, read_settled

pytestmark = pytest.mark.integration


class Sending:
    """A running sender, its recorded sends and hazards, and its records in the log."""

    def __init__(
        self, staging: Staged, folder: Path, topic: str, sender: Sender, transaction: int
    ) -> None:
        self._staging, self._topic = staging, topic
        self.hazards: list[dict[str, Any]] = []
        self.history = folder / "history"
        self.history.mkdir()
        self.stop = Stop()
        self.processes = Processes(staging.processes.marker, folder)
        self.producers = Producers(
            seed=5,
            workload=Payments(
                records=600 if transaction else 3_000,
                producers=1,
                topic=topic,
                rate=150,
                transaction=transaction,
            ),
            bootstrap=staging.stage.bootstrap("producer"), processes=self.processes,
            history=self.history, work=folder, stop=self.stop, sender=sender,
        )  # fmt: skip
        self.producers.start()
        self.producers.pace.warmed_up()
        eventually(lambda: self.producers.acknowledged > 20, "the first records")

    def context(self) -> RunContext:
        recorder: Any = SimpleNamespace(
            hazard=lambda kind, **what: self.hazards.append({"hazard": kind, **what})
        )
        return replace(
            context(self._staging.stage, self._topic),
            topics=(self._topic,), producers=self.producers, recorder=recorder,
        )  # fmt: skip

    def finish(self) -> None:
        self.producers.pace.hurry()
        self.producers.wait_finished(120)

    def sends(self) -> dict[str, dict[str, Any]]:
        return {row["attempt"]: row for row in read_lines(self.history).tables["sends"].to_pylist()}

    def logged(self) -> list[str]:
        """The committed attempts in the log, with duplicates."""
        (log,) = read_settled(self._staging, self._topic)
        return [
            entry.headers[ATTEMPT_HEADER].decode()
            for entry, committed in zip(log.entries, log.committed(), strict=True)
            if entry.kind == "data" and committed
        ]


@pytest.fixture
def sending(
    staging: Staged, topic: Callable[..., str], tmp_path: Path
) -> Iterator[Callable[..., Sending]]:
    started: list[Sending] = []

    def start(sender: Sender, transaction: int = 0) -> Sending:
        started.append(Sending(staging, tmp_path, topic(1), sender, transaction))
        return started[-1]

    yield start
    for run in started:
        run.stop.set("the test is over")
        run.processes.kill_all("the test is over")


@pytest.mark.parametrize("idempotent", [True, False])
def test_withheld_acknowledgements_are_recorded_as_retried_sends(
    idempotent: bool, staging: Staged, sending: Callable[..., Sending]
) -> None:
    run = sending(Librdkafka(idempotent=idempotent))
    injection = LeaveUnanswered(target=LeaderOf(partition=0)).inject(run.context(), "withheld")
    placed = now()
    try:
        gate = staging.stage.gate(Link("producer", injection.target.removeprefix("producer→")))
        proof = eventually(
            injection.evidence,
            "it to take effect",
            seen=lambda: (gate.state(), staging.stage.disturbed()),
        )
        assert "closed instead of answering a Produce" in proof
        assert staging.stage.disturbed()
    finally:
        healing = now()
        injection.heal()
        injection.heal()
    assert staging.stage.disturbed() == {}
    run.finish()

    sends, logged = run.sends(), run.logged()
    withheld = [row for row in sends.values() if placed < row["called_at"] < healing]
    assert withheld
    assert all(row["returned_at"] > healing for row in withheld)
    returned = {a: (row["outcome"], row["returned_at"]) for a, row in sends.items()}
    injection.after_collect(Collected(returned=returned))
    (hazard,) = run.hazards
    assert (hazard["hazard"], hazard["hop"]) == ("retried-send", "produce")
    assert set(hazard["attempts"]) <= set(sends)
    assert {row["outcome"] for row in sends.values()} == {"ok"}
    duplicated = {attempt for attempt in logged if logged.count(attempt) > 1}
    if idempotent:
        assert sorted(logged) == sorted(sends)
    else:
        # Retries without idempotence duplicate records; the hazard names only duplicated ones.
        assert set(hazard["attempts"]) <= duplicated


@LATER
def test_killing_leader_ahead_of_followers_loses_acknowledged_records(
    staging: Staged, sending: Callable[..., Sending]
) -> None:
    run = sending(Librdkafka(idempotent=False, acks="1"))
    injection = Kill(LeaderOf(partition=0), at=AHEAD).inject(run.context(), "ahead")
    try:
        proof = eventually(injection.evidence, "it to take effect")
        assert "its followers had replicated it up to" in proof
        assert "leadership moved" in proof
    finally:
        injection.heal()
        injection.heal()
    assert staging.stage.disturbed() == {}
    run.finish()
    injection.after_collect(Collected(returned={}))
    assert [hazard["hazard"] for hazard in run.hazards] == ["leader-ahead"]
    acknowledged = {a for a, row in run.sends().items() if row["outcome"] == "ok"}
    assert len(acknowledged - set(run.logged())) >= 5


@pytest.mark.parametrize(("api", "hazards"), [("EndTxn", ["unknown-end"]), ("Produce", [])])
def test_only_lost_end_txn_response_is_an_unknown_end(
    api: str, hazards: list[str], sending: Callable[..., Sending]
) -> None:
    run = sending(LIBRDKAFKA, transaction=5)
    fault = HitMessage(
        message=Message(source="producer", direction="response", api=api, refused=False),
        action="close-before",
    )
    injection = fault.inject(run.context(), "unheard")
    try:
        eventually(injection.evidence, "it to take effect")
    finally:
        injection.heal()
    injection.after_collect(Collected(returned={}))
    assert [hazard["hazard"] for hazard in run.hazards] == hazards


@LATER
def test_resumed_zombie_sender_is_fenced(sending: Callable[..., Sending]) -> None:
    run = sending(LIBRDKAFKA, transaction=5)
    injection = ZombieSender().inject(run.context(), "zombie")
    try:
        proof = injection.evidence()
        assert proof is not None
        assert f"producer-0-successor took over its transactional id, sent {RECORDS}" in proof
        (zombie, _) = run.processes.all
        assert zombie.frozen()
    finally:
        injection.heal()
        injection.heal()
    assert not zombie.frozen()
    run.finish()

    sends, txns = run.sends(), read_lines(run.history).tables["txns"].to_pylist()
    returned = {a: (row["outcome"], row["returned_at"]) for a, row in sends.items()}
    injection.after_collect(Collected(returned=returned))
    assert [hazard["hazard"] for hazard in run.hazards] == ["zombie-back"]
    outcomes = {row["txn"]: row["outcome"] for row in txns}
    # Whatever the zombie was doing, it was fenced.
    assert "committed" in outcomes.values()
    assert set(outcomes.values()) & {"info", "aborted"}
    logged = run.logged()
    assert len(set(logged)) == len(logged)
    committed = {a for a, row in sends.items() if outcomes[row["txn"]] == "committed"}
    assert committed <= set(logged)
    assert {row["record"] for a, row in sends.items() if a.startswith("producer-0-")} == {
        f"p1-{n:06d}" for n in range(RECORDS)
    }


def producer_connections(staging: Staged) -> int:
    """The number of producer connections, according to the kernel."""
    stage = staging.stage
    return sum(stage.connections(Link("producer", node)) for node in stage.brokers)


def wait_for_no_connections(staging: Staged) -> None:
    eventually(
        lambda: producer_connections(staging) == 0,
        "producers' connections to end",
        lambda: f"{producer_connections(staging)} of them",
    )


@pytest.mark.parametrize("transaction", [0, pytest.param(5, marks=LATER)])
def test_restarted_producer_sends_the_remaining_records_once(
    transaction: int, staging: Staged, sending: Callable[..., Sending]
) -> None:
    run = sending(LIBRDKAFKA, transaction)
    with active_fault(run.context(), "kill producer-0") as (fault, proof):
        (killed,) = run.processes.all
        assert fault.target == killed.instance
        assert f"{killed.instance} ended by signal 9; it had reported " in proof
        wait_for_no_connections(staging)
        with pytest.raises(
            ProducerTrouble, match="producer-0 cannot be killed: it has already exited"
        ):
            asked("kill", ["producer-0"]).inject(run.context(), "again")
        before = run.sends()
    assert [p.name for p in run.processes.all] == ["producer-0", "producer-0-life-2"]
    run.finish()

    sends, logged = run.sends(), run.logged()
    workload = run.producers.workload
    expected = [payment.record for payment in payments_of(workload, producer=0, seed=5)]
    by_call = sorted(sends.values(), key=lambda row: (row["called_at"], row["ordinal"]))
    assert [row["record"] for row in by_call] == expected, "each is called once, in order"
    sends_after_restart = {attempt: row for attempt, row in sends.items() if attempt not in before}
    assert {row["outcome"] for row in sends_after_restart.values()} == {"ok"}
    assert all(attempt.startswith("producer-0-life-2/") for attempt in sends_after_restart)
    assert len(set(logged)) == len(logged)
    assert set(sends_after_restart) <= set(logged) <= set(sends)


def test_stopped_producer_finishes_in_its_next_life(
    staging: Staged, sending: Callable[..., Sending]
) -> None:
    run = sending(LIBRDKAFKA)
    with active_fault(run.context(), "stop producer-0") as (fault, proof):
        assert proof.startswith(f"{fault.target} ended by signal 15; it had reported ")
        wait_for_no_connections(staging)
        with pytest.raises(
            ProducerTrouble, match="producer-0 cannot be stopped: it has already exited"
        ):
            asked("stop", ["producer-0"]).inject(run.context(), "again")
    run.finish()
    expected = {p.record for p in payments_of(run.producers.workload, producer=0, seed=5)}
    assert {row["record"] for row in run.sends().values()} == expected


def test_paused_producer_sends_nothing_until_resumed(
    staging: Staged, sending: Callable[..., Sending]
) -> None:
    run = sending(LIBRDKAFKA)
    with active_fault(run.context(), "pause producer-0") as (fault, proof):
        (paused,) = run.processes.all
        assert proof.startswith(
            f"all threads of {fault.target} are stopped; it has reported nothing"
        )
        assert {p.status() for p in map(psutil.Process, paused.pids())} == {psutil.STATUS_STOPPED}
        assert producer_connections(staging) > 0
        sent = len(run.sends())
        assert set(run.logged()) <= set(run.sends())
        assert len(run.sends()) == sent
    run.finish()
    assert {row["outcome"] for row in run.sends().values()} == {"ok"}
    assert sorted(run.logged()) == sorted(run.sends())


def test_unknown_producer_is_refused(sending: Callable[..., Sending]) -> None:
    run = sending(LIBRDKAFKA)
    with pytest.raises(
        ProducerTrouble, match="unknown producer producer-1: expected one of producer-0"
    ):
        asked("pause", ["producer-1"]).inject(run.context(), "x")
