"""What has passed in a client's transaction, with gates that are made up."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from onceproof.harness.faults.messages import so_far
from onceproof.harness.faults.messages.message import Message
from onceproof.harness.faults.messages.so_far import SoFar

Event = dict[str, Any]


def event(at: int, request: int) -> Event:
    return {"at": at, "link": "a link", "connection": 1, "correlation_id": request}


def passed(
    monkeypatch: pytest.MonkeyPatch, passing: list[Event], ends: list[Event], now: Event
) -> bool:
    gates = iter([SimpleNamespace(fired=lambda: passing), SimpleNamespace(fired=lambda: ends)])
    monkeypatch.setattr(so_far, "AtGates", lambda *_: next(gates))
    message = Message(source="pipeline", direction="response", api="Produce", client_id="it")
    context: Any = None
    return SoFar(context, message).passed(now)


@pytest.mark.parametrize(
    ("passing", "ends", "expected"),
    [
        ([], [], False),
        ([event(1, 1)], [], True),
        ([event(1, 1)], [event(2, 2)], False),
        ([event(1, 1), event(3, 3)], [event(2, 2)], True),
        ([event(1, 1), event(3, 3)], [event(2, 2), event(4, 4)], False),
    ],
)
def test_only_what_came_since_the_last_end(
    monkeypatch: pytest.MonkeyPatch, passing: list[Event], ends: list[Event], expected: bool
) -> None:
    assert passed(monkeypatch, passing, ends, event(9, 9)) is expected


@pytest.mark.parametrize("what", ["the request of an end", "the answer to it"])
def test_an_end_does_not_end_itself(monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    now = event(2 if what == "the request of an end" else 3, 2)
    assert passed(monkeypatch, [event(1, 1)], [event(2, 2)], now)


def test_nothing_is_behind_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not passed(monkeypatch, [event(1, 1)], [], event(1, 1))
