"""DuckDB: tables, relations and anomalies in layers, each computed once and only when asked for.

The one thing to know: a `Layer` is a schema that holds what is different from the layer below. The
bottom holds the history. A trial puts `hop_input` and `hop_sink` on top, a wounded copy puts one
changed table on top of that; in each layer only what depends on the change is computed again, and
everything else is read from below.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from itertools import count, groupby
from typing import Any, Final

import duckdb
import pyarrow as pa

from checkers.anomalies import anomalies
from checkers.history import History
from checkers.model import Anomaly, Finding, Findings, Row, Value
from checkers.relations import relations

SHOWN: Final = 20
"""Findings of one anomaly that are kept in full; the count is always of all."""
WITNESS_ROWS: Final = 50
"""Rows of one finding that are kept."""
CAUSES: Final = 20
_SOURCE = re.compile(r'\b(?:FROM|JOIN)\s+"?(\w+)"?', re.IGNORECASE)
_numbers = count(1)


def answer_name(anomaly: Anomaly) -> str:
    """The table that holds an anomaly's witness rows."""
    return f"found_{anomaly.name.replace('-', '_')}"


def _queries() -> dict[str, str]:
    """Everything that is computed: relations, and each anomaly's rows under its answer's name."""
    return {name: relation.sql for name, relation in relations().items()} | {
        answer_name(anomaly): anomaly.sql for anomaly in anomalies().values()
    }


class Layer:
    """What differs from the layer below, and how to ask for everything as seen from here."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        changes: Mapping[str, pa.Table],
        below: Layer | None = None,
    ) -> None:
        """Put tables on top of a layer; `open_history` makes the bottom one."""
        self.below = below
        self._schema = f"layer_{next(_numbers)}"
        self._queries: dict[str, str] = _queries() if below is None else below._queries
        self._changed: dict[str, bool] = dict.fromkeys(changes, True)
        self._ready: set[str] = set(changes)
        self._hazards: tuple[Row, ...] = (
            below._hazards if below else tuple(_in_order(changes["hazards"]))
        )
        self._db = connection.cursor()
        self._db.execute(f"CREATE SCHEMA {self._schema}")
        self._path: tuple[str, ...] = (self._schema, *(below._path if below else ()))
        self._db.execute(f"SET search_path = '{','.join(self._path)}'")
        for name, table in changes.items():
            self._db.register("arriving", table)
            self._db.execute(f"CREATE TABLE {self._schema}.{name} AS SELECT * FROM arriving")
            self._db.unregister("arriving")

    @contextmanager
    def above(self, changes: Mapping[str, pa.Table]) -> Iterator[Layer]:
        """A layer on top of this one, gone when the context ends."""
        layer = Layer(self._db, changes, self)
        try:
            yield layer
        finally:
            layer._db.execute(f"DROP SCHEMA {layer._schema} CASCADE")
            layer._db.close()

    def rows(self, query: str, parameters: Sequence[Value] = ()) -> list[dict[str, Any]]:
        """Run a query over tables, relations and answers; rows as dicts."""
        for name in _SOURCE.findall(query):
            self._prepare(name)
        self._db.execute(query, list(parameters))
        names = [column[0] for column in self._db.description or ()]
        return [dict(zip(names, row, strict=True)) for row in self._db.fetchall()]

    def number(self, query: str, parameters: Sequence[Value] = ()) -> int:
        """The one number that a query yields."""
        ((value,),) = (row.values() for row in self.rows(query, parameters))
        return int(value)

    def counts(self) -> dict[str, int]:
        """Rows of everything that was computed in this layer and is a relation."""
        return {
            name: self.number(f"SELECT count(*) FROM {name}")
            for name in sorted(self._ready & relations().keys())
        }

    def has(self, anomaly: Anomaly, key: Mapping[str, Value]) -> bool:
        """Whether there is a finding whose key columns have these values."""
        test = " AND ".join(f'"{column}" IS NOT DISTINCT FROM ?' for column in key)
        query = f"SELECT count(*) FROM {answer_name(anomaly)} WHERE {test}"
        return self.number(query, list(key.values())) > 0

    def undecided(self, anomaly: Anomaly) -> bool:
        """Whether a part of the history that this anomaly needs was cut off."""
        if anomaly.undecided is None:
            return False
        return bool(self.rows(f"SELECT 1 AS one FROM ({anomaly.undecided}) u LIMIT 1"))

    def findings(self, anomaly: Anomaly) -> Findings:
        """All findings of an anomaly: how many, and the first of them in full, always the same."""
        answer = answer_name(anomaly)
        key = ", ".join(f'"{column}"' for column in anomaly.key)
        found = 0
        shown: tuple[Finding, ...] = ()
        if self.number(f"SELECT count(*) FROM {answer}"):
            found = self.number(f"SELECT count(*) FROM (SELECT DISTINCT {key} FROM {answer}) k")
            shown = tuple(self._shown(anomaly, answer, key))
        return Findings(
            anomaly=anomaly.name,
            hop=anomaly.hop,
            evidence=anomaly.evidence,
            count=found,
            shown=shown,
        )

    def _shown(self, anomaly: Anomaly, answer: str, key: str) -> Iterator[Finding]:
        """The first findings in the order of their keys, each with its first rows."""
        self.rows(f"SELECT * FROM {answer} LIMIT 0")
        columns = ", ".join(f'"{column[0]}"' for column in self._db.description or ())
        rows = self.rows(
            "SELECT * FROM ("
            f"SELECT f.*, dense_rank() OVER (ORDER BY {key}) AS finding_number, "
            f"row_number() OVER (PARTITION BY {key} ORDER BY {columns}) AS witness_number, "
            f"count(*) OVER (PARTITION BY {key}) AS witness_rows FROM {answer} f"
            f") n WHERE finding_number <= {SHOWN} AND witness_number <= {WITNESS_ROWS} "
            "ORDER BY finding_number, witness_number"
        )
        for _, group in groupby(rows, key=lambda row: row.pop("finding_number")):
            witness = []
            for row in group:
                row.pop("witness_number")
                rows_in_all = row.pop("witness_rows")
                witness.append(row)
            yield Finding(
                anomaly=anomaly.name,
                hop=anomaly.hop,
                evidence=anomaly.evidence,
                key={column: witness[0][column] for column in anomaly.key},
                sentence=anomaly.sentence.format_map({**witness[0], "rows": rows_in_all}),
                witness=tuple(witness),
                causes=self._causes(witness),
            )

    def _causes(self, witness: Sequence[Row]) -> tuple[Row, ...]:
        """Hazards of the same micro-batch of the same owner, or of the same attempt."""
        batches = {(r.get("owner"), r["batch"]) for r in witness if r.get("batch") is not None}
        attempts = {r["attempt"] for r in witness if r.get("attempt") is not None}
        found = [
            (number, row)
            for number, row in enumerate(self._hazards)
            if (row["attempt"] is not None and row["attempt"] in attempts)
            or (
                row["batch"] is not None
                and any(
                    batch == row["batch"]
                    and (None in (owner, row["owner"]) or owner == row["owner"])
                    for owner, batch in batches
                )
            )
        ]
        return tuple(row for _, row in found[:CAUSES])

    def _prepare(self, name: str) -> None:
        """Compute a relation or an answer, in the lowest layer that sees all that it depends on."""
        if name in self._ready or name not in self._queries:
            return
        if self.below is not None and not self._depends(name):
            self.below._prepare(name)
            return
        for needed in _SOURCE.findall(self._queries[name]):
            self._prepare(needed)
        self._db.execute(f"CREATE TABLE {self._schema}.{name} AS {self._queries[name]}")
        self._ready.add(name)

    def _depends(self, name: str) -> bool:
        """Whether a name means something else here than in the layer below."""
        if name not in self._changed:
            query = self._queries.get(name)
            self._changed[name] = query is not None and any(
                self._depends(needed) for needed in _SOURCE.findall(query) if needed != name
            )
        return self._changed[name]


def _in_order(hazards: pa.Table) -> list[Row]:
    order = [(name, "ascending") for name in ("clock", "at", "hazard", "owner", "batch", "attempt")]
    rows: list[Row] = hazards.sort_by(order).to_pylist()
    return rows


@contextmanager
def open_history(history: History) -> Iterator[Layer]:
    """The bottom layer: the history's tables, as far as any query reads them."""
    used = {name for query in _queries().values() for name in _SOURCE.findall(query)}
    used |= {"hazards"}
    with closing(duckdb.connect(":memory:")) as connection:
        yield Layer(connection, {name: t for name, t in history.items() if name in used})
