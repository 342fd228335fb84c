"""Threads that query one engine: each relation is created once, and interrupts do not wait."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import duckdb
import pyarrow as pa
import pytest

from onceproof.checkers.engines.duckdb import DuckDB
from onceproof.checkers.engines.overlay import Layer
from onceproof.checkers.engines.parallel import workers
from onceproof.checkers.engines.settings import Settings
from onceproof.checkers.relations.base import Relation

_FOREVER = "SELECT count(*) AS n FROM range(1000000000000) a(i) WHERE a.i % 7 = 8"


class _Counting(DuckDB):
    """Records which relations are created, and signals the first."""

    def __init__(self) -> None:
        super().__init__(Settings())
        self.created: list[str] = []
        self.started = threading.Event()

    def create(self, name: str, query: str, *, stored: bool) -> int | None:
        self.created.append(name)
        self.started.set()
        return super().create(name, query, stored=stored)


@pytest.fixture
def database() -> Iterator[_Counting]:
    opened = _Counting()
    yield opened
    opened.close()


def _queries() -> dict[str, Relation]:
    """A diamond: `top` reads `left_one` and `right_one`, both read `slow`."""
    texts = {
        "slow": "SELECT a.n FROM numbers a JOIN numbers b ON a.n <> b.n",
        "left_one": "SELECT max(s.n) AS n FROM slow s",
        "right_one": "SELECT min(s.n) AS n FROM slow s",
        "top": "SELECT l.n - r.n AS n FROM left_one l CROSS JOIN right_one r",
    }
    return {name: Relation(name=name, meaning=name, sql=sql) for name, sql in texts.items()}


def _layer(database: DuckDB) -> Layer:
    return Layer(database, {"numbers": pa.table({"n": range(1500)})}, None, _queries())


def test_concurrent_requests_create_each_relation_once(database: _Counting) -> None:
    layer = _layer(database)
    together = threading.Barrier(4)

    def ask(name: str) -> int:
        together.wait(30)
        return layer.number(f"SELECT n FROM {name}")

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(ask, ["top", "left_one", "right_one", "top"]))
    assert answers == [1499, 1499, 0, 1499]
    assert len(database.created) == len(set(database.created)) == 4


def test_overlays_share_relations_of_the_layer_below(database: _Counting) -> None:
    layer = _layer(database)

    def query_overlay(changed: int) -> int:
        with layer.above({"right_one": pa.table({"n": [changed]})}) as overlay:
            return overlay.number("SELECT n FROM top")

    with workers(database) as pool:
        pending = [pool.submit(lambda k=k: query_overlay(k)) for k in range(6)]  # type: ignore[misc]
        assert layer.number("SELECT n FROM top") == 1499
        assert [future.result() for future in pending] == [1499 - k for k in range(6)]
    below = [name for name in database.created if name.endswith(("slow", "left_one"))]
    assert len(below) == 2


def test_single_thread_runs_jobs_in_the_caller() -> None:
    database = DuckDB(Settings(threads=1))
    order = []
    with workers(database) as pool:
        first = pool.submit(lambda: order.append(threading.get_ident()))
        order.append(threading.get_ident())
        pool.submit(lambda: order.append(threading.get_ident()))
    database.close()
    assert first.done()
    assert set(order) == {threading.get_ident()}


@pytest.mark.parametrize("threads", [1, 2])
def test_worker_error_is_raised(threads: int) -> None:
    database = DuckDB(Settings(threads=threads))
    with pytest.raises(duckdb.Error, match="nowhere"), workers(database) as pool:
        pool.submit(lambda: database.rows("SELECT 1 FROM nowhere")).result()
    database.close()


def test_interrupt_does_not_wait_for_a_query(database: _Counting) -> None:
    answers = []

    def ask() -> None:
        database.started.set()
        answers.append(database.rows(_FOREVER))

    def interrupted() -> None:
        with workers(database) as pool:
            pool.submit(ask)
            assert database.started.wait(30)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert answers == []
