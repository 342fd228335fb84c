"""SQLite store: one transaction for rows, balances and offsets, and holding its commits."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from onceproof.harness.processes.processes import Process
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.subjects.stored.audit_sqlite import SqliteAudit, holders
from onceproof.harness.subjects.stored.batch import Batch
from onceproof.harness.subjects.stored.sqlite import SqliteStore
from onceproof.harness.subjects.stored.store import Refused, Unreachable
from onceproof.harness.wait import wait_until
from tests.unit.fakes.process import FakeProcess

TOPIC = "payments"


def batch(start: int, end: int, *, partition: int = 0, account: str = "a") -> Batch:
    return Batch(
        topic=TOPIC,
        rows=tuple(
            (f"r{partition}-{n}", account, 100, 32, partition, n) for n in range(start, end)
        ),
        starts={partition: start},
        ends={partition: end},
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "books.db"


@pytest.fixture
def audit(path: Path) -> SqliteAudit:
    found = SqliteAudit(path, topic=TOPIC, owner="billing")
    found.prepare()
    return found


def open_store(path: Path, *, guard: bool = True, patience: float = 15.0) -> SqliteStore:
    return SqliteStore(path, guard=guard, patience=patience)


def state(audit: SqliteAudit) -> dict[tuple[str, str], int | None]:
    return {(s.state_key, s.aggregate): s.amount for s in audit.books().states()}


def test_write_stores_rows_balances_and_offsets(path: Path, audit: SqliteAudit) -> None:
    store = open_store(path)
    assert store.stored(TOPIC, [1, 0]) == {0: 0, 1: 0}
    store.write(batch(0, 3), offsets=True)
    store.write(batch(3, 5, account="b"), offsets=True)
    assert store.stored(TOPIC, [0, 1]) == {0: 5, 1: 0}
    assert [(e.record, e.source_offset, e.sink, e.owner) for e in audit.books().effects()] == [
        (f"r0-{n}", n, "ledger", "billing") for n in range(5)
    ]
    assert state(audit) == {
        ("a", "balance"): 300, ("a", "payments"): 3, ("b", "balance"): 200, ("b", "payments"): 2
    }  # fmt: skip
    assert [(c.partition, c.offset) for c in audit.look()] == [(0, 3), (0, 5)]
    assert audit.books().size() == 5


def test_write_from_another_offset_is_refused_and_stores_nothing(
    path: Path, audit: SqliteAudit
) -> None:
    store, other = open_store(path), open_store(path)
    store.stored(TOPIC, [0])
    store.write(batch(0, 3), offsets=True)
    with pytest.raises(Refused, match=r"payments-0 from 0 to 2: the stored offset differs"):
        other.write(batch(0, 2), offsets=True)
    assert (state(audit)["a", "payments"], len(audit.books().effects())) == (3, 3)
    assert other.stored(TOPIC, [0]) == {0: 3}


def test_batch_with_a_refused_partition_is_not_written(path: Path, audit: SqliteAudit) -> None:
    store = open_store(path)
    store.stored(TOPIC, [0, 1])
    store.write(batch(0, 3, partition=1), offsets=True)
    both = Batch(topic=TOPIC, rows=batch(0, 1).rows, starts={0: 0, 1: 0}, ends={0: 1, 1: 1})
    with pytest.raises(Refused):
        store.write(both, offsets=True)
    assert store.stored(TOPIC, [0, 1]) == {0: 0, 1: 3}
    assert audit.books().size() == 3


def test_without_guard_batch_is_added_twice(path: Path, audit: SqliteAudit) -> None:
    store = open_store(path, guard=False)
    store.stored(TOPIC, [0])
    store.write(batch(0, 3), offsets=True)
    store.write(batch(0, 2), offsets=True)
    assert state(audit)["a", "payments"] == 5
    assert [c.offset for c in audit.look()] == [3, 2]


def test_write_without_offsets_stores_none(path: Path, audit: SqliteAudit) -> None:
    store = open_store(path)
    store.write(batch(7, 9), offsets=False)
    assert (audit.look(), audit.books().size()) == ([], 2)


def test_clean_removes_duplicate_rows_and_their_amounts(path: Path, audit: SqliteAudit) -> None:
    store = open_store(path)
    store.write(batch(0, 2), offsets=False)
    store.write(batch(5, 6, account="b"), offsets=False)
    again = batch(0, 3)
    for _ in range(2):
        store.write(again, offsets=False)
    store.clean(again)
    records = [(effect.ordinal, effect.record) for effect in audit.books().effects()]
    assert records == [(1, "r0-0"), (2, "r0-1"), (3, "r0-5"), (6, "r0-2")]
    assert state(audit) == {
        ("a", "balance"): 300, ("a", "payments"): 3, ("b", "balance"): 100, ("b", "payments"): 1
    }  # fmt: skip


def test_open_transaction_is_hanging_and_its_rows_are_invisible(
    path: Path, audit: SqliteAudit
) -> None:
    with suppress(ZeroDivisionError), open_store(path).transaction() as cursor:
        cursor.execute("INSERT INTO ledger (record) VALUES ('r')")
        assert audit.books().hanging()
        raise ZeroDivisionError
    assert not audit.books().hanging()
    assert audit.books().size() == 0


def test_lock_timeout_counts_as_unreachable(path: Path, audit: SqliteAudit) -> None:
    store, other = open_store(path), open_store(path, patience=0.05)
    with store.transaction(), pytest.raises(Unreachable, match="locked"):
        other.stored(TOPIC, [0])


def test_offsets_are_readable_during_a_write(path: Path, audit: SqliteAudit) -> None:
    """A newly assigned member reads at once and waits only to write."""
    store, other = open_store(path), open_store(path, patience=0.05)
    store.stored(TOPIC, [0])
    store.write(batch(0, 3), offsets=True)
    with store.transaction():
        assert other.stored(TOPIC, [0]) == {0: 3}


_WRITER = """
import sys
import time
from pathlib import Path
from onceproof.harness.subjects.stored.batch import Batch
from onceproof.harness.subjects.stored.sqlite import SqliteStore
store = SqliteStore(Path(sys.argv[1]), guard=True)
n = store.stored("payments", [0])[0]
while True:
    row = (f"r0-{n}", "a", 100, 32, 0, n)
    store.write(Batch(topic="payments", rows=(row,), starts={0: n}, ends={0: n + 1}), offsets=True)
    n += 1
    time.sleep(0.01)  # as one that waits for its input now and then, and lets others have the lock
"""


@pytest.fixture
def writer(path: Path, audit: SqliteAudit) -> Iterator[Any]:
    """A process that keeps writing, as the run's `Process`."""
    child = subprocess.Popen([sys.executable, "-c", _WRITER, str(path)])
    yield Process(
        name="member-0", instance="member-0#1", popen=child, log=path, on_change=lambda _: None
    )
    child.kill()
    child.wait()


def test_kill_during_commit_leaves_nothing_of_it(
    path: Path, audit: SqliteAudit, writer: Any
) -> None:
    hold = audit.hold_commit(writer)
    seen = wait_until(hold.caught, what="a commit to stand still", seconds=30)
    assert seen == "member-0#1 was held during its COMMIT: it had the pending lock on books.db"
    assert hold.hinders(), "nobody could begin to read"
    with pytest.raises(StageTrouble, match="is running, so its commit will complete"):
        hold.undo()
    writer.popen.kill()
    writer.popen.wait()
    assert hold.undo() == "the harness held a read lock until its end, so nothing was written"
    stored = open_store(path).stored(TOPIC, [0])[0]
    assert (stored, len(audit.look())) == (audit.books().size(),) * 2


def test_released_commit_completes(path: Path, audit: SqliteAudit, writer: Any) -> None:
    hold = audit.hold_commit(writer)
    wait_until(hold.caught, what="a commit to stand still", seconds=30)
    hold.let_go()
    before = open_store(path).stored(TOPIC, [0])[0]
    wait_until(
        lambda: open_store(path).stored(TOPIC, [0])[0] > before + 1, what="more of them", seconds=30
    )


def test_no_transaction_begins_while_the_harness_holds_the_lock(
    path: Path, audit: SqliteAudit, writer: Any
) -> None:
    hold = audit.hold_with_work(writer)
    size = audit.books().size()
    assert hold.caught() == "no write transaction could begin in books.db"
    wait_until(lambda: not hold.hinders(), what="it to have no lock", seconds=30, every=0.001)
    assert audit.books().size() == size
    hold.let_go()
    wait_until(lambda: audit.books().size() > size, what="it to write again", seconds=30)
    assert not holders(path, FakeProcess())
