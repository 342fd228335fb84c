"""The plain reading that judging is compared with: is it of the columns that judging reads?

DuckDB's own profile of each query says which columns of which file it took.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any, Final

import pytest

from benchmarks.generate import generate
from benchmarks.plan import Plan
from benchmarks.scan import COLUMNS, scan
from benchmarks.trial import CLAIM
from onceproof.checkers import History, Verdict, check
from onceproof.checkers.engines.duckdb import DuckDB
from onceproof.checkers.imports.claims import parse_claim
from onceproof.checkers.tables import TABLES

_OF_FEW: Final = (
    "_in_question", "_closed_records", "_found_offset_behind", "_committed_ranges",
    "_done_positions",
)  # fmt: skip
"""What is asked of suspects, and of tables that grow with micro-batches only."""

Read = dict[tuple[str, str], set[str]]
"""Columns that were read, by table and by what read them."""


def test_what_judging_reads_of_every_row_is_what_is_scanned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = generate(Plan(records=500), tmp_path) / "history"
    read: Read = defaultdict(set)
    _profiled(monkeypatch, read)
    history = History.load(folder)
    (judged,) = check(history, [parse_claim(CLAIM, history)]).claims
    assert judged.verdict is Verdict.HOLDS
    for table, columns in COLUMNS.items():
        whole = {c for (t, _), found in read.items() if t == table for c in found}
        assert set(columns) <= whole, f"{table}: nobody reads {set(columns) - whole}"
        for (of, reader), found in read.items():
            more = found - set(columns)
            assert of != table or not more or reader.endswith(_OF_FEW), (table, reader, more)
    assert scan(folder) > 0


def _profiled(monkeypatch: pytest.MonkeyPatch, read: Read) -> None:
    """Have every relation that is kept explained before it is made.

    the mutation self-check asks by other ways: it takes out whole rows, of its sample alone.
    """
    create = DuckDB.create

    def explained(self: DuckDB, name: str, query: str, *, stored: bool) -> None:
        if stored:
            ((_, profile),) = self._db.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {query}").fetchall()
            for node in json.loads(profile).get("operator", []):
                _note(node, name, read)
        create(self, name, query, stored=stored)

    monkeypatch.setattr(DuckDB, "create", explained)


def _note(node: dict[str, Any], reader: str, read: Read) -> None:
    about = node.get("extra_info", {})
    if about.get("Function") == "READ_PARQUET" and node.get("rows_scanned"):
        table = Path(about["Filename(s)"]).stem
        # What only a filter looks at is not handed on, but read all the same.
        words = re.findall(r"\w+", f"{about.get('Projections')} {about.get('Filters')}")
        read[table, reader] |= set(words) & set(TABLES[table].schema.names)
    for child in node.get("children", []):
        _note(child, reader, read)
