"""Read an Iceberg table in two ways: through its metadata, and by listing its data files.

A commit is a file `metadata/v<N>.metadata.json` that names a snapshot; manifests of the snapshot
name the data files and deletes. PyIceberg reads them. The query and epoch in a snapshot's summary
are committed atomically with its files, and are lost when the snapshot expires.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from onceproof.harness.sinks.base import AtomicBatch, Effect, State
from onceproof.harness.sinks.files import LISTING, whole
from onceproof.harness.sinks.rows import Rows, UnreadableFiles, effects_of, rows_of

if TYPE_CHECKING:
    from pyiceberg.table import StaticTable

VIEW: Final = "table"
METADATA: Final = "metadata"

_COMMIT = re.compile(r"v(\d+)(?:\.gz)?\.metadata\.json")
_VERSION: Final = 2
"""The newest format version that PyIceberg supports; in older ones files have no order."""
_QUERY: Final = "spark.sql.streaming.queryId"
_EPOCH: Final = "spark.sql.streaming.epochId"


class IcebergTable:
    """A table of payments with their fee, in format version 2."""

    def __init__(self, folder: Path, *, topic: str, sink: str, listed: str) -> None:
        """`folder` may not exist yet.

        `sink` names the effects seen through the metadata, `listed` those seen by a listing.
        """
        self._folder = folder
        self._topic = topic
        self._by_listing = listed
        self.name = sink

    def size(self) -> int:
        return len(self._listed())

    def effects(self) -> list[Effect]:
        logged = list(self.rows())
        # List afterwards, so that the listing includes every committed file.
        listed = ((file, rows_of(file)) for file in self._listed())
        return [
            *effects_of(listed, sink=self._by_listing, view=LISTING, topic=self._topic),
            *effects_of(logged, sink=self.name, view=VIEW, topic=self._topic),
        ]

    def commits(self) -> int:
        """Return the number of commits, including those whose metadata was removed."""
        return max(self._commits(), default=0)

    def rows(self) -> Iterator[tuple[Path, Rows]]:
        """Yield the rows of each data file of the current snapshot, in the order of addition.

        Raises:
            UnreadableFiles: the metadata is damaged or not supported by PyIceberg.
        """
        table = self._newest()
        if table is None or table.metadata.current_snapshot_id is None:
            return
        from pyiceberg.expressions import AlwaysTrue
        from pyiceberg.io.pyarrow import ArrowScan

        order = _added_at(table)
        with _reading(table.metadata_location):
            scan = table.scan()
            tasks = sorted(scan.plan_files(), key=lambda task: order[task.file.file_path])
            reader = ArrowScan(table.metadata, table.io, scan.projection(), AlwaysTrue())
        for task in tasks:
            with _reading(task.file.file_path):
                # One file at a time, because deletes apply to certain files only.
                rows: Rows = reader.to_table([task]).to_pylist()
            yield Path(urlsplit(task.file.file_path).path), rows

    def states(self) -> list[State]:
        return []

    def atomic_batches(self) -> list[AtomicBatch]:
        """Return the queries' epochs from the snapshots that have not expired."""
        table = self._newest()
        snapshots = table.metadata.snapshots if table else []
        found = (
            snapshot.summary.additional_properties
            for snapshot in sorted(snapshots, key=lambda s: s.sequence_number or 0)
            if snapshot.summary is not None
        )
        summaries = (summary for summary in found if _EPOCH in summary)
        return [
            AtomicBatch(owner=summary[_QUERY], batch=int(summary[_EPOCH]), ordinal=number)
            for number, summary in enumerate(summaries)
        ]

    def hanging(self) -> bool:
        return False

    def _listed(self) -> list[Path]:
        return sorted(file for file in self._folder.glob("data/*.parquet") if whole(file))

    def _commits(self) -> dict[int, Path]:
        folder = self._folder / METADATA
        found = folder.iterdir() if folder.is_dir() else ()
        return {int(m[1]): path for path in found if (m := _COMMIT.fullmatch(path.name))}

    def _newest(self) -> StaticTable | None:
        commits = self._commits()
        if not commits:
            return None
        from pyiceberg.table import StaticTable

        path = str(commits[max(commits)])
        with _reading(path):
            table = StaticTable.from_metadata(path)
        if table.metadata.format_version != _VERSION:
            raise UnreadableFiles(
                f"{path}: format version {table.metadata.format_version}, expected {_VERSION}"
            )
        return table


def _added_at(table: StaticTable) -> dict[str, int]:
    """Return the sequence number at which each file of the current snapshot was added.

    Raises:
        UnreadableFiles: a manifest is damaged or has equality deletes, unsupported by PyIceberg.
    """
    from pyiceberg.manifest import DataFileContent

    snapshot = table.current_snapshot()
    if snapshot is None:
        raise UnreadableFiles(f"{table.metadata_location}: the current snapshot is missing")
    found: dict[str, int] = {}
    with _reading(snapshot.manifest_list):
        manifests = snapshot.manifests(table.io)
    for manifest in manifests:
        with _reading(manifest.manifest_path):
            entries = manifest.fetch_manifest_entry(table.io)
        for entry in entries:
            if entry.data_file.content == DataFileContent.EQUALITY_DELETES:
                raise UnreadableFiles(
                    f"{manifest.manifest_path}: {entry.data_file.file_path} is an equality delete "
                    "file, expected a table without equality deletes"
                )
            found[entry.data_file.file_path] = entry.sequence_number or 0
    return found


@contextmanager
def _reading(what: str) -> Iterator[None]:
    """Convert PyIceberg's errors, which are of many types, to `UnreadableFiles`."""
    try:
        yield
    except Exception as error:
        raise UnreadableFiles(f"{what} is part of the table but cannot be read: {error}") from error
