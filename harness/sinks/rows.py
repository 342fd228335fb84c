"""Convert rows of Spark's Parquet files to effects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from onceproof.harness.history.identity import digest
from onceproof.harness.sinks.base import Effect
from onceproof.harness.workload.payments import EFFECT_COLUMNS

Rows = list[dict[str, Any]]


class UnreadableFiles(RuntimeError):
    """A data file or its log is not as Spark writes it; the text names it and what was found."""


def rows_of(file: Path) -> Rows:
    """Read all rows of a file.

    Raises:
        UnreadableFiles: it cannot be read.
    """
    try:
        rows: Rows = pq.ParquetFile(file).read().to_pylist()
    except (pa.ArrowException, OSError) as error:
        raise UnreadableFiles(
            f"{file} is part of the output but cannot be read: {error}"
        ) from error
    return rows


def effects_of(
    files: Iterable[tuple[Path, Rows]], *, sink: str, view: str, topic: str
) -> Iterator[Effect]:
    ordinal = 0
    for file, rows in files:
        for number, row in enumerate(rows):
            record = row.get("record")
            yield Effect(
                sink=sink,
                view=view,
                record=record if isinstance(record, str) else None,
                effect_key="",
                digest=digest(*(row.get(column) for column in EFFECT_COLUMNS)),
                position=f"{file.name} row {number}",
                ordinal=ordinal,
                source_topic=topic,
                source_partition=row.get("source_partition"),
                source_offset=row.get("source_offset"),
            )
            ordinal += 1
