"""The relations of cycles, executed in DuckDB without any of our engines.

The history's tables are registered unchanged; a relation becomes a table once its inputs exist.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Self

import duckdb
import pyarrow as pa

from onceproof.checkers.cycles import shortest_cycles
from onceproof.checkers.history import History
from onceproof.checkers.relations import relations


class Queries:
    """Answers queries over the tables and relations of a history; each topic is one trial."""

    def __init__(self, history: History, topics: Sequence[str] = ("input",)) -> None:
        trials = pa.array(range(len(topics)), pa.int32())
        self._tables = {**history, "inputs": pa.table({"trial": trials, "topic": list(topics)})}
        self._ready: set[str] = set()
        self._database = duckdb.connect(":memory:", config={"threads": 1})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    def rows(self, query: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.table(query).to_pylist()
        return found

    def table(self, query: str) -> pa.Table:
        self._create_inputs(query)
        return self._database.sql(query).to_arrow_table()

    def _create_inputs(self, query: str) -> None:
        for name in re.findall(r"\b(?:FROM|JOIN)\s+(\w+)", query):
            if name in self._ready:
                continue
            if name in self._tables:
                self._database.register(name, self._tables[name])
            else:
                relation = relations()[name]
                rows = self.table(relation.sql)
                if relation.cycles is not None:
                    rows = shortest_cycles(rows, relation.cycles)
                self._database.register("arriving", rows)
                self._database.execute(f"CREATE TABLE {name} AS SELECT * FROM arriving")
                self._database.unregister("arriving")
            self._ready.add(name)
