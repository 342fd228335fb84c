"""Log entries as rows of the collected history."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from onceproof.harness.history.identity import ATTEMPT_HEADER, ODD_HEADER, RECORD_HEADER
from onceproof.harness.history.tables import read_lines
from onceproof.harness.history.writer import HistoryWriter
from onceproof.harness.kafka.log_reader import Entry
from onceproof.harness.run.collect import write_log
from tests.unit.fakes import logs


def entry(offset: int, kind: str, **headers: bytes) -> Entry:
    return logs.entry(
        offset, topic="orders", kind=kind, headers=headers, transactional=kind != "data"
    )


def collected(
    folder: Path, *entries: Entry, late: Mapping[tuple[int, int], str] | None = None
) -> list[dict[str, Any]]:
    writer = HistoryWriter(folder, "auditor")
    write_log(writer, logs.log(*entries, topic="orders"), late or {})
    writer.close()
    return read_lines(folder).tables["log"].to_pylist()


def test_record_and_attempt_come_from_headers(tmp_path: Path) -> None:
    headers = {RECORD_HEADER: b"a", ATTEMPT_HEADER: b"s/1"}
    (row,) = collected(tmp_path, entry(3, "data", **headers))
    assert (row["kind"], row["offset"], row["record"], row["attempt"]) == ("data", 3, "a", "s/1")
    assert row["committed"]


@pytest.mark.parametrize("kind", ["commit", "abort"])
def test_marker_has_no_record(tmp_path: Path, kind: str) -> None:
    (row,) = collected(tmp_path, entry(3, kind))
    assert (row["kind"], row["record"], row["digest"], row["sequence"]) == (kind, None, None, None)


def test_record_outside_the_workload_is_of_kind_odd(tmp_path: Path) -> None:
    (row,) = collected(
        tmp_path, entry(3, "data", **{ODD_HEADER: b"", RECORD_HEADER: b"order-900001"})
    )
    assert (row["kind"], row["record"]) == ("odd", "order-900001")


def test_lateness_is_assigned_by_partition_and_offset(tmp_path: Path) -> None:
    entries = (entry(n, "data", **{RECORD_HEADER: b"a"}) for n in (3, 4, 5))
    rows = collected(tmp_path, *entries, late={(0, 4): "late", (1, 3): "unclear"})
    assert [row["lateness"] for row in rows] == [None, "late", None]
