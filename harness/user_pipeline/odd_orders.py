"""Odd records among made-up orders: inputs as any other, whose effects are expected.

Which order is odd depends on its number alone. The last ones, which are sent when all else has come
to rest, never are: they have to come out before anything counts as lost.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Final

from onceproof.harness.history.identity import ODD_HEADER
from onceproof.harness.kafka.log_reader import Entry
from onceproof.harness.user_pipeline.input_file import Given
from onceproof.harness.user_pipeline.profile import KEYS, NULL, OVERSIZE

LARGE_BYTES: Final = 1_100_000
"""More than brokers and clients take by default, which is about 1,000,000 to 1,050,000."""
_EVERY: Final = 40
_EMPTY_KEY, _HEADERS, _NULL = 7, 17, 27
"""Which of so many orders have an empty key, several headers, or no value."""
_LARGE: Final = 8
"""How many large ones there are in all."""
_FIRST_LARGE: Final = 20
_SEVERAL: Final = (("several", "1"), ("several", "2"), ("none", None))


def as_odd(order: Given, n: int, of: int, kinds: Collection[str]) -> Given:
    """The n-th of so many orders, made odd if it is one that has to be.

    Args:
        order: it, with a JSON object as its value.
        n: its number, from 0.
        of: how many there are, without those that are sent last.
        kinds: what there is to be of `KEYS`, `NULL` and `OVERSIZE`.
    """
    if n >= of:
        return order
    if OVERSIZE in kinds and n % max(of // _LARGE, _FIRST_LARGE + 1) == _FIRST_LARGE:
        return replace(order, value=padded(order.value or "{}"))
    place = n % _EVERY
    if KEYS in kinds and place == _EMPTY_KEY:
        return replace(order, key="")
    if KEYS in kinds and place == _HEADERS:
        return replace(order, headers=_SEVERAL)
    if NULL in kinds and place == _NULL:
        return replace(order, value=None)
    return order


def padded(value: str) -> str:
    """The same order, with a note that is longer than brokers take by default."""
    return json.dumps({**json.loads(value), "note": "x" * LARGE_BYTES})


IS_ODD: Final[Mapping[str, Callable[[Entry], bool]]] = {
    KEYS: lambda entry: entry.key == b"",
    NULL: lambda entry: entry.value is None and ODD_HEADER not in entry.headers,
    OVERSIZE: lambda entry: len(entry.value or b"") >= LARGE_BYTES,
}
"""How each kind is recognised in the log of the input."""
