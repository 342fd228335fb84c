"""Odd records among generated orders: they are inputs like any other, with expected effects.

Which order is odd depends only on its number. Sentinels never are: they must have effects before
anything counts as lost.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Final

from onceproof.harness.history.identity import ODD_HEADER
from onceproof.harness.kafka.log_reader import Entry
from onceproof.harness.user_pipeline.input_file import InputRecord
from onceproof.harness.user_pipeline.profile import KEYS, NULL, OVERSIZE

LARGE_BYTES: Final = 1_100_000
"""More than brokers and clients accept by default (about 1,000,000 to 1,050,000)."""
_EVERY: Final = 40
_EMPTY_KEY, _HEADERS, _NULL = 7, 17, 27
"""Which of every `_EVERY` orders has an empty key, several headers, or no value."""
_LARGE: Final = 8
"""Total number of large orders."""
_FIRST_LARGE: Final = 20
_SEVERAL: Final = (("several", "1"), ("several", "2"), ("none", None))


def as_odd(order: InputRecord, n: int, of: int, kinds: Collection[str]) -> InputRecord:
    """Return order `n` of `of` (without sentinels), made odd if it is its turn."""
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
    """Add a note that makes an order larger than brokers accept by default."""
    return json.dumps({**json.loads(value), "note": "x" * LARGE_BYTES})


IS_ODD: Final[Mapping[str, Callable[[Entry], bool]]] = {
    KEYS: lambda entry: entry.key == b"",
    NULL: lambda entry: entry.value is None and ODD_HEADER not in entry.headers,
    OVERSIZE: lambda entry: len(entry.value or b"") >= LARGE_BYTES,
}
"""How to recognize each kind in the input's log."""
