"""A cluster's id is one that every tool of Kafka's takes."""

from __future__ import annotations

import base64
import uuid
from collections.abc import Iterator

import pytest

from onceproof.harness.kafka import cluster_id
from onceproof.harness.kafka.cluster_id import new_cluster_id


def _drawing(*drawn: bytes) -> Iterator[uuid.UUID]:
    return (uuid.UUID(bytes=one) for one in drawn)


def test_an_id_is_that_of_a_uuid() -> None:
    written = new_cluster_id()
    assert len(written) == 22
    assert uuid.UUID(bytes=base64.urlsafe_b64decode(written + "==")).version == 4


def test_an_id_that_looks_like_an_option_is_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    # 0xf8 begins with the 62nd of 64 digits, the dash; `kafka-storage format -t -…` fails.
    drawn = _drawing(b"\xf8" + bytes(15), b"\xfb" + bytes(15), b"\xfc" + bytes(15))
    monkeypatch.setattr(cluster_id.uuid, "uuid4", lambda: next(drawn))
    assert new_cluster_id() == "_" + "A" * 21
