"""The producer processes of a run: the log matches their history."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from onceproof.harness.context.run_context import addresses, open_reader
from onceproof.harness.history.identity import ATTEMPT_HEADER, RECORD_HEADER, digest
from onceproof.harness.history.tables import read_lines
from onceproof.harness.kafka.log_reader import Entry
from onceproof.harness.kafka.metadata import ClusterView
from onceproof.harness.links.disturbances import Disturbance, Hold, lose
from onceproof.harness.links.topology import Link
from onceproof.harness.processes.processes import Processes
from onceproof.harness.wait import Overdue, Stop, wait_until
from onceproof.harness.workload.control import Producers, ProducerTrouble
from onceproof.harness.workload.payments import Payments, payments_of
from tests.integration.staging import Staged, eventually, send_matches

pytestmark = pytest.mark.integration

SEED = 5


class Sending:
    """Producers with their own history and processes."""

    def __init__(self, staging: Staged, folder: Path, workload: Payments) -> None:
        self.workload = workload
        self.history = folder / "history"
        self.history.mkdir()
        self.stop = Stop()
        self.processes = Processes(staging.processes.marker, folder)
        self.producers = Producers(
            workload=workload, seed=SEED, bootstrap=staging.stage.bootstrap("producer"),
            processes=self.processes, history=self.history, work=folder, stop=self.stop,
        )  # fmt: skip

    def calls(self) -> int:
        """The number of calls on disk, independent of the producers' own counts."""
        files = self.history.glob("*.jsonl")
        return sum(path.read_bytes().count(b'{"t":"called"') for path in files)

    def sends(self) -> list[dict[str, Any]]:
        return read_lines(self.history).tables["sends"].to_pylist()


@pytest.fixture
def sending(staging: Staged, tmp_path: Path) -> Iterator[Callable[[Payments], Sending]]:
    started: list[Sending] = []

    def make(workload: Payments) -> Sending:
        started.append(Sending(staging, tmp_path, workload))
        return started[-1]

    yield make
    for run in started:
        run.stop.set("the test is over")
        run.processes.kill_all("the test is over")


def logged(staging: Staged, topic: str) -> list[Entry]:
    with open_reader(staging.stage, ClusterView(addresses(staging.stage))) as reader:
        return [entry for log in reader.read_topic(topic) for entry in log.entries]


def identity(entry: Entry) -> tuple[str, str]:
    return entry.headers[RECORD_HEADER].decode(), entry.headers[ATTEMPT_HEADER].decode()


def test_every_record_is_acknowledged_at_its_offset(
    staging: Staged, topic: Callable[..., str], sending: Callable[[Payments], Sending]
) -> None:
    name = topic(3)
    run = sending(Payments(records=500, producers=2, keys=16, topic=name, rate=60))
    run.producers.start()

    # Before `warmed_up`, only the first tenth is sent.
    eventually(
        lambda: run.producers.acknowledged >= 45, "the first records", lambda: run.producers._status
    )
    with pytest.raises(Overdue):
        # Unlimited, they would have sent two hundred by then.
        wait_until(lambda: run.calls() > 100, what="them to run ahead", seconds=2.5)
    assert not run.producers.finished

    run.producers.pace.warmed_up()
    eventually(lambda: run.calls() > 120, "them to go on")
    assert not run.producers.finished
    run.producers.pace.hurry()
    run.producers.wait_finished(120)

    assert run.producers.acknowledged == run.producers.total == 500
    assert run.producers.progress == 1
    assert [p.how for p in run.processes.all] == ["exited with 0"] * 2
    sends = run.sends()
    expected = {
        p.record: p for n in range(2) for p in payments_of(run.workload, producer=n, seed=SEED)
    }
    assert sorted(s["record"] for s in sends) == sorted(expected)
    assert {s["outcome"] for s in sends} == {"ok"}
    assert len({s["attempt"] for s in sends}) == 500
    assert all(s["called_at"] <= s["returned_at"] for s in sends)
    for session in {s["session"] for s in sends}:
        ordinals = [s["ordinal"] for s in sends if s["session"] == session]
        assert ordinals == list(range(250))

    found = logged(staging, name)
    entries = {identity(e): e for e in found}
    assert len(entries) == len(found) == 500
    assert {e.partition for e in found} == {0, 1, 2}
    for row in sends:
        entry = entries[row["record"], row["attempt"]]
        assert send_matches(row, entry)
        payment = expected[row["record"]]
        assert (entry.key, entry.value) == (payment.key, payment.value)
        assert row["digest"] == payment.digest == digest(entry.key, entry.value)
        assert row["key"] == payment.account
    # Idempotent producers: one producer id each.
    assert len({e.producer_id for e in found} - {-1}) == 2
    eventually(
        lambda: (
            not any(staging.stage.connections(Link("producer", n)) for n in staging.stage.brokers)
        ),
        "their connections to be gone",
    )


def test_killed_producer_leaves_unanswered_sends_unknown(
    staging: Staged,
    topic: Callable[..., str],
    sending: Callable[[Payments], Sending],
    disturb: Callable[[Link, Disturbance], Hold],
) -> None:
    name = topic(3)
    run = sending(Payments(records=2000, producers=2, topic=name, rate=100))
    run.producers.start()
    victim_history = run.history / "producer-0.jsonl"
    eventually(
        lambda: (
            victim_history.exists() and victim_history.read_bytes().count(b'{"t":"returned"') >= 5
        ),
        "the first acknowledgements",
    )
    run.producers.check()
    # Lose all responses, so that some calls have not returned when the producer dies.
    holds = [disturb(Link("producer", node), lose("responses")) for node in staging.stage.brokers]
    victim = next(p for p in run.processes.all if p.name == "producer-0")

    def unanswered() -> bool:
        text = victim_history.read_bytes()
        return text.count(b'{"t":"called"') >= text.count(b'{"t":"returned"') + 5

    eventually(unanswered, "calls without an answer")
    os.kill(victim.session, signal.SIGKILL)

    def trouble() -> str | None:
        try:
            run.producers.check()
        except ProducerTrouble as error:
            return str(error)
        return None

    assert eventually(trouble, "the trouble").startswith("producer-0 exited with -9")
    with pytest.raises(ProducerTrouble, match="producer-0 exited with -9"):
        run.producers.wait_finished(60)
    run.processes.kill_all("the test is over")
    for hold in holds:
        hold.release()

    sends = {s["attempt"]: s for s in run.sends()}
    of_victim = [s for s in sends.values() if s["attempt"].startswith("producer-0/")]
    unknown = [s for s in of_victim if s["outcome"] == "info"]
    assert len(unknown) >= 5
    assert {(s["returned_at"], s["offset"], s["error"]) for s in unknown} == {(None, None, None)}
    assert {s["outcome"] for s in of_victim} == {"ok", "info"}
    # The log has only recorded sends, and all acknowledged ones.
    found = {identity(e)[1]: e for e in logged(staging, name)}
    assert found.keys() <= sends.keys()
    for attempt, row in sends.items():
        if row["outcome"] == "ok":
            assert send_matches(row, found[attempt])


def test_producer_exits_without_harness(
    staging: Staged, topic: Callable[..., str], sending: Callable[[Payments], Sending]
) -> None:
    run = sending(Payments(records=2000, producers=1, topic=topic(), rate=50))
    run.producers.start()
    eventually(lambda: run.producers.acknowledged >= 5, "the first records")
    run.stop.set("over")  # so that the harness stops writing to the pipe
    (child,) = run.processes.all
    assert child.popen.stdin is not None
    child.popen.stdin.close()
    eventually(lambda: not child.alive(), "its end", child.tail)
    assert "the harness is gone" in child.tail()
