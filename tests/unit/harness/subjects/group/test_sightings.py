"""When each commit of a group was first seen."""

from __future__ import annotations

from itertools import count

import pytest

from onceproof.harness.kafka.group_offsets import Commit
from onceproof.harness.subjects.group.sightings import FirstSightings


def commit(offset: int, partition: int = 0) -> Commit:
    return Commit(topic="orders", partition=partition, offset=offset, transactional=True)


@pytest.fixture
def sightings() -> FirstSightings:
    """Sightings on a clock that advances by one at each look."""
    clock = count(1)
    return FirstSightings(lambda: next(clock))


def test_commit_keeps_the_time_of_its_first_sighting(sightings: FirstSightings) -> None:
    assert sightings.of([]) == []
    assert sightings.of([commit(5)]) == [2]
    assert sightings.of([commit(5), commit(9), commit(5, partition=1)]) == [2, 3, 3]


def test_commit_that_appears_before_others_gets_its_own_time(sightings: FirstSightings) -> None:
    assert sightings.of([commit(9)]) == [1]
    assert sightings.of([commit(5), commit(9)]) == [2, 1]


def test_repeated_offset_is_another_commit(sightings: FirstSightings) -> None:
    assert sightings.of([commit(5)]) == [1]
    assert sightings.of([commit(5), commit(3), commit(5)]) == [1, 2, 2]
