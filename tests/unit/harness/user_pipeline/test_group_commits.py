"""Committed offsets of several consumer groups."""

from __future__ import annotations

import pytest

from onceproof.harness.user_pipeline.group_commits import GroupCommits, GroupProgress

P0, P1 = ("orders", 0), ("orders", 1)


def group(name: str, p0: int | None, p1: int | None, *, works: bool = True) -> GroupProgress:
    positions = {at: offset for at, offset in ((P0, p0), (P1, p1)) if offset is not None}
    return GroupProgress(name=name, works=works, positions=positions)


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        ([], {}),
        ([group("a", 5, 7)], {P0: 5, P1: 7}),
        ([group("a", 5, 7), group("b", 9, 3)], {P0: 5, P1: 3}),
        ([group("a", 5, None), group("b", None, 3)], {P0: 5, P1: 3}),
        # Idle groups count only for partitions that no working group has committed.
        ([group("a", 5, 7), group("old", 1, 9, works=False)], {P0: 5, P1: 7}),
        ([group("old", 1, 9, works=False), group("older", 4, 2, works=False)], {P0: 4, P1: 9}),
        ([group("a", 5, None), group("old", 1, 9, works=False)], {P0: 5, P1: 9}),
    ],
)
def test_newest_offset_is_that_of_the_slowest_working_group(
    groups: list[GroupProgress], expected: dict[tuple[str, int], int]
) -> None:
    class FixedGroups(GroupCommits):
        def by_group(self) -> list[GroupProgress]:
            return groups

    commits = FixedGroups(("orders",), addresses=(), reader=lambda: pytest.fail("nobody reads"))
    assert commits.newest() == expected
