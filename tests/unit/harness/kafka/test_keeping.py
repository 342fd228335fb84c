"""Which partition keeps what belongs to a name: by hashes that Java gives."""

from __future__ import annotations

import pytest

from onceproof.harness.kafka.keeping import partition_of


@pytest.mark.parametrize(
    ("name", "hashed"),
    [
        ("", 0),
        ("hello", 99_162_322),
        ("billing-member-1", 1_923_960_016),
        ("payments-writer", 1_802_697_965),  # a negative one
        ("\U0001f600", 1_772_899),  # two units of UTF-16
        ("polygenelubricants", 0),  # the least number of all has no opposite
    ],
)
def test_the_partition_for_a_name(name: str, hashed: int) -> None:
    assert partition_of(name, 1 << 31) == hashed
    assert partition_of(name, 5) == hashed % 5
