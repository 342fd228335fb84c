"""Read progress of a consumer: records that it has read and not stored yet."""

from __future__ import annotations

from pathlib import Path

import pytest

from onceproof.harness.kafka.group_offsets import Commit
from onceproof.harness.subjects.stored.members import StoringMembers
from onceproof.harness.subjects.stored.read_progress import left, note, noted
from onceproof.harness.subjects.stored.task import StoringTask
from tests.unit.fakes.pipelines import parts_in
from tests.unit.fakes.stage import FakeStage


def test_noted_returns_the_last_note(tmp_path: Path) -> None:
    file = tmp_path / "member-0.in-hand"
    assert noted(file) == {}
    note(file, {0: 50, 1: 7})
    note(file, {0: 90})
    assert noted(file) == {0: 90}
    assert [each.name for each in tmp_path.iterdir()] == ["member-0.in-hand"]


@pytest.mark.parametrize(
    ("stored", "expected"),
    [({}, 97), ({0: 50}, 47), ({0: 90, 1: 7}, 0), ({0: 120, 1: 3}, 4)],
)
def test_left_counts_records_read_but_not_stored(stored: dict[int, int], expected: int) -> None:
    assert left({0: 90, 1: 7}, stored) == expected


def test_group_reports_records_in_hand_per_member(tmp_path: Path) -> None:
    def task(name: str, file: Path) -> StoringTask:
        return StoringTask(
            name=name, bootstrap="", group="g", topic="in", sink="ledger", kind="sqlite",
            commits="in-transaction", database="", history="",
            in_hand=str(file),
        )  # fmt: skip

    class Audit:
        def look(self) -> list[Commit]:
            return [Commit(topic="in", partition=0, offset=40, transactional=False)]

    note(tmp_path / "a", {0: 90})
    group = StoringMembers(
        [task("member-0", tmp_path / "a"), task("member-1", tmp_path / "b")],
        parts_in(tmp_path, stage=FakeStage(brokers=())),
        Audit(),
    )
    assert (group.in_hand("member-0"), group.in_hand("member-1")) == (50, 0)
