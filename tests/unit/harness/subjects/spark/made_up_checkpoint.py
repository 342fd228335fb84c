"""A checkpoint folder, written as Spark 4 does."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

from onceproof.harness.subjects.spark.checkpoint import Checkpoint

# From a run with Spark 4.0.0, shortened.
HEAD = (
    'v1\n{"batchWatermarkMs":0,"batchTimestampMs":1793491200000,"conf":'
    '{"spark.sql.shuffle.partitions":"2"}}'
)


def entry(*sources: object) -> str:
    return "\n".join([HEAD, *(json.dumps(source) for source in sources)])


def plan(checkpoint: Checkpoint, batch: int, text: str) -> None:
    (checkpoint.folder / "offsets" / str(batch)).write_text(text)


def begin_at(checkpoint: Checkpoint, text: str, *, source: int = 0) -> None:
    """Write the initial offsets of a source, as Spark's Kafka source does."""
    folder = checkpoint.folder / "sources" / str(source)
    folder.mkdir(parents=True)
    (folder / "0").write_text(f"\0v1\n{text}")


def save(checkpoint: Checkpoint, batch: int, store: str, *, ending: str = "zip") -> None:
    """Write one partition's state of a batch, as Spark's state stores do."""
    folder = checkpoint.folder / "state" / "0" / store
    folder.mkdir(parents=True, exist_ok=True)
    draft = folder / f".{batch + 1}.{ending}.{uuid4()}.TID7.tmp"
    draft.write_text("state")
    (folder / f"..{draft.name}.crc").write_text("sum")
    draft.rename(folder / f"{batch + 1}.{ending}")


def as_spark_does(
    folder: Path, batch: int, text: str = "v1\n{}", *, ending: str = ""
) -> Callable[[], None]:
    """Write `.N.<uuid>.tmp` with its sum; the returned function renames it to `N`.

    `ending` follows the number in both names.
    """
    name = f"{batch}{ending}"
    draft = folder / f".{name}.{uuid4()}.tmp"
    draft.write_text(text)
    (folder / f".{draft.name}.crc").write_text("sum")

    def rename() -> None:
        (folder / f".{draft.name}.crc").rename(folder / f".{name}.crc")
        draft.rename(folder / name)

    return rename
