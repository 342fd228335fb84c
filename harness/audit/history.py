"""Build a history from the rows that an audit read, and choose the inputs to judge.

An input is judged if it has its effects in every output, or if the pipeline has passed it: its
consumer group committed a higher offset or, without a known group, an input of the same partition
that is later by `settle` has an effect in every output. All other inputs are undecided. So is an
input that shares its identity with an undecided one, since the effects may belong to either.
Effects of inputs that are not judged are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import duckdb
import pyarrow as pa

from onceproof.checkers.engines.literals import literal
from onceproof.harness.audit.counts import Counts, OutputCounts, PartitionCounts
from onceproof.harness.audit.database import database, raw_rows
from onceproof.harness.audit.folder import AuditFolder
from onceproof.harness.audit.judged import Judged, Side
from onceproof.harness.user_pipeline.effects import NOT_JUDGED

_CLOCK: Final = "audit"


class AmbiguousIdentity(ValueError):
    """Inputs that share an identity cannot be told apart; the message names the identity."""


def make_history(of: Judged, folder: AuditFolder, memory: int | None) -> Counts:
    """Write the tables of a history into the folder; for `memory` see `database`.

    Raises:
        AmbiguousIdentity: inputs with the same identity have different expected contents.
    """
    with database(folder, memory) as db:
        tables = _Tables(db, of, folder)
        tables.read()
        tables.reached()
        tables.log()
        tables.effects()
        tables.expected()
        tables.phases()
        return Counts(partitions=tables.partitions(), outputs=tables.outputs())


class _Tables:
    """The steps of `make_history`, in the order of their calls."""

    def __init__(self, db: duckdb.DuckDBPyConnection, of: Judged, folder: AuditFolder) -> None:
        self._db, self._judged, self._folder = db, of, folder
        self._sides = (*of.outputs, *(() if of.dead is None else (of.dead,)))

    def read(self) -> None:
        """Create the views `ins` and `outs_0`, `outs_1`, …, and the table `win`."""
        self._db.execute(f"CREATE VIEW ins AS SELECT * FROM {self._raw('input')}")
        for side in self._sides:
            self._db.execute(
                f"CREATE VIEW outs_{side.number} AS SELECT * FROM {self._raw(str(side.number))}"
            )
        self._create_table(
            "win",
            {
                "partition": pa.array(self._judged.window, pa.int32()),
                "first": pa.array([first for first, _ in self._judged.window.values()], pa.int64()),
                "last": pa.array([last for _, last in self._judged.window.values()], pa.int64()),
            },
        )

    def reached(self) -> None:
        """Create `frontier`: per partition, the offset and timestamp that the pipeline reached."""
        if self._judged.committed is not None:
            self._create_table(
                "frontier",
                {
                    "partition": pa.array(self._judged.committed, pa.int32()),
                    "offset": pa.array(self._judged.committed.values(), pa.int64()),
                    "stamp": pa.array([None] * len(self._judged.committed), pa.int64()),
                },
            )
            return
        # A hash is enough: a collision could only move a frontier to an input of the same time.
        for side in self._judged.outputs:
            self._db.execute(
                f"""CREATE TABLE reached_{side.number} AS
SELECT i."partition", max(i."offset") AS "offset",
       least(max(i.stamp), {self._judged.now}) - {self._judged.settle} AS stamp
FROM (SELECT "partition", "offset", stamp, hash(record) AS h FROM ins WHERE record IS NOT NULL) i
SEMI JOIN (SELECT DISTINCT hash(record) AS h FROM ({self._handled_by(side)})
           WHERE record IS NOT NULL) o ON o.h = i.h
GROUP BY ALL"""
            )
        each = " UNION ALL ".join(f"SELECT * FROM reached_{s.number}" for s in self._judged.outputs)
        self._db.execute(
            f"""CREATE TABLE frontier AS
SELECT "partition", min("offset") AS "offset", min(stamp) AS stamp FROM ({each})
GROUP BY "partition" HAVING count(*) = {len(self._judged.outputs)}"""
        )

    def log(self) -> None:
        """Write `log`: every read record with the identity of a judged input."""
        settle = self._judged.settle
        readable = "".join(
            (f" AND i.stamp >= {side.oldest + settle}" if side.oldest is not None else "")
            + (f" AND i.stamp < {side.newest - settle}" if side.newest is not None else "")
            for side in self._sides
        )
        self._db.execute(
            f"""CREATE VIEW placed AS
SELECT i."partition", i."offset", i.stamp, i.record,
       COALESCE(
           i."offset" < f."offset" AND (f.stamp IS NULL OR i.stamp <= f.stamp){readable}, FALSE
       ) AS passed,
       COALESCE(i."offset" >= w.first AND i."offset" < w.last, FALSE) AS inside
FROM ins i
LEFT JOIN win w ON w."partition" = i."partition"
LEFT JOIN frontier f ON f."partition" = i."partition" """
        )
        self._db.execute(f"CREATE TABLE open AS {self._undecided()}")
        inside = "SELECT * FROM placed WHERE inside AND record IS NOT NULL"
        self._copy(
            "log",
            f"""
SELECT {literal(self._judged.input)} AS topic, i."partition", i."offset", 'data' AS kind, i.record,
       TRUE AS committed
FROM (
    {inside}
    UNION ALL
    SELECT p.* FROM (SELECT * FROM placed WHERE NOT inside) p
    SEMI JOIN ({inside}) n ON n.record = p.record
) i
ANTI JOIN open ON open.record = i.record""",
        )
        self._db.execute(
            f"CREATE VIEW log AS SELECT * FROM read_parquet({literal(self._table('log'))})"
        )

    def _undecided(self) -> str:
        """Select records that the pipeline may not have passed, and that lack effects."""
        self._db.execute(
            "CREATE TABLE tail AS SELECT DISTINCT record FROM placed "
            "WHERE NOT passed AND record IS NOT NULL"
        )
        complete = " INTERSECT ".join(
            f"({self._complete_in(side)})" for side in self._judged.outputs
        )
        return f"SELECT record FROM tail EXCEPT ({complete})"

    def _complete_in(self, side: Side) -> str:
        """Select records of `tail` that have all their distinct effects, or are dead letters."""
        if side.most is None:
            due = (
                "COALESCE(d.n, 0)",
                "LEFT JOIN (SELECT x.record, count(DISTINCT x.effect_key) AS n "
                f"FROM {self._raw(f'expected-{side.number}')} x "
                "SEMI JOIN tail t ON t.record = x.record GROUP BY x.record) d "
                "ON d.record = t.record",
            )
        else:
            due = (str(0 if side.optional else side.most), "")
        return f"""
SELECT t.record FROM tail t
LEFT JOIN (
    SELECT o.record, count(DISTINCT COALESCE(o.effect_key, '')) AS n
    FROM outs_{side.number} o
    SEMI JOIN tail t ON t.record = o.record
    GROUP BY o.record
) o ON o.record = t.record
{due[1]}
WHERE COALESCE(o.n, 0) >= {due[0]}
{self._dead_letters()}"""

    def _dead_letters(self) -> str:
        if self._judged.dead is None:
            return ""
        return (
            f"UNION SELECT t.record FROM tail t SEMI JOIN outs_{self._judged.dead.number} d "
            "ON d.record = t.record"
        )

    def _handled_by(self, side: Side) -> str:
        dead = self._judged.dead
        dead_letters = "" if dead is None else f" UNION ALL SELECT record FROM outs_{dead.number}"
        return f"SELECT record FROM outs_{side.number}{dead_letters}"

    def effects(self) -> None:
        """Write `effects`: those of judged inputs, and those that have no input."""
        self._copy("effects", " UNION ALL ".join(map(self._effects, self._sides)))

    def _effects(self, side: Side) -> str:
        key = (
            # As in `ExpectedEffects.named`: the rank among distinct contents, shortest first.
            "CAST(dense_rank() OVER (PARTITION BY e.record "
            "ORDER BY length(e.effect_key), e.effect_key) AS VARCHAR)"
            if side.ranked
            else "COALESCE(e.effect_key, '')"
        )
        place = (
            f"""{literal(side.name)} || '-' || e."partition" || '@' || e."offset" """
            if side.topic
            else "e.position"
        )
        # Outputs other than topics are read after the input and may have effects of later inputs.
        unknown_effects = (
            f"UNION ALL SELECT o.* FROM outs_{side.number} o "
            "ANTI JOIN ins i ON i.record = o.record WHERE o.record IS NOT NULL"
            if self._keeps_unknown(side)
            else ""
        )
        nameless = (
            ""
            if self._judged.nameless
            else f"UNION ALL SELECT * FROM outs_{side.number} WHERE record IS NULL"
        )
        return f"""
SELECT {literal(side.name)} AS sink, {literal(side.view)} AS "view", e.record,
       {key} AS effect_key, COALESCE(e.digest, {literal(NOT_JUDGED)}) AS digest,
       {place} AS position, e."offset" AS ordinal
FROM (
    SELECT o.* FROM outs_{side.number} o SEMI JOIN log l ON l.record = o.record
    {unknown_effects}
    {nameless}
) e"""

    def _keeps_unknown(self, side: Side) -> bool:
        """Return whether effects of unknown inputs are judged: no such input was ever sent."""
        return self._judged.whole and side.topic

    def expected(self) -> None:
        """Write `expected`: the effects that each identity must have; raises as `make_history`."""
        selects = []
        for side in self._judged.outputs:
            if side.most is None:
                raw = self._raw(f"expected-{side.number}")
                rows = f"SELECT x.* FROM {raw} x SEMI JOIN log l ON l.record = x.record"
                self._check_identities(rows)
                source = f"(SELECT DISTINCT record, effect_key, digest FROM ({rows}))"
            else:
                names = map(str, range(1, side.most + 1)) if side.most > 1 else ("",)
                source = (
                    f"(SELECT l.record, n.effect_key, {literal(NOT_JUDGED)} AS digest "
                    "FROM (SELECT DISTINCT record FROM log) l "
                    f"CROSS JOIN (VALUES {', '.join(f'({literal(n)})' for n in names)}) "
                    "n(effect_key))"
                )
            optional = side.optional and side.most is not None
            selects.append(
                f"SELECT {literal(side.name)} AS sink, x.record, x.effect_key, x.digest, "
                f"{optional} AS optional FROM {source} x"
            )
        self._copy("expected", " UNION ALL ".join(selects))

    def _check_identities(self, rows: str) -> None:
        ambiguous = self._db.execute(
            f"SELECT record FROM ({rows}) GROUP BY record, effect_key "
            "HAVING count(DISTINCT digest) > 1 LIMIT 1"
        ).fetchone()
        if ambiguous is not None:
            raise AmbiguousIdentity(
                f"inputs that share the identity {ambiguous[0]!r} have different expected "
                "contents; expected an identity that is unique to each input (--input-identity)"
            )

    def phases(self) -> None:
        """Write `phases` with a successful settle and collect: judged inputs have settled."""
        phases = ", ".join(
            f"('{name}', 0::BIGINT, 1::BIGINT, 'ok', '{_CLOCK}')" for name in ("settle", "collect")
        )
        self._copy(
            "phases",
            f"SELECT * FROM (VALUES {phases}) t(phase, started_at, ended_at, outcome, clock)",
        )

    def partitions(self) -> tuple[PartitionCounts, ...]:
        rows = self._db.execute(
            """
SELECT w."partition", w.first, w.last, COALESCE(n.inputs, 0) AS inputs,
       COALESCE(n.undecided, 0) AS undecided, COALESCE(n.nameless, 0) AS nameless,
       f."offset" AS reached, n.undecided_since, n.from_at, n.to_at
FROM win w
LEFT JOIN frontier f ON f."partition" = w."partition"
LEFT JOIN (
    SELECT p."partition", count(*) AS inputs,
           count(*) FILTER (o.record IS NOT NULL) AS undecided,
           count(*) FILTER (p.record IS NULL) AS nameless,
           min(p.stamp) FILTER (o.record IS NOT NULL) AS undecided_since,
           min(p.stamp) AS from_at, max(p.stamp) AS to_at
    FROM placed p
    LEFT JOIN open o ON o.record = p.record
    WHERE p.inside
    GROUP BY p."partition"
) n ON n."partition" = w."partition"
ORDER BY w."partition" """
        )
        names = [column[0] for column in rows.description or ()]
        return tuple(
            PartitionCounts(**dict(zip(names, row, strict=True))) for row in rows.fetchall()
        )

    def outputs(self) -> tuple[OutputCounts, ...]:
        rows = self._db.execute(
            "SELECT sink, count(*) FROM "
            f"read_parquet({literal(self._table('effects'))}) GROUP BY sink"
        ).fetchall()
        written = dict(rows)
        return tuple(self._counts(side, written.get(side.name, 0)) for side in self._sides)

    def _counts(self, side: Side, written: int) -> OutputCounts:
        # A hash is enough, since these are only counted.
        (row,) = self._db.execute(
            f"""
SELECT count(*) FILTER (o.record IS NOT NULL AND k.h IS NOT NULL) AS named,
       count(*) FILTER (o.record IS NOT NULL AND k.h IS NULL) AS unknown,
       count(*) FILTER (o.record IS NULL) AS nameless
FROM (SELECT record, hash(record) AS h FROM outs_{side.number}) o
LEFT JOIN (SELECT DISTINCT hash(record) AS h FROM ins WHERE record IS NOT NULL) k ON k.h = o.h"""
        ).fetchall()
        named, unknown, nameless = row
        judged = (
            written - unknown * self._keeps_unknown(side) - nameless * (not self._judged.nameless)
        )
        return OutputCounts(
            name=side.name,
            view=side.view,
            judged=judged,
            others=named - judged,
            unknown=unknown,
            nameless=nameless,
        )

    def _raw(self, what: str) -> str:
        return raw_rows(self._folder, what)

    def _table(self, name: str) -> str:
        return str(self._folder.table(name))

    def _copy(self, name: str, query: str) -> None:
        place = literal(self._table(name))
        self._db.execute(f"COPY ({query}) TO {place} (FORMAT parquet, COMPRESSION lz4)")

    def _create_table(self, name: str, columns: Mapping[str, Any]) -> None:
        self._db.register("arriving", pa.table(dict(columns)))
        self._db.execute(f"CREATE TABLE {name} AS SELECT * FROM arriving")
        self._db.unregister("arriving")
