"""The internal topic's partition for a name, by Java's string hash."""

from __future__ import annotations

import pytest

from onceproof.harness.kafka.keeping import partition_of


@pytest.mark.parametrize(
    ("name", "hashed"),
    [
        ("", 0),
        ("hello", 99_162_322),
        ("billing-member-1", 1_923_960_016),
        ("payments-writer", 1_802_697_965),  # a negative hash
        ("\U0001f600", 1_772_899),  # a surrogate pair in UTF-16
        ("polygenelubricants", 0),  # Integer.MIN_VALUE has no absolute value
    ],
)
def test_partition_is_javas_hash_modulo_count(name: str, hashed: int) -> None:
    assert partition_of(name, 1 << 31) == hashed
    assert partition_of(name, 5) == hashed % 5
