"""How far several groups are together."""

from __future__ import annotations

import pytest

from onceproof.harness.user_pipeline.group_commits import GroupCommits, GroupProgress

P0, P1 = ("orders", 0), ("orders", 1)


def group(name: str, p0: int | None, p1: int | None, *, works: bool = True) -> GroupProgress:
    positions = {at: offset for at, offset in ((P0, p0), (P1, p1)) if offset is not None}
    return GroupProgress(name=name, works=works, positions=positions)


@pytest.mark.parametrize(
    ("groups", "found"),
    [
        ([], {}),
        ([group("a", 5, 7)], {P0: 5, P1: 7}),
        ([group("a", 5, 7), group("b", 9, 3)], {P0: 5, P1: 3}),
        ([group("a", 5, None), group("b", None, 3)], {P0: 5, P1: 3}),
        # Left from an earlier life: behind, or ahead.
        ([group("a", 5, 7), group("old", 1, 9, works=False)], {P0: 5, P1: 7}),
        ([group("old", 1, 9, works=False), group("older", 4, 2, works=False)], {P0: 4, P1: 9}),
        ([group("a", 5, None), group("old", 1, 9, works=False)], {P0: 5, P1: 9}),
    ],
)
def test_the_slowest_that_works_says_how_far_it_is(
    groups: list[GroupProgress], found: dict[tuple[str, int], int]
) -> None:
    class Known(GroupCommits):
        def by_group(self) -> list[GroupProgress]:
            return groups

    commits = Known(("orders",), addresses=(), reader=lambda: pytest.fail("nobody reads"))
    assert commits.newest() == found
