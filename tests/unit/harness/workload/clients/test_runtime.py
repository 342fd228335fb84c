"""The runtime of sender programs: history, pace, orders and reports."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from onceproof.harness.history.tables import read_lines
from onceproof.harness.workload.clients.runtime import BLOCK, SenderRuntime
from onceproof.harness.workload.payments import Payments, payments_of
from onceproof.harness.workload.task_file import (
    SenderRecord,
    SenderTask,
    load_records,
    save_records,
)
from tests.unit.fakes.run_context import FakeStop

PLAIN = Payments(records=300, producers=1, keys=4)
TRANSACTIONAL = Payments(records=23, producers=1, other_topic="refunds", transaction=5, aborts=50)


class ControlledRuntime:
    """A runtime whose orders and reports the test controls."""

    def __init__(self, folder: Path, workload: Payments) -> None:
        self.history = folder / "history"
        self.history.mkdir()
        save_records(folder / "records", workload.sends(producer=0, seed=3))
        task = SenderTask(
            name="producer-0",
            bootstrap="here:1",
            records=str(folder / "records"),
            history=str(self.history),
            transactional_id="producer-0" if workload.transaction else None,
        )
        task.save(folder / "task.json")
        assert SenderTask.load(folder / "task.json") == task
        self.read, self.write = os.pipe()
        self.reports: list[dict[str, Any]] = []
        self.time = FakeStop()
        self.runtime = SenderRuntime(
            task,
            orders=lambda: self.read,
            say=lambda line: self.reports.append(json.loads(line)),
            seconds=self.time.monotonic,
        )

    def order(self, *lines: str) -> None:
        os.write(self.write, "".join(f"{line}\n" for line in lines).encode())
        self.runtime.listen()

    def lines(self, kind: str) -> list[dict[str, Any]]:
        return read_lines(self.history).lines.get(kind, [])

    def table(self, name: str) -> list[dict[str, Any]]:
        return read_lines(self.history).tables[name].to_pylist()


@pytest.fixture
def plain(tmp_path: Path) -> ControlledRuntime:
    return ControlledRuntime(tmp_path, PLAIN)


@pytest.fixture
def transactional(tmp_path: Path) -> ControlledRuntime:
    return ControlledRuntime(tmp_path, TRANSACTIONAL)


def test_call_is_written_before_the_record_is_returned(plain: ControlledRuntime) -> None:
    plain.order("rate inf")
    block = plain.runtime.due()
    called = plain.lines("called")
    assert len(block) == BLOCK
    assert [c.attempt for c in block] == [row["attempt"] for row in called]
    expected = list(payments_of(PLAIN, producer=0, seed=3))[:BLOCK]
    assert [(c.key, c.value) for c in block] == [(p.key, p.value) for p in expected]
    assert [row["digest"] for row in called] == [p.digest for p in expected]
    assert [row["ordinal"] for row in called] == list(range(BLOCK))
    assert block[7].headers == [
        ("onceproof-record", expected[7].record.encode()),
        ("onceproof-attempt", f"{plain.runtime.session}/7".encode()),
    ]
    assert len(plain.runtime.due()) == 100
    assert plain.runtime.over
    assert plain.runtime.due() == []


def test_records_are_due_at_the_ordered_rate(plain: ControlledRuntime) -> None:
    assert plain.runtime.due() == []
    plain.order("rate 8")
    plain.time.pause(0.6875)
    assert len(plain.runtime.due()) == 5
    plain.time.pause(0.0625)  # half a record was left, and another half became due
    assert len(plain.runtime.due()) == 1
    assert plain.runtime.due() == []
    plain.time.pause(3600)
    assert len(plain.runtime.due()) == BLOCK


def test_several_orders_are_read_at_once(plain: ControlledRuntime) -> None:
    plain.order("rate 7", "enough")
    assert (plain.runtime.rate, plain.runtime.enough, plain.runtime.over) == (7.0, True, True)
    plain.order("rate inf")
    assert plain.runtime.due() == []


def test_exits_when_the_harness_closes_the_pipe(plain: ControlledRuntime) -> None:
    os.close(plain.write)
    with pytest.raises(SystemExit, match="the harness is gone"):
        plain.runtime.listen()


def test_outcomes_are_counted_once_and_written(plain: ControlledRuntime) -> None:
    plain.order("rate inf")
    one, two, three, four, *_ = (call.attempt for call in plain.runtime.due())
    plain.runtime.acknowledged(one, 2, 17)
    plain.runtime.acknowledged(two, 1, None)
    plain.runtime.refused(three, "no", certain=True)
    plain.runtime.refused(four, ValueError(), certain=False)
    plain.runtime.refused(one, "too late", certain=True)
    assert plain.runtime.waiting == BLOCK - 4
    plain.runtime.report(done=True)
    status = {"called": BLOCK, "ok": 2, "not_ok": 2, "timeouts": {}, "done": True}
    assert plain.reports[-1] == status
    sends = {row["attempt"]: row for row in plain.table("sends")}
    seen = [
        (sends[a]["outcome"], sends[a]["partition"], sends[a]["offset"], sends[a]["error"])
        for a in (one, two, three, four)
    ]
    assert seen == [
        ("ok", 2, 17, None), ("ok", 1, None, None), ("fail", None, None, "no"),
        ("info", None, None, "ValueError"),
    ]  # fmt: skip
    assert [row["outcome"] for row in plain.table("sends")].count("info") == BLOCK - 3


def test_abandoned_sends_are_info(plain: ControlledRuntime) -> None:
    plain.order("rate inf")
    first, *_ = plain.runtime.due()
    plain.runtime.acknowledged(first.attempt, 0, 0)
    before = plain.runtime.session
    plain.runtime.abandoned("it is gone")
    plain.runtime.new_session()
    assert plain.runtime.waiting == 0
    assert plain.runtime.session != before
    assert plain.runtime.session.startswith("producer-0/")
    plain.runtime.close()
    errors = [row["error"] for row in plain.table("sends") if row["outcome"] == "info"]
    assert errors == ["it is gone"] * (BLOCK - 1)


def test_reports_are_throttled_until_done(plain: ControlledRuntime) -> None:
    plain.runtime.report()
    plain.runtime.report()
    assert len(plain.reports) == 1
    plain.runtime.report(done=True)
    assert [report["done"] for report in plain.reports] == [False, True]


def test_transaction_is_recorded_from_begin_to_end(transactional: ControlledRuntime) -> None:
    runtime = transactional.runtime
    assert runtime.due_transaction() is None
    transactional.order("rate inf")
    first = runtime.due_transaction()
    assert first is not None
    (row,) = transactional.table("txns")
    assert (row["txn"], row["outcome"], row["transactional_id"]) == (
        f"{runtime.session}/t0", "info", "producer-0",
    )  # fmt: skip
    assert row["commit_called_at"] is None
    assert transactional.lines("called") == []

    calls = runtime.calls(first)
    assert [c.record.topic for c in calls] == ["payments", "refunds"] * 2 + ["payments"]
    assert {s["txn"] for s in transactional.table("sends")} == {first.txn}

    runtime.commit_called()
    (row,) = transactional.table("txns")
    assert row["began_at"] <= row["commit_called_at"]
    assert (row["outcome"], row["ended_at"]) == ("info", None)

    runtime.ended("committed")
    (row,) = transactional.table("txns")
    assert row["outcome"] == "committed"
    assert row["began_at"] <= row["commit_called_at"] <= row["ended_at"]

    sizes, numbers = [len(first.records)], [first.txn]
    while following := runtime.due_transaction():
        sizes.append(len(runtime.calls(following)))
        numbers.append(following.txn)
        runtime.ended("info", "who knows")
    assert sizes == [5, 5, 5, 5, 3]
    assert numbers == [f"{runtime.session}/t{n}" for n in range(5)]
    assert transactional.table("txns")[-1]["error"] == "who knows"


def test_no_transaction_begins_after_enough(transactional: ControlledRuntime) -> None:
    transactional.order("rate inf", "enough")
    assert transactional.runtime.due_transaction() is None
    assert transactional.table("txns") == []


def test_transaction_uses_the_rate_for_all_its_records(transactional: ControlledRuntime) -> None:
    runtime = transactional.runtime
    runtime.due_transaction()
    transactional.order("rate 1")
    transactional.time.pause(1)
    assert runtime.due_transaction() is not None
    transactional.time.pause(4.5)
    assert runtime.due_transaction() is None
    transactional.time.pause(0.6)
    assert runtime.due_transaction() is not None


def test_transactions_are_aborted_as_a_whole(tmp_path: Path) -> None:
    workload = Payments(records=4000, producers=2, other_topic="refunds", transaction=5, aborts=20)
    records = list(workload.sends(producer=1, seed=7))
    save_records(tmp_path / "records", records)
    assert list(load_records(tmp_path / "records")) == records
    assert [r.value.encode() for r in records] == [
        p.value for p in payments_of(workload, producer=1, seed=7)
    ]
    assert {r.topic for r in records} == {"payments", "refunds"}
    aborts: dict[int | None, set[bool]] = {}
    for record in records:
        aborts.setdefault(record.transaction, set()).add(record.abort)
    assert list(aborts) == list(range(400))
    assert {len(how) for how in aborts.values()} == {1}  # a transaction is aborted whole
    assert 40 < sum(how == {True} for how in aborts.values()) < 120
    other = [r.abort for r in workload.sends(producer=1, seed=8)]
    assert other != [r.abort for r in records]


def test_workload_without_transactions_has_no_aborts() -> None:
    records = list(PLAIN.sends(producer=0, seed=1))
    assert {(r.topic, r.transaction, r.abort) for r in records} == {("payments", None, False)}
    assert isinstance(records[0], SenderRecord)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"transaction": -1}, "transaction=-1"),
        ({"transaction": 5, "aborts": 101}, "aborts=101"),
        ({"aborts": 5}, "requires transaction"),
    ],
)
def test_invalid_transactional_workload_is_refused(wrong: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Payments(**wrong)
