"""When a commit of a group was first seen, whatever shows up before it later."""

from __future__ import annotations

from itertools import count

import pytest

from onceproof.harness.kafka.group_offsets import Commit
from onceproof.harness.subjects.group.sightings import Sightings


def commit(offset: int, partition: int = 0) -> Commit:
    return Commit(topic="orders", partition=partition, offset=offset, transactional=True)


@pytest.fixture
def seen() -> Sightings:
    """Each look is at the next full hour."""
    clock = count(1)
    return Sightings(lambda: next(clock))


def test_a_commit_keeps_the_moment_of_its_first_sight(seen: Sightings) -> None:
    assert seen.of([]) == []
    assert seen.of([commit(5)]) == [2]
    assert seen.of([commit(5), commit(9), commit(5, partition=1)]) == [2, 3, 3]


def test_a_transaction_that_is_decided_later_stands_before_what_was_seen(seen: Sightings) -> None:
    assert seen.of([commit(9)]) == [1]
    assert seen.of([commit(5), commit(9)]) == [2, 1]


def test_the_same_position_again_is_another_commit(seen: Sightings) -> None:
    assert seen.of([commit(5)]) == [1]
    assert seen.of([commit(5), commit(3), commit(5)]) == [1, 2, 2]
