"""What a reader says of a block."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from onceproof.harness.cost import reader as module
from onceproof.harness.cost.reader import Reader
from onceproof.harness.cost.stamp import stamp

MS = 1_000_000


class Messages:
    """A consumer whose batches are given, each at its time in milliseconds."""

    def __init__(self, *batches: tuple[int, Sequence[bytes | None]]) -> None:
        self._batches = list(batches)
        self.now = 0

    def consume(self, most: int, seconds: float) -> list[Any]:
        if not self._batches:
            self.now += 1000 * MS
            return []
        at, values = self._batches.pop(0)
        self.now = at * MS
        return [
            SimpleNamespace(value=lambda v=v: v, error=lambda: None, topic=lambda: "t")
            for v in values
        ]


def read(
    monkeypatch: pytest.MonkeyPatch,
    folder: Path,
    count: int,
    *batches: tuple[int, Sequence[bytes | None]],
) -> tuple[dict[str, float], list[int]]:
    messages = Messages(*batches)
    monkeypatch.setattr(module, "Consumer", lambda _: SimpleNamespace(assign=lambda _: None))
    clock = SimpleNamespace(monotonic_ns=lambda: messages.now, monotonic=lambda: messages.now / 1e9)
    monkeypatch.setattr(module, "time", clock)
    task = {"bootstrap": "b", "topics": ["t"], "partitions": 1, "folder": str(folder)}
    made = Reader(task)
    monkeypatch.setattr(made, "_consumer", messages)
    told = made.answer(topic="t", block=7, count=count, seconds=5.0)
    found = array("q", (folder / "t-7.i64").read_bytes())
    return told, list(found)


def due(at: int, number: int, block: int = 7) -> bytes:
    return stamp(at * MS, block, number)


def test_latency_is_from_when_a_record_was_due(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    told, found = read(
        monkeypatch, tmp_path, 3,
        (10, [due(4, 0)]), (15, []), (40, [due(12, 1), None, b"other", due(13, 2)]),
    )  # fmt: skip
    assert found == [6 * MS, 28 * MS, 27 * MS]
    assert told == {"read": 3, "again": 0, "last": 40 * MS, "stall": 0.03, "behind": 0}


def test_other_blocks_and_repeated_records_do_not_count(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    told, found = read(
        monkeypatch, tmp_path, 2,
        (10, [due(4, 0), due(4, 0), due(4, 1, block=6)]), (12, [due(4, 1)]),
    )  # fmt: skip
    assert len(found) == told["read"] == 2
    assert told["again"] == 1


def test_missing_records_are_told_after_the_time(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    told, found = read(monkeypatch, tmp_path, 2, (10, [due(4, 0)]))
    assert told["read"] == len(found) == 1


def test_full_batch_means_that_more_are_waiting(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(module, "_AT_ONCE", 2)
    told, _ = read(monkeypatch, tmp_path, 3, (10, [due(4, 0), due(4, 1)]), (11, [due(4, 2)]))
    assert told["behind"] == 1
