"""What is said to have no rows has none: every query, over tables of which some are empty."""

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
from onceproof.checkers.promised import Promised
from onceproof.checkers.sample import choose

TIMES = 20
VALUES: dict[str, list[Any]] = {
    "string": ["a", "b", "input", "ok", "data", None],
    "bool": [True, False, None],
    "double": [0.5, 1.0, None],
}
NUMBERS = [0, 1, 2, 3, None]


@cache
def schemas() -> dict[str, pa.Schema]:
    """The columns of every table, relation and answer."""
    history = History.of(**anomalies()["lost-output"].minimal)
    claims = [atomic("input", into=[("ledger", "table"), ("events", "table")])]
    with open_history(history, Settings()) as bottom:
        trials = trials_of(history, claims, Circumstances.of(history, Promised()))
        with (
            bottom.above(trials.tables()) as first,
            first.above({"sampled": choose(first, trials)}) as layer,
        ):
            names = {*standard_queries(), *history, *trials.tables(), "sampled"}
            return {n: layer.arrow(f"SELECT * FROM {n} LIMIT 0").schema for n in sorted(names)}


def filled(draw: Random, schema: pa.Schema, rows: int) -> pa.Table:
    """Rows at random, of few values, so that some of them match."""
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


def asked(name: str) -> int:
    """Ask a query that is said to have no rows, over and over; how often it could be asked."""
    draw = Random(name)
    query = standard_queries()[name].sql
    needs = [table for table in schemas() if table in query and table != name]
    answers = 0
    with duckdb.connect() as database:
        for _ in range(TIMES):
            empty = {table for table in needs if draw.random() < 0.3}
            if not is_empty(query, empty.__contains__):
                continue
            for table in needs:
                content = filled(draw, schemas()[table], 0 if table in empty else 4)
                database.register("content", content)
                database.execute(f"CREATE OR REPLACE TABLE {table} AS SELECT * FROM content")
            with suppress(duckdb.Error):  # such as a number that is too large for its type
                assert database.execute(query).fetchall() == [], f"{name} without {sorted(empty)}"
                answers += 1
    return answers


def test_a_query_that_is_said_to_have_no_rows_has_none() -> None:
    answers = {name: asked(name) for name in sorted(standard_queries())}
    assert sum(map(bool, answers.values())) > 0.9 * len(answers), "few are ever said to have none"
