"""Layers of tables, relations and answers, each computed once and on demand.

The bottom layer holds the history, the next adds the trials, and a mutated copy adds changed tables
on top. Each layer recomputes only what depends on a change. A query that needs an empty table is
not run at all. Several threads may query; one that needs what another computes waits.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import count, groupby
from typing import Any, Final

import pyarrow as pa

from onceproof.checkers.anomalies import anomalies
from onceproof.checkers.cycles import shortest_cycles
from onceproof.checkers.effect_words import named
from onceproof.checkers.engines import emptiness
from onceproof.checkers.engines.database import Database
from onceproof.checkers.engines.literals import literal
from onceproof.checkers.model import Anomaly, Evidence, Finding, Findings, Row, Value
from onceproof.checkers.relations import relations
from onceproof.checkers.relations.base import Relation

SHOWN: Final = 20
"""Findings of one anomaly that are kept in full; the count always covers all."""
WITNESS_ROWS: Final = 50
CAUSES: Final = 20
_SOURCE = re.compile(r"\b(FROM|JOIN)(\s+)(\w+)", re.IGNORECASE)
_numbers = count(1)
_CAUSE_ORDER = ("clock", "at", "hazard", "owner", "batch", "attempt")


def answer_name(anomaly: Anomaly) -> str:
    return f"found_{anomaly.name.replace('-', '_')}"


@cache
def standard_queries() -> Mapping[str, Relation]:
    """Return the relations, and each anomaly's query under its answer's name."""
    answers = {
        answer_name(a): Relation(
            name=answer_name(a), meaning=a.definition, sql=a.sql, empty_without=a.empty_without
        )
        for a in anomalies().values()
    }
    return {**relations(), **answers}


@cache
def _needs(query: str) -> frozenset[str]:
    return frozenset(name for _, _, name in _SOURCE.findall(query))


class Layer:
    """The differences from the layer below, and queries on everything as seen from this layer."""

    def __init__(
        self,
        database: Database,
        changes: Mapping[str, pa.Table],
        below: Layer | None = None,
        queries: Mapping[str, Relation] | None = None,
    ) -> None:
        self.below = below
        self.database = database
        self._number = next(_numbers)
        self._computing: dict[str, threading.Lock] = {}
        self._queries: Mapping[str, Relation] = queries or (
            below._queries if below else standard_queries()
        )
        self._changed: dict[str, bool] = {}
        self._pinned: frozenset[str] = below._pinned if below else frozenset()
        """Relations that are not recomputed although they depend on a change."""
        self._rows: dict[str, int | None] = {}
        """What this layer holds, by its name in queries, with its number of rows where known."""
        self._names: dict[str, str] = {}
        """The name in the database. An empty table has none until a query needs it."""
        self._empty: dict[str, pa.Table] = {}
        for name, table in changes.items():
            self.put(name, table)

    def put(self, name: str, table: pa.Table) -> None:
        if table.num_rows:
            self._names[name] = self._table_name(name)
            self.database.put(self._names[name], table)
        else:
            self._empty[name] = table
        self._rows[name] = table.num_rows

    def attach(self, name: str, place: str, columns: str) -> None:
        self._names[name] = self._table_name(name)
        self.database.attach(self._names[name], place, columns)
        self._rows[name] = None

    @contextmanager
    def above(
        self,
        changes: Mapping[str, pa.Table],
        queries: Mapping[str, Relation] | None = None,
        pinned: Iterable[str] = (),
    ) -> Iterator[Layer]:
        """Create a layer on top of this one and drop it when the context ends.

        Args:
            queries: relations and answers that replace those of this layer.
            pinned: relations that are not recomputed in the new layer or above it.
        """
        pinned = frozenset(pinned)
        for name in sorted(pinned):
            self._prepare(name)
        layer = Layer(self.database, changes, self, queries)
        layer._pinned |= pinned
        try:
            yield layer
        finally:
            self.database.drop(reversed(layer._names.values()))

    def rows(self, query: str) -> list[dict[str, Any]]:
        return [] if self._must_be_empty(query) else self.database.rows(self._resolved(query))

    def arrow(self, query: str) -> pa.Table:
        return self.database.arrow(self._resolved(query))

    def number(self, query: str) -> int:
        ((value,),) = (row.values() for row in self.rows(query))
        return int(value)

    def counts(self) -> dict[str, int]:
        return {
            name: rows
            for name, rows in sorted(self._rows.items())
            if rows is not None and name in relations()
        }

    def answer(self, anomaly: Anomaly) -> list[dict[str, Any]]:
        return self.rows(f"SELECT * FROM {answer_name(anomaly)}")

    def has(self, anomaly: Anomaly, trial: int, key: Mapping[str, Value]) -> bool:
        test = " AND ".join(f'"{column}" = {literal(value)}' for column, value in key.items())
        return bool(
            self.rows(
                f"SELECT 1 AS one FROM {answer_name(anomaly)} "
                f"WHERE trial = {trial} AND {test} LIMIT 1"
            )
        )

    def undecided(self, anomaly: Anomaly) -> frozenset[int]:
        if anomaly.undecided is None:
            return frozenset()
        return frozenset(row["trial"] for row in self.rows(anomaly.undecided))

    def findings(self, anomaly: Anomaly, hazards: Sequence[Row] = ()) -> dict[int, Findings]:
        """Return an anomaly's findings by trial: their number, and the first of them in full."""
        answer = answer_name(anomaly)
        key = ", ".join(f'"{column}"' for column in anomaly.key)
        if self._is_empty(answer):
            return {}
        counted = self.rows(
            f"SELECT trial, count(*) AS n FROM (SELECT DISTINCT trial, {key} FROM {answer}) k "
            "GROUP BY trial"
        )
        shown: dict[int, list[Finding]] = {}
        for trial, finding in self._shown(anomaly, answer, key, _in_order(hazards)):
            shown.setdefault(trial, []).append(finding)
        return {
            row["trial"]: Findings(
                anomaly=anomaly.name,
                hop=anomaly.hop,
                evidence=anomaly.evidence,
                count=row["n"],
                shown=tuple(shown[row["trial"]]),
            )
            for row in counted
        }

    def _shown(
        self, anomaly: Anomaly, answer: str, key: str, hazards: Sequence[Row]
    ) -> Iterator[tuple[int, Finding]]:
        names = self.arrow(f"SELECT * FROM {answer} LIMIT 0").schema.names
        columns = ", ".join(f'"{name}"' for name in names)
        rows = self.rows(
            "SELECT * FROM ("
            f"SELECT f.*, dense_rank() OVER (PARTITION BY trial ORDER BY {key}) AS finding_number, "
            f"row_number() OVER (PARTITION BY trial, {key} ORDER BY {columns}) AS witness_number, "
            f"count(*) OVER (PARTITION BY trial, {key}) AS witness_rows FROM {answer} f"
            f") n WHERE finding_number <= {SHOWN} AND witness_number <= {WITNESS_ROWS} "
            "ORDER BY trial, finding_number, witness_number"
        )
        for (trial, _), group in groupby(rows, key=lambda r: (r["trial"], r["finding_number"])):
            witness: list[dict[str, Any]] = []
            for row in group:
                rows_in_all = row["witness_rows"]
                witness.append({n: row[n] for n in names if n != "trial"})
            yield (
                trial,
                Finding(
                    anomaly=anomaly.name,
                    hop=anomaly.hop,
                    evidence=anomaly.evidence,
                    key={column: witness[0][column] for column in anomaly.key},
                    sentence=anomaly.describe(witness)
                    if anomaly.describe
                    else anomaly.sentence.format_map(
                        {**witness[0], "rows": rows_in_all, "named": named(witness[0])}
                    ),
                    witness=tuple(witness),
                    causes=_causes(witness, hazards),
                ),
            )

    @property
    def queries(self) -> Mapping[str, Relation]:
        return self._queries

    def _table_name(self, name: str) -> str:
        return f"l{self._number}_{name}"

    def _resolved(self, query: str) -> str:
        """Translate a query into the engine's dialect, with table names as in the database."""
        for name in sorted(_needs(query)):
            self._prepare(name)
        return _SOURCE.sub(
            lambda found: f"{found[1]}{found[2]}{self._place(found[3]) or found[3]}",
            self.database.translated(query),
        )

    def _home(self, name: str) -> Layer | None:
        """Return the layer that holds a table, relation or answer as seen from here."""
        layer: Layer | None = self
        while layer is not None and name not in layer._rows:
            layer = layer.below
        return layer

    def _place(self, name: str) -> str | None:
        home = self._home(name)
        if home is None:
            return None
        if name not in home._names:
            under = home.below and home.below._home(name)
            if under and under._rows[name] == 0:
                return under._place(name)
            with home._computing.setdefault(f"{name} as a table", threading.Lock()):
                if name not in home._names:
                    home._create_empty(name)
        return home._names[name]

    def _create_empty(self, name: str) -> None:
        below = self.below and self.below._home(name)
        table_name = self._table_name(name)
        if name in self._empty:
            self.database.put(table_name, self._empty[name])
        elif below is not None:
            query = f"SELECT * FROM {below._place(name)} nothing LIMIT 0"
            self.database.create(table_name, query, stored=True)
        else:
            query = f"SELECT * FROM ({self._resolved(self._queries[name].sql)}) nothing LIMIT 0"
            self.database.create(table_name, query, stored=True)
        self._names[name] = table_name

    def _prepare(self, name: str) -> None:
        """Compute a relation or answer in the lowest layer that has all its dependencies."""
        if name not in self._queries:
            return
        if self.below is not None and not self._depends(name):
            self.below._prepare(name)
            return
        with self._computing.setdefault(name, threading.Lock()):
            if name not in self._rows:
                self._compute(name, self._queries[name])

    def _compute(self, name: str, relation: Relation) -> None:
        if relation.cycles is not None:
            self.put(name, shortest_cycles(self.arrow(relation.sql), relation.cycles))
        elif self._must_be_empty(relation.sql) or any(map(self._is_empty, relation.empty_without)):
            self._rows[name] = 0
        else:
            query = self._resolved(relation.sql)
            table_name = self._table_name(name)
            rows = self.database.create(table_name, query, stored=relation.stored)
            self._names[name] = table_name
            self._rows[name] = rows

    def _must_be_empty(self, query: str) -> bool:
        # Check in the query's order, not known results first, so that every run computes the same
        # relations.
        return emptiness.is_empty(query, self._is_empty)

    def _is_empty(self, name: str) -> bool:
        self._prepare(name)
        home = self._home(name)
        return home is not None and home._rows[name] == 0

    def _depends(self, name: str) -> bool:
        if name in self._rows:
            return True
        if name in self._pinned:
            return False
        if name not in self._changed:
            relation = self._queries.get(name)
            self._changed[name] = relation is not None and (
                (self.below is not None and self.below._queries.get(name) is not relation)
                or any(self._depends(n) for n in _needs(relation.sql) if n != name)
            )
        return self._changed[name]


def _causes(witness: Sequence[Row], hazards: Sequence[Row]) -> tuple[Row, ...]:
    """Return hazards of the same micro-batch of the same owner, or of the same attempt."""
    batches = {(r.get("owner"), r["batch"]) for r in witness if r.get("batch") is not None}
    attempts = {r["attempt"] for r in witness if r.get("attempt") is not None}
    found = [
        row
        for row in hazards
        if (row["attempt"] is not None and row["attempt"] in attempts)
        or (
            row["batch"] is not None
            and any(
                batch == row["batch"] and (None in (owner, row["owner"]) or owner == row["owner"])
                for owner, batch in batches
            )
        )
    ]
    return tuple(found[:CAUSES])


def _in_order(hazards: Sequence[Row]) -> list[Row]:
    return sorted(hazards, key=lambda row: [(row[c] is None, row[c]) for c in _CAUSE_ORDER])


def of_the_run(anomaly: Anomaly) -> bool:
    return anomaly.evidence is Evidence.LIVENESS
