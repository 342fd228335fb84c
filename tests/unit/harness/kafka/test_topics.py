"""What the cluster answers to an administrator, or that it does not."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any

import pytest

from onceproof.harness.kafka import topics
from onceproof.harness.wait import Overdue


def test_an_answer_that_does_not_come_is_told_with_what_was_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(topics, "_SECONDS", 0)
    with pytest.raises(Overdue, match="waited 0 s for topic orders to be created; no broker"):
        topics.answer(Future(), "topic orders to be created")
    there: Future[Any] = Future()
    there.set_result(3)
    assert topics.answer(there, "topic orders to be created") == 3
