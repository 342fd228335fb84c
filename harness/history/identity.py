"""Headers with a record's identity, and digests of content.

The identity is part of the record. It is never derived from offsets, counts or times.
"""

from __future__ import annotations

import hashlib

RECORD_HEADER = "onceproof-record"
"""Kafka header with the record's identity, UTF-8."""
ODD_HEADER = "onceproof-odd"
"""Kafka header of a record that does not belong to the workload and is not an input."""
ATTEMPT_HEADER = "onceproof-attempt"
"""Kafka header with the identity of the send call, UTF-8."""


def digest(*parts: bytes | str | int | None) -> str:
    """Return a 64-bit hex digest of some parts, whose lengths are included to separate them."""
    state = hashlib.blake2b(digest_size=8)
    for part in parts:
        if part is None:
            state.update(b"-")
            continue
        data = part if isinstance(part, bytes) else str(part).encode()
        state.update(b"%d:" % len(data))
        state.update(data)
    return state.hexdigest()
