"""An Iceberg table, seen by two readers: one by its metadata, one that lists its data files.

A commit is a file `metadata/v<N>.metadata.json`, which names a snapshot;
that names its manifests, and these the data files that count and the deletes that apply to them.
PyIceberg reads them. What a snapshot's summary says of query and epoch stands or falls with its
files, and is forgotten with the snapshot.
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
"""The newest format version that PyIceberg says it supports; of older ones files have no order."""
_QUERY: Final = "spark.sql.streaming.queryId"
_EPOCH: Final = "spark.sql.streaming.epochId"


class IcebergTable:
    """A table of payments with their fee, of format version 2."""

    def __init__(self, folder: Path, *, topic: str, sink: str, listed: str) -> None:
        """Nothing is read yet.

        Args:
            folder: the table's; it may come later, until then there is nothing in it.
            topic: what was read.
            sink: what effects call it as it is seen by its metadata.
            listed: what they call it as it is seen by a listing of its data.
        """
        self._folder = folder
        self._topic = topic
        self._by_listing = listed
        self.name = sink

    def size(self) -> int:
        """How many whole data files there are."""
        return len(self._listed())

    def effects(self) -> list[Effect]:
        """One effect a row, once for each reader that sees it."""
        logged = list(self.rows())
        # Listed behind that, so that whatever counts is there.
        listed = ((file, rows_of(file)) for file in self._listed())
        return [
            *effects_of(listed, sink=self._by_listing, view=LISTING, topic=self._topic),
            *effects_of(logged, sink=self.name, view=VIEW, topic=self._topic),
        ]

    def commits(self) -> int:
        """How many there are; old ones may have been tidied away, and count nevertheless."""
        return max(self._commits(), default=0)

    def rows(self) -> Iterator[tuple[Path, Rows]]:
        """What a reader of the current snapshot sees of each data file that counts, in the order
        in which the files were added.

        Raises:
            UnreadableFiles: what says so is damaged, or says what PyIceberg does not know.
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
                # One file at a time: deletes that apply to one need not apply to another.
                rows: Rows = reader.to_table([task]).to_pylist()
            yield Path(urlsplit(task.file.file_path).path), rows

    def states(self) -> list[State]:
        """None."""
        return []

    def atomic_batches(self) -> list[AtomicBatch]:
        """Epochs of queries, of the snapshots that the table still has."""
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
        """Nothing can."""
        return False

    def _listed(self) -> list[Path]:
        return sorted(file for file in self._folder.glob("data/*.parquet") if whole(file))

    def _commits(self) -> dict[int, Path]:
        folder = self._folder / METADATA
        found = folder.iterdir() if folder.is_dir() else ()
        return {int(m[1]): path for path in found if (m := _COMMIT.fullmatch(path.name))}

    def _newest(self) -> StaticTable | None:
        """The table as its newest commit has it; None before the first."""
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
    """When each data file of the current snapshot was added, as a sequence number.

    Raises:
        UnreadableFiles: a manifest is damaged, or has deletes that PyIceberg cannot apply.
    """
    from pyiceberg.manifest import DataFileContent

    snapshot = table.current_snapshot()
    if snapshot is None:
        raise UnreadableFiles(f"{table.metadata_location}: its current snapshot is not there")
    found: dict[str, int] = {}
    with _reading(snapshot.manifest_list):
        manifests = snapshot.manifests(table.io)
    for manifest in manifests:
        with _reading(manifest.manifest_path):
            entries = manifest.fetch_manifest_entry(table.io)
        for entry in entries:
            if entry.data_file.content == DataFileContent.EQUALITY_DELETES:
                raise UnreadableFiles(
                    f"{manifest.manifest_path}: {entry.data_file.file_path} takes rows away from "
                    "other files by their values, expected a table without equality deletes"
                )
            found[entry.data_file.file_path] = entry.sequence_number or 0
    return found


@contextmanager
def _reading(what: str) -> Iterator[None]:
    """Name what PyIceberg was reading when it failed: it raises errors of many kinds."""
    try:
        yield
    except Exception as error:
        raise UnreadableFiles(f"{what}: it counts, and cannot be read: {error}") from error
