"""Writing the tables of a plan into a folder.

The big tables go from a query straight into their files, in the order in
which a real run has them, so that memory does not grow with the history.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.around import around
from benchmarks.bulk import BULK, select
from benchmarks.counters import PARTITIONS, Counters
from benchmarks.episode import Row, episode
from benchmarks.mutations import draw_mutations
from benchmarks.plan import Plan
from benchmarks.repeat import Part, repeated
from onceproof.checkers.tables import TABLES

MEMORY: Final = "1GB"
ROW_GROUP: Final = 122_880
_NAMED: Final = ["record", "effect_key", "source_partition", "source_offset"]
"""What `made.json` says of a mutated effect."""


def make(plan: Plan, folder: Path) -> dict[str, Any]:
    """Write every table of the contract.

    Returns:
        How many rows each table has, and the effects that were dropped and duplicated.
    """
    with closing(duckdb.connect()) as database:
        database.execute(f"SET memory_limit = '{MEMORY}'")
        database.execute(f"SET temp_directory = '{folder / 'spill'}'")
        return _Making(plan, folder, database).make()


class _Making:
    def __init__(self, plan: Plan, folder: Path, database: duckdb.DuckDBPyConnection) -> None:
        self._plan = plan
        self._folder = folder
        self._database = database
        self._times, rest = plan.batches
        self._main = episode(plan, plan.batch_records)
        self._last = episode(plan, rest, self._main.end.times(self._times))

    def make(self) -> dict[str, Any]:
        """Write everything."""
        self._dropped, self._doubled = self._mutations()
        # A query over numbers uses one thread, so two tables are written side by side.
        with ThreadPoolExecutor(max_workers=2) as pool:
            rows = dict(zip(BULK, pool.map(self._copy, BULK), strict=True))
        small = around(self._plan, self._main.end, self._last.end)
        for table in [name for name in TABLES if name not in BULK]:
            rows[table] = self._write(table, small.get(table, []))
        return {
            "rows": rows,
            "dropped": self._dropped.select(_NAMED).to_pylist(),
            "duplicated": self._doubled.select(_NAMED).to_pylist(),
        }

    def _copy(self, table: str) -> int:
        """Write a big table, on any thread; returns how many rows it has."""
        with closing(self._database.cursor()) as cursor:
            query = self._query(cursor, table)
            if not query:
                return self._write(table, [])
            if table == "effects" and (self._dropped.num_rows or self._doubled.num_rows):
                query = self._mutated(cursor, query)
            ((rows,),) = cursor.execute(
                f"COPY ({query}) TO '{self._path(table)}' "
                f"(FORMAT parquet, ROW_GROUP_SIZE {ROW_GROUP})"
            ).fetchall()
            return int(rows)

    def _query(self, cursor: duckdb.DuckDBPyConnection, table: str) -> str:
        """All rows of a big table; empty if there are none."""
        source = repeated(
            cursor,
            f"episode_{table}",
            self._parts(table),
            offset_base=self._plan.offset_base,
        )
        return select(table, source) if source else ""

    def _parts(self, table: str) -> Iterator[Part]:
        """What is written one after the other: the auditor reads a log partition by partition."""
        main: list[Row] = getattr(self._main, table)
        last: list[Row] = getattr(self._last, table)
        for partition in range(PARTITIONS) if table == "log" else (None,):
            yield Part(rows=_of(main, partition), first=0, times=self._times, moved=self._main.end)
            yield Part(rows=_of(last, partition), first=self._times, times=1, moved=Counters())

    def _mutations(self) -> tuple[pa.Table, pa.Table]:
        """The effects that are to be dropped and duplicated."""
        drawn = draw_mutations(self._plan, self._main.effects, self._times)
        with closing(self._database.cursor()) as cursor:
            query = self._query(cursor, "effects")
            return _those(cursor, query, drawn.dropped), _those(cursor, query, drawn.duplicated)

    def _mutated(self, cursor: duckdb.DuckDBPyConnection, query: str) -> str:
        """All effects but the dropped ones; the duplicated ones come twice."""
        cursor.register("dropped", self._dropped)
        cursor.register("duplicated", self._doubled)
        again = {
            "position": "position || ' again'",
            "ordinal": f"{self._last.end.effect} + row_number() OVER (ORDER BY ordinal)",
        }
        columns = ", ".join(
            f'{again[c.name]} AS "{c.name}"' if c.name in again else f'"{c.name}"'
            for c in TABLES["effects"].columns
        )
        return (
            f"SELECT * FROM ({query}) e WHERE e.ordinal NOT IN (SELECT ordinal FROM dropped) "
            f"UNION ALL SELECT {columns} FROM duplicated"
        )

    def _write(self, table: str, rows: list[Row]) -> int:
        made = pa.Table.from_pylist(rows, schema=TABLES[table].schema)
        pq.write_table(made, self._path(table))
        return int(made.num_rows)

    def _path(self, table: str) -> Path:
        return self._folder / f"{table}.parquet"


def _of(rows: list[Row], partition: int | None) -> list[Row]:
    return rows if partition is None else [r for r in rows if r["partition"] == partition]


def _those(cursor: duckdb.DuckDBPyConnection, query: str, ordinals: Iterable[int]) -> pa.Table:
    listed = ", ".join(map(str, ordinals))
    if not listed:
        return TABLES["effects"].schema.empty_table()
    return cursor.sql(
        f"SELECT * FROM ({query}) e WHERE e.ordinal IN ({listed}) ORDER BY e.ordinal"
    ).to_arrow_table()
