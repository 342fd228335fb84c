"""New cluster ids, which every Kafka tool must accept."""

from __future__ import annotations

import base64
import uuid
from collections.abc import Iterator

import pytest

from onceproof.harness.kafka import cluster_id
from onceproof.harness.kafka.cluster_id import new_cluster_id


def _uuids(*drawn: bytes) -> Iterator[uuid.UUID]:
    return (uuid.UUID(bytes=one) for one in drawn)


def test_id_is_a_random_uuid_in_base64() -> None:
    written = new_cluster_id()
    assert len(written) == 22
    assert uuid.UUID(bytes=base64.urlsafe_b64decode(written + "==")).version == 4


def test_id_with_leading_dash_is_redrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    # 0xf8 encodes to a leading dash, and `kafka-storage format -t -…` fails.
    drawn = _uuids(b"\xf8" + bytes(15), b"\xfb" + bytes(15), b"\xfc" + bytes(15))
    monkeypatch.setattr(cluster_id.uuid, "uuid4", lambda: next(drawn))
    assert new_cluster_id() == "_" + "A" * 21
