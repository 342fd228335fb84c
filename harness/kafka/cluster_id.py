"""The id of a new cluster: 16 random bytes in URL-safe base64, as Kafka writes its ids.

It never begins with a dash, because `kafka-storage format` would take it for
an option then. Kafka's own generator draws again for that reason (`Uuid.randomUuid`, KAFKA-13741).
"""

from __future__ import annotations

import base64
import uuid


def new_cluster_id() -> str:
    """22 characters that no cluster has had."""
    while (drawn := _written(uuid.uuid4())).startswith("-"):
        pass
    return drawn


def _written(drawn: uuid.UUID) -> str:
    return base64.urlsafe_b64encode(drawn.bytes).decode().rstrip("=")
