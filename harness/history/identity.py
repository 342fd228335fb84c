"""How a record carries its identity, and how content is reduced to a digest.

Identity travels in the record. It is never worked out from offsets, counts
or times.
"""

from __future__ import annotations

import hashlib

RECORD_HEADER = "onceproof-record"
"""Kafka header with the record's identity, UTF-8."""
ODD_HEADER = "onceproof-odd"
"""Kafka header of a record that is sent beside the workload, and is no input."""
ATTEMPT_HEADER = "onceproof-attempt"
"""Kafka header with the identity of the call that sent it, UTF-8."""


def digest(*parts: bytes | str | int | None) -> str:
    """A 64-bit digest, in hex, of a sequence of parts; lengths keep neighbours apart."""
    state = hashlib.blake2b(digest_size=8)
    for part in parts:
        if part is None:
            state.update(b"-")
            continue
        data = part if isinstance(part, bytes) else str(part).encode()
        state.update(b"%d:" % len(data))
        state.update(data)
    return state.hexdigest()
