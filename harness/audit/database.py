"""DuckDB queries that an audit runs itself, outside the checkers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import duckdb

from onceproof.checkers.engines.duckdb import interruptible
from onceproof.checkers.engines.literals import literal
from onceproof.harness.audit.folder import AuditFolder


@contextmanager
def database(folder: AuditFolder, memory: int | None) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open an empty database; a signal interrupts its queries with `KeyboardInterrupt`.

    Above `memory` bytes (None: DuckDB's default) it spills into the folder.
    """
    with duckdb.connect(":memory:") as db, interruptible(db):
        db.execute("SET preserve_insertion_order = false")
        db.execute(f"SET temp_directory = {literal(str(folder.path / 'spill'))}")
        if memory is not None:
            db.execute(f"SET memory_limit = '{memory}B'")
        yield db


def raw_rows(folder: AuditFolder, what: str) -> str:
    """Return a FROM clause for the rows read of the input or of an output."""
    files = sorted(map(str, folder.raw(what).glob("*.parquet")))
    return f"read_parquet([{', '.join(map(literal, files))}])"
