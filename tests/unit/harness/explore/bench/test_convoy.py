"""A broker fails once, when all clients of a convoy are there or have given up."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from onceproof.harness.explore.bench.convoy import Convoy


class Broker:
    """Counts how often it failed."""

    def __init__(self, error: Exception | None = None) -> None:
        self.failed, self._error = 0, error

    def fail(self) -> None:
        self.failed += 1
        if self._error is not None:
            raise self._error


def together(*calls: Callable[[], str | None]) -> list[Future[str | None]]:
    with ThreadPoolExecutor(len(calls)) as pool:
        return [pool.submit(call) for call in calls]


def test_it_fails_once_for_all() -> None:
    broker = Broker()
    convoy = Convoy(3, "broker-1", broker.fail)
    found = together(*[lambda: convoy.arrive("broker-1")] * 3)
    assert [each.result() for each in found] == [None] * 3
    assert broker.failed == 1


def test_those_whose_message_does_not_come_are_not_awaited() -> None:
    broker = Broker()
    convoy = Convoy(3, "broker-1", broker.fail)
    convoy.leave()
    found = together(lambda: convoy.arrive("broker-1"), lambda: convoy.arrive("broker-2"))
    assert found[0].result() is None
    assert found[1].result() == "its message went to broker-2, not to broker-1, which fails"
    assert broker.failed == 1


def test_late_message_misses() -> None:
    convoy = Convoy(1, "broker-1", Broker().fail)
    assert convoy.arrive("broker-1") is None
    assert convoy.arrive("broker-1") == "broker-1 had failed before its message"


def test_every_client_hears_that_the_broker_cannot_fail() -> None:
    convoy = Convoy(2, "broker-1", Broker(OSError("no such process")).fail)
    for each in together(*[lambda: convoy.arrive("broker-1")] * 2):
        with pytest.raises(OSError, match="no such process"):
            each.result()
