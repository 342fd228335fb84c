"""Tasks and records of senders, as they are written for clients of any language."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.identity import digest
from harness.workload.payments import Payments, payments_of
from harness.workload.task_file import (
    SenderTask,
    in_transactions,
    plain,
    read_records,
    write_records,
)

PAYMENTS = tuple(payments_of(Payments(records=20, producers=1), producer=0, seed=5))


def test_a_task_comes_back_as_it_was(tmp_path: Path) -> None:
    task = SenderTask(
        name="s-0", bootstrap="b:1", history="h", records="r", transactional_id="t",
        client={"linger.ms": 1},
    )  # fmt: skip
    task.save(tmp_path / "task.json")
    assert SenderTask.load(tmp_path / "task.json") == task


@pytest.mark.parametrize(
    "wrong",
    [
        {"acks": "1"},
        {"transactional_id": "t", "resends": True},
        {"transactional_id": "t", "idempotence": False},
    ],
)
def test_what_no_client_can_do_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="idempotent"):
        SenderTask(name="s", bootstrap="b", history="h", records="r", **wrong)  # type: ignore[arg-type]


def test_records_come_back_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    records = list(plain(PAYMENTS, topic="payments"))
    assert write_records(path, records) == len(PAYMENTS)
    assert list(read_records(path)) == records
    first = json.loads(path.read_text().splitlines()[0])
    assert (first["partition"], first["transaction"], first["intended"]) == (None, None, "commit")
    assert [r.value for r in records] == [p.value for p in PAYMENTS]
    assert all(r.digest == digest(r.key.encode(), r.value) for r in records)


def test_transactions_are_spread_and_some_aborted() -> None:
    records = list(
        in_transactions(PAYMENTS, topics=("a", "b"), partitions=3, size=6, abort_every=2)
    )
    assert [r.transaction for r in records] == [n // 6 for n in range(20)]
    assert {r.transaction for r in records if r.intended == "abort"} == {1, 3}
    for transaction in (0, 1, 2):
        places = {(r.topic, r.partition) for r in records if r.transaction == transaction}
        assert places == {(topic, n) for topic in "ab" for n in range(3)}
    assert all(
        r.intended == "commit"
        for r in in_transactions(PAYMENTS, topics=("a",), partitions=1, size=3)
    )
