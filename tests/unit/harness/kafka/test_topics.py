"""Waiting for the answer to an admin request."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any

import pytest

from onceproof.harness.kafka import topics
from onceproof.harness.wait import Overdue


def test_answer_returns_the_result_or_is_overdue(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(topics, "_SECONDS", 0)
    with pytest.raises(Overdue, match="waited 0 s for topic orders to be created; no broker"):
        topics.answer(Future(), "topic orders to be created")
    done: Future[Any] = Future()
    done.set_result(3)
    assert topics.answer(done, "topic orders to be created") == 3
