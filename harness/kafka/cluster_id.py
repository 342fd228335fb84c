"""Generate a cluster id: 16 random bytes in URL-safe base64, as in Kafka.

An id never begins with a dash, which `kafka-storage format` would take for an option. Kafka's
generator also redraws such ids (`Uuid.randomUuid`, KAFKA-13741).
"""

from __future__ import annotations

import base64
import uuid


def new_cluster_id() -> str:
    while (candidate := _encoded(uuid.uuid4())).startswith("-"):
        pass
    return candidate


def _encoded(candidate: uuid.UUID) -> str:
    return base64.urlsafe_b64encode(candidate.bytes).decode().rstrip("=")
