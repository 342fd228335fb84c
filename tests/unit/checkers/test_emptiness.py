"""Queries that are known to have no rows if a table is empty."""

from __future__ import annotations

import duckdb
import pytest

from onceproof.checkers.engines.emptiness import is_empty

EMPTY = "e"
"""The table without rows; `f` has one."""


@pytest.mark.parametrize(
    "query",
    [
        "SELECT x FROM e",
        "SELECT f.x FROM f JOIN e ON e.x = f.x",
        "SELECT e.x FROM e LEFT JOIN f ON e.x = f.x",
        "SELECT x, count(*) AS n FROM e GROUP BY x",
        "SELECT s.x FROM (SELECT x FROM e WHERE x IN (SELECT x FROM f)) s",
        "SELECT x FROM e UNION ALL SELECT x FROM e",
        "SELECT max(x) OVER (ORDER BY x) AS m FROM e",
        "SELECT f.x FROM f CROSS JOIN e",
        "SELECT COALESCE(CAST(x AS BIGINT), 0) AS x FROM e",
    ],
)
def test_recognizes_empty_queries(query: str) -> None:
    assert is_empty(query, EMPTY.__eq__)
    assert rows(query) == 0


@pytest.mark.parametrize(
    "query",
    [
        "SELECT x FROM f",
        "SELECT count(*) AS n FROM e",
        "SELECT COALESCE(CAST(sum(x) AS BIGINT), 0) AS n FROM e",
        "SELECT (SELECT count(*) FROM e) AS n FROM f",
        "SELECT f.x FROM f LEFT JOIN e ON e.x = f.x",
        "SELECT f.x FROM e RIGHT JOIN f ON e.x = f.x",
        "SELECT f.x FROM e FULL JOIN f ON e.x = f.x",
        "SELECT f.x FROM f ANTI JOIN e ON e.x = f.x",
        "SELECT x FROM e UNION SELECT x FROM f",
        "SELECT x FROM f EXCEPT SELECT x FROM e",
        "SELECT f.x FROM f WHERE f.x NOT IN (SELECT x FROM e)",
        "SELECT f.x FROM f JOIN (SELECT count(*) AS n FROM e) c ON c.n = 0",
        "SELECT 'FROM e' AS x -- FROM e\nFROM f",
        "SELECT f.x IS DISTINCT FROM e AS d FROM (SELECT 1 AS x, 2 AS e) f",
        "SELECT e.e FROM range(1) e(e)",
        "WITH e AS (SELECT 1 AS x) SELECT x FROM e",
        "SELECT 1 AS x",
        "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY x) AS m FROM e",
    ],
)
def test_query_with_rows_is_not_called_empty(query: str) -> None:
    assert rows(query)
    assert not is_empty(query, EMPTY.__eq__)


def rows(query: str) -> int:
    with duckdb.connect() as database:
        database.execute("CREATE TABLE e (x BIGINT); CREATE TABLE f AS SELECT 1 AS x")
        return len(database.execute(query).fetchall())
