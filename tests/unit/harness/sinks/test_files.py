"""Spark's file sink, read by its log and by listing its folder."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from onceproof.harness.history.identity import digest
from onceproof.harness.sinks.base import Effect
from onceproof.harness.sinks.files import LISTING, LOG, Files
from onceproof.harness.sinks.rows import UnreadableFiles


class Folder:
    """A sink's folder, written as Spark 4 writes it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.sink = Files(path, topic="payments", sink="files", listed="directory")
        (path / LOG).mkdir(parents=True)

    def write(self, name: str, *records: str) -> Path:
        """Write the file of a task."""
        file = self.path / f"{name}.parquet"
        rows = [
            {
                "record": record,
                "account": "a",
                "amount_cents": 100,
                "fee_cents": 32,
                "source_partition": 2,
                "source_offset": number,
            }
            for number, record in enumerate(records)
        ]
        pq.write_table(pa.Table.from_pylist(rows), file)
        (self.path / f".{file.name}.crc").write_text("sum")
        return file

    def log(self, entry: str, *files: Path, version: str = "v1", action: str = "add") -> None:
        """Write an entry of the sink's log."""
        lines = [json.dumps({"path": f.as_uri(), "size": 7, "action": action}) for f in files]
        (self.path / LOG / entry).write_text("\n".join([version, *lines]))
        (self.path / LOG / f".{entry}.crc").write_text("sum")

    def seen(self, view: str) -> list[str | None]:
        sink = {LOG: "files", LISTING: "directory"}[view]
        return [e.record for e in self.sink.effects() if (e.sink, e.view) == (sink, view)]


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path / "a folder with 100 % of it")


def test_file_missing_from_the_log_is_seen_by_listing(folder: Folder) -> None:
    folder.log("0", folder.write("part-0-left", "a", "b"))
    folder.write("part-0-orphan", "c", "d")
    folder.log("1", folder.write("part-0-again", "c", "d"))
    assert folder.seen(LOG) == ["a", "b", "c", "d"]
    assert sorted(map(str, folder.seen(LISTING))) == ["a", "b", "c", "c", "d", "d"]
    assert folder.sink.size() == 3


def test_effect_has_position_and_source(folder: Folder) -> None:
    folder.log("0", folder.write("part-0", "a", "b"))
    effects = [effect for effect in folder.sink.effects() if effect.view == LOG]
    assert effects[1] == Effect(
        sink="files", view=LOG, record="b", effect_key="", digest=digest("b", "a", 100, 32),
        position="part-0.parquet row 1", ordinal=1,
        source_topic="payments", source_partition=2, source_offset=1,
    )  # fmt: skip


def test_truncated_file_has_no_effects(folder: Folder) -> None:
    torn = folder.write("part-0-torn", "a", "b")
    whole = torn.read_bytes()
    folder.log("0", torn)
    for length in (0, 3, 4, len(whole) - 1):
        torn.write_bytes(whole[:length])
        assert (folder.sink.size(), folder.sink.effects()) == (0, []), length
    torn.write_bytes(whole)
    assert (folder.sink.size(), len(folder.sink.effects())) == (1, 4)


@pytest.mark.parametrize("name", ["_draft", ".draft"])
def test_hidden_file_is_not_listed(folder: Folder, name: str) -> None:
    folder.write(name, "a")
    assert (folder.sink.size(), folder.sink.effects()) == (0, [])


def test_corrupt_parquet_file_is_refused(folder: Folder) -> None:
    (folder.path / "part-0.parquet").write_bytes(b"PAR1nonsensePAR1")
    with pytest.raises(
        UnreadableFiles, match=r"part-0\.parquet is part of the output but cannot be read"
    ):
        folder.sink.effects()


def test_compacted_entry_replaces_earlier_ones(folder: Folder) -> None:
    files = [folder.write(f"part-{n}", f"r{n}") for n in range(12)]
    for number, file in enumerate(files):
        if number != 9:
            folder.log(str(number), file)
    folder.log("9.compact", *files[:10])
    assert folder.seen(LOG) == [f"r{n}" for n in range(12)]
    for number in range(9):
        (folder.path / LOG / str(number)).unlink()  # Spark deletes them minutes later
    assert folder.seen(LOG) == [f"r{n}" for n in range(12)]


def test_temporary_log_entry_is_ignored(folder: Folder) -> None:
    file = folder.write("part-0", "a")
    folder.log(".0.0c3f0f9e-aaaa-bbbb-cccc-0123456789ab.tmp", file)
    assert folder.seen(LOG) == []
    assert folder.seen(LISTING) == ["a"]


def test_file_logged_twice_is_seen_twice_by_the_log(folder: Folder) -> None:
    file = folder.write("part-0", "a")
    folder.log("0", file)
    folder.log("1", file)
    assert folder.seen(LOG) == ["a", "a"]
    assert folder.seen(LISTING) == ["a"]


def test_logged_file_that_is_missing_has_no_effects(folder: Folder) -> None:
    file = folder.write("part-0", "a")
    folder.log("0", file)
    file.unlink()
    assert folder.sink.effects() == []


@pytest.mark.parametrize(
    "entry",
    [
        'v2\n{"path": "file:///a", "action": "add"}',
        'v1\n{"path": "file:///a", "action": "delete"}',
        'v1\n{"action": "add"}',
        "v1\nnonsense",
    ],
)
def test_damaged_log_entry_is_refused_and_quoted(folder: Folder, entry: str) -> None:
    (folder.path / LOG / "3").write_text(entry)
    with pytest.raises(UnreadableFiles) as error:
        folder.sink.effects()
    assert str(folder.path / LOG / "3") in str(error.value)
    assert repr(entry) in str(error.value)


def test_missing_folder_is_empty(tmp_path: Path) -> None:
    sink = Files(tmp_path / "not yet", topic="payments", sink="files", listed="directory")
    assert (sink.size(), sink.effects(), sink.states(), sink.atomic_batches()) == (0, [], [], [])
    assert not sink.hanging()
