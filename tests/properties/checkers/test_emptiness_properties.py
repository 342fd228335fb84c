"""Queries that `is_empty` predicts to be empty return no rows."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from random import Random
from typing import Any

import duckdb
import pyarrow as pa

from onceproof.checkers import History, anomalies, atomic
from onceproof.checkers.circumstances import Circumstances
from onceproof.checkers.engines import Settings, open_history
from onceproof.checkers.engines.emptiness import is_empty
from onceproof.checkers.engines.overlay import standard_queries
from onceproof.checkers.judging import trials_of
from onceproof.checkers.promised import RequiredHistory
from onceproof.checkers.sample import choose

ROUNDS = 20
VALUES: dict[str, list[Any]] = {
    "string": ["a", "b", "input", "ok", "data", None],
    "bool": [True, False, None],
    "double": [0.5, 1.0, None],
}
NUMBERS = [0, 1, 2, 3, None]


@cache
def schemas() -> dict[str, pa.Schema]:
    """The columns of every table, relation and anomaly query."""
    history = History.of(**anomalies()["lost-output"].minimal)
    claims = [atomic("input", into=[("ledger", "table"), ("events", "table")])]
    with open_history(history, Settings()) as base:
        trials = trials_of(history, claims, Circumstances.of(history, RequiredHistory()))
        with (
            base.above(trials.tables()) as first,
            first.above({"sampled": choose(first, trials)}) as layer,
        ):
            names = {*standard_queries(), *history, *trials.tables(), "sampled"}
            return {n: layer.arrow(f"SELECT * FROM {n} LIMIT 0").schema for n in sorted(names)}


def random_table(draw: Random, schema: pa.Schema, rows: int) -> pa.Table:
    """A table of random values, few enough that some rows match."""
    columns = [
        pa.array(
            [
                draw.choice(VALUES.get(str(field.type), NUMBERS))
                if not pa.types.is_nested(field.type)
                else None
                for _ in range(rows)
            ],
            field.type,
        )
        for field in schema
    ]
    return pa.Table.from_arrays(columns, names=schema.names)


def checked_runs(name: str) -> int:
    """Runs a query wherever it is predicted to be empty; returns the number of successful runs."""
    draw = Random(name)
    query = standard_queries()[name].sql
    inputs = [table for table in schemas() if table in query and table != name]
    runs = 0
    with duckdb.connect() as database:
        for _ in range(ROUNDS):
            empty = {table for table in inputs if draw.random() < 0.3}
            if not is_empty(query, empty.__contains__):
                continue
            for table in inputs:
                content = random_table(draw, schemas()[table], 0 if table in empty else 4)
                database.register("content", content)
                database.execute(f"CREATE OR REPLACE TABLE {table} AS SELECT * FROM content")
            with suppress(duckdb.Error):  # e.g. a number out of range
                assert database.execute(query).fetchall() == [], f"{name} without {sorted(empty)}"
                runs += 1
    return runs


def test_queries_predicted_empty_return_no_rows() -> None:
    runs = {name: checked_runs(name) for name in sorted(standard_queries())}
    assert sum(map(bool, runs.values())) > 0.9 * len(runs), "few are ever said to have none"
