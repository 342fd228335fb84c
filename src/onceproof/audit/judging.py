"""Judge the history of an audit, and list every record that needs repair."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import duckdb
import pyarrow as pa

from onceproof.audit.shares import judge_in_shares
from onceproof.checkers.claims import AT_MOST_ONCE, at_least_once, at_most_once, exactly_once
from onceproof.checkers.engines.settings import Settings
from onceproof.checkers.model import Claim, Judgement
from onceproof.checkers.refutations import refutations
from onceproof.harness.audit.database import database, raw_rows
from onceproof.harness.audit.folder import AuditFolder
from onceproof.harness.audit.judged import Side

_MAKERS: Final = {
    "exactly-once": exactly_once,
    "at-least-once": at_least_once,
    AT_MOST_ONCE: at_most_once,
}
_BUCKETS: Final = 60
_REPAIRS: Final = {
    "lost-output": "lost",
    "duplicate-output": "duplicate",
    "wrong-output": "wrong",
    "phantom-output": "unknown-input",
}
"""Anomalies whose records can be repaired, and their names in the list of repairs."""


def claims_of(
    guarantees: Sequence[str],
    topic: str,
    outputs: Sequence[Side],
    compacted: Sequence[str],
    dead_letters: str | None = None,
) -> tuple[Claim, ...]:
    """Return a claim per guarantee and output; of compacted outputs only duplicates are judged."""
    return tuple(
        dict.fromkeys(
            _MAKERS[AT_MOST_ONCE if {output.name, dead_letters} & set(compacted) else guarantee](
                topic, into=output.name, view=output.view, dead_letters=dead_letters
            )
            for guarantee in guarantees
            for output in outputs
        )
    )


@dataclass(frozen=True, kw_only=True)
class Judged:
    """The judgement and the repairs of an audit.

    Attributes:
        repairs: number of lines written.
        buckets: start in milliseconds, number of inputs, and findings by anomaly.
    """

    judgement: Judgement
    repairs: int
    buckets: tuple[tuple[int, int, dict[str, int]], ...]


def judge(folder: AuditFolder, claims: Sequence[Claim], settings: Settings) -> Judged:
    """Judge the history in a folder, and write its repairs."""
    wanted = {name for claim in claims for name in refutations(claim.guarantee, claim.hop)}
    found: dict[str, list[pa.Table]] = {}

    def keep(name: str, rows: pa.Table) -> None:
        if name in wanted & _REPAIRS.keys():
            found.setdefault(name, []).append(rows)

    judgement = judge_in_shares(folder, claims, settings, keep)
    tables = {
        name: pa.concat_tables(each, promote_options="permissive") for name, each in found.items()
    }
    with database(folder, settings.memory) as db:
        db.execute(f"CREATE VIEW ins AS SELECT * FROM {raw_rows(folder, 'input')}")
        return Judged(
            judgement=judgement,
            repairs=_write(folder.repairs, db, tables),
            buckets=_buckets(db, tables) if tables else (),
        )


def _write(file: Path, db: duckdb.DuckDBPyConnection, tables: dict[str, pa.Table]) -> int:
    lines = 0
    with file.open("w", encoding="utf-8") as out:
        for name, table in sorted(tables.items()):
            for row in _in_order(db, name, table):
                out.write(json.dumps({"repair": _REPAIRS[name], **row}, ensure_ascii=False) + "\n")
                lines += 1
    return lines


def _in_order(
    db: duckdb.DuckDBPyConnection, name: str, table: pa.Table
) -> Iterator[dict[str, Any]]:
    columns = {
        "lost-output": 'sink AS output, topic, "partition", "offset", record, effect_key, '
        "expected, seen",
        "duplicate-output": "sink AS output, position, record, effect_key, expected, seen, "
        "row_number() OVER (PARTITION BY sink, record, effect_key ORDER BY ordinal) = 1 AS first",
        "wrong-output": "sink AS output, position, record, effect_key, "
        "expected_digest AS expected, digest AS found",
        "phantom-output": "sink AS output, position, record",
    }[name]
    order = '"partition", "offset"' if name == "lost-output" else "record, position"
    db.register("found", table)
    result = db.execute(f"SELECT DISTINCT {columns} FROM found ORDER BY output, {order}")
    names = [column[0] for column in result.description or ()]
    while rows := result.fetchmany(10_000):
        for row in rows:
            yield dict(zip(names, row, strict=True))
    db.unregister("found")


def _buckets(
    db: duckdb.DuckDBPyConnection, tables: dict[str, pa.Table]
) -> tuple[tuple[int, int, dict[str, int]], ...]:
    """Divide the window into equal intervals, and count the inputs with findings in each."""
    ends = db.execute("SELECT min(stamp), max(stamp) FROM ins WHERE stamp >= 0").fetchall()
    low, high = ends[0]
    if low is None:
        return ()
    width = max(1, -(-(high - low + 1) // _BUCKETS))
    place = f"(stamp - {low}) // {width}"
    inputs = dict(
        db.execute(f"SELECT {place}, count(*) FROM ins WHERE stamp >= 0 GROUP BY 1").fetchall()
    )
    found: dict[int, dict[str, int]] = {}
    for name, table in tables.items():
        db.register("found", table)
        rows = db.execute(
            f"SELECT {place}, count(DISTINCT i.record) FROM ins i "
            "SEMI JOIN (SELECT DISTINCT record FROM found) f ON f.record = i.record "
            "WHERE stamp >= 0 GROUP BY 1"
        ).fetchall()
        db.unregister("found")
        for bucket, count in rows:
            found.setdefault(bucket, {})[name] = count
    return tuple(
        (low + bucket * width, inputs.get(bucket, 0), found.get(bucket, {}))
        for bucket in range(-(-(high - low + 1) // width))
    )
