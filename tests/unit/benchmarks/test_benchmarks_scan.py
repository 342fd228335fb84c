"""The baseline scan reads the same columns as judging.

DuckDB's profile of each query says which columns of which file it read.
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
"""Relations that read only suspects, or tables that grow with micro-batches."""

Read = dict[tuple[str, str], set[str]]
"""Columns that were read, by table and reader."""


def test_scan_reads_the_columns_that_judging_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = generate(Plan(records=500), tmp_path) / "history"
    read: Read = defaultdict(set)
    _profile_stored_relations(monkeypatch, read)
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


def _profile_stored_relations(monkeypatch: pytest.MonkeyPatch, read: Read) -> None:
    """Profile the query of every stored relation before it is created.

    The mutation self-check is left out: it reads whole rows, but only of its sample.
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
        # A column that only a filter uses is not projected, but it is read.
        words = re.findall(r"\w+", f"{about.get('Projections')} {about.get('Filters')}")
        read[table, reader] |= set(words) & set(TABLES[table].schema.names)
    for child in node.get("children", []):
        _note(child, reader, read)
