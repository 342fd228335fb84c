"""Judging within a limit of memory: alone where two are too many; told where it is not enough."""

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
    """Work that finds enough memory only at its n-th try."""

    def __init__(self, enough_at: int) -> None:
        self.tries: list[int] = []
        self._enough_at = enough_at

    def __call__(self, threads: int) -> int:
        self.tries.append(threads)
        if len(self.tries) < self._enough_at:
            raise duckdb.OutOfMemoryException("Out of Memory Error: failed to pin a block\n\nhints")
        return 5


@pytest.fixture
def database() -> DuckDB:
    return DuckDB(Settings(memory=200_000_000, threads=2))


def threads_of(database: DuckDB) -> int:
    (row,) = database._db.execute("SELECT current_setting('threads')").fetchall()
    return int(row[0])


@pytest.mark.parametrize(("enough_at", "tries"), [(1, [2]), (2, [2, 2]), (3, [2, 2, 1])])
def test_it_is_tried_again_alone_and_then_on_one_thread(
    database: DuckDB, enough_at: int, tries: list[int]
) -> None:
    scarce = Scarce(enough_at)
    assert database._within_memory(lambda: scarce(threads_of(database))) == 5
    assert scarce.tries == tries
    assert threads_of(database) == 2


def limit_of(database: DuckDB) -> str:
    (row,) = database._db.execute("SELECT current_setting('memory_limit')").fetchall()
    return str(row[0])


def test_where_no_limit_is_set_little_is_held_until_that_does_not_suffice() -> None:
    database = DuckDB(Settings(threads=2), rows=100_000_000)
    held = []

    def work() -> str:
        held.append(limit_of(database))
        if len(held) < 3:
            raise duckdb.OutOfMemoryException("Out of Memory Error: failed to pin a block")
        return held[-1]

    database._within_memory(work)
    assert held[:2] == ["953.6 MiB"] * 2
    assert "GiB" in held[2]
    assert limit_of(database) == held[2], "what is to come needs as much"
    assert limit_of(DuckDB(Settings())) == "572.2 MiB"


def test_a_full_disk_is_memory_that_is_short(database: DuckDB) -> None:
    tries = []

    def work() -> int:
        tries.append(1)
        if len(tries) == 1:
            raise duckdb.IOException(f"IO Error: {database._spill}/block: No space left on device")
        return 5

    assert database._within_memory(work) == 5


def test_what_cannot_be_done_says_what_to_do(database: DuckDB) -> None:
    scarce = Scarce(9)
    with pytest.raises(NotEnoughMemory, match=r"0\.2 GB.*failed to pin a block\. .*--memory"):
        database._within_memory(lambda: scarce(threads_of(database)))
    assert threads_of(database) == 2


def test_a_real_query_that_holds_too_much_is_told(database: DuckDB) -> None:
    # A list is one value, which cannot be spilled.
    with pytest.raises(NotEnoughMemory, match="--memory"):
        database.rows("SELECT len(list(i)) AS n FROM range(200_000_000) AS r(i)")
    assert database.rows("SELECT 1 AS one") == [{"one": 1}]


def test_alone_means_that_nobody_else_is_at_work() -> None:
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


def test_one_alone_waits_for_those_at_work_and_holds_back_the_next() -> None:
    lock, said = SharedLock(), []
    first = threading.Event()

    def beside(name: str, until: threading.Event | None = None) -> None:
        with lock.shared():
            said.append(f"{name} began")
            if until is not None:
                until.wait(10)
            said.append(f"{name} ended")

    def alone() -> None:
        with lock.exclusive():
            said.append("alone")

    with ThreadPoolExecutor(3) as pool:
        pool.submit(beside, "a", first)
        wait_until(lambda: said, what="the first to begin", seconds=10)
        pool.submit(alone)
        wait_until(lambda: lock._exclusive, what="one to ask to be alone", seconds=10)
        last = pool.submit(beside, "b")
        first.set()
        last.result(10)
    assert said == ["a began", "a ended", "alone", "b began", "b ended"]
