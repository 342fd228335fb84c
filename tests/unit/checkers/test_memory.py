"""Judging within a memory limit: retries, then an error that says what to do."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import duckdb
import pytest

from onceproof.checkers.engines.duckdb import DuckDB
from onceproof.checkers.engines.locking import SharedLock
from onceproof.checkers.engines.not_enough_memory import NotEnoughMemory
from onceproof.checkers.engines.settings import Settings
from onceproof.harness.wait import wait_until


class Scarce:
    """Work that runs out of memory until its n-th attempt."""

    def __init__(self, enough_at: int) -> None:
        self.attempts: list[int] = []
        self._enough_at = enough_at

    def __call__(self, threads: int) -> int:
        self.attempts.append(threads)
        if len(self.attempts) < self._enough_at:
            raise duckdb.OutOfMemoryException("Out of Memory Error: failed to pin a block\n\nhints")
        return 5


@pytest.fixture
def database() -> DuckDB:
    return DuckDB(Settings(memory=200_000_000, threads=2))


def threads_of(database: DuckDB) -> int:
    (row,) = database._db.execute("SELECT current_setting('threads')").fetchall()
    return int(row[0])


@pytest.mark.parametrize(("enough_at", "attempts"), [(1, [2]), (2, [2, 2]), (3, [2, 2, 1])])
def test_retries_alone_and_then_on_one_thread(
    database: DuckDB, enough_at: int, attempts: list[int]
) -> None:
    scarce = Scarce(enough_at)
    assert database._within_memory(lambda: scarce(threads_of(database))) == 5
    assert scarce.attempts == attempts
    assert threads_of(database) == 2


def limit_of(database: DuckDB) -> str:
    (row,) = database._db.execute("SELECT current_setting('memory_limit')").fetchall()
    return str(row[0])


def test_default_limit_is_raised_only_if_too_low() -> None:
    database = DuckDB(Settings(threads=2), rows=100_000_000)
    limits = []

    def work() -> str:
        limits.append(limit_of(database))
        if len(limits) < 3:
            raise duckdb.OutOfMemoryException("Out of Memory Error: failed to pin a block")
        return limits[-1]

    database._within_memory(work)
    assert limits[:2] == ["953.6 MiB"] * 2
    assert "GiB" in limits[2]
    assert limit_of(database) == limits[2], "what is to come needs as much"
    assert limit_of(DuckDB(Settings())) == "572.2 MiB"


def test_retries_if_the_spill_disk_is_full(database: DuckDB) -> None:
    attempts = []

    def work() -> int:
        attempts.append(1)
        if len(attempts) == 1:
            raise duckdb.IOException(f"IO Error: {database._spill}/block: No space left on device")
        return 5

    assert database._within_memory(work) == 5


def test_error_recommends_more_memory(database: DuckDB) -> None:
    scarce = Scarce(9)
    with pytest.raises(NotEnoughMemory, match=r"0\.2 GB.*failed to pin a block\. .*--memory"):
        database._within_memory(lambda: scarce(threads_of(database)))
    assert threads_of(database) == 2


def test_query_beyond_the_limit_leaves_the_database_usable(database: DuckDB) -> None:
    # A list is one value, which cannot be spilled.
    with pytest.raises(NotEnoughMemory, match="--memory"):
        database.rows("SELECT len(list(i)) AS n FROM range(200_000_000) AS r(i)")
    assert database.rows("SELECT 1 AS one") == [{"one": 1}]


def test_exclusive_lock_excludes_all_others() -> None:
    shared_lock, at_work, most = SharedLock(), [0, 0], [0]
    lock = threading.Lock()

    def work(number: int) -> None:
        alone = number % 5 == 0
        with shared_lock.exclusive() if alone else shared_lock.shared():
            with lock:
                at_work[alone] += 1
                assert at_work[True] == 0 or (at_work == [0, 1])
                most[0] = max(most[0], at_work[False])
            threading.Event().wait(0.001)
            with lock:
                at_work[alone] -= 1

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(200)))
    assert most[0] > 1


def test_waiting_exclusive_lock_blocks_new_shared_locks() -> None:
    lock, events = SharedLock(), []
    first = threading.Event()

    def hold_shared(name: str, until: threading.Event | None = None) -> None:
        with lock.shared():
            events.append(f"{name} began")
            if until is not None:
                until.wait(10)
            events.append(f"{name} ended")

    def hold_exclusive() -> None:
        with lock.exclusive():
            events.append("alone")

    with ThreadPoolExecutor(3) as pool:
        pool.submit(hold_shared, "a", first)
        wait_until(lambda: events, what="the first to begin", seconds=10)
        pool.submit(hold_exclusive)
        wait_until(lambda: lock._exclusive, what="one to ask to be alone", seconds=10)
        last = pool.submit(hold_shared, "b")
        first.set()
        last.result(10)
    assert events == ["a began", "a ended", "alone", "b began", "b ended"]
