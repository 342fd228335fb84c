"""A member of aiokafka: when it gives up partitions, and what it does not commit."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from aiokafka import TopicPartition
from aiokafka.errors import MessageSizeTooLargeError

from onceproof.harness.history.identity import RECORD_HEADER
from onceproof.harness.subjects.group import member_aiokafka
from onceproof.harness.subjects.group.life import Over
from onceproof.harness.subjects.group.member_aiokafka import Member
from onceproof.harness.subjects.group.task import MemberTask

PLACE = TopicPartition("in", 0)
PAYMENT = {"record": "r-1", "account": "a", "amount_cents": 100, "note": ""}
RECORD = SimpleNamespace(
    offset=6,
    key=b"a",
    value=json.dumps(PAYMENT).encode(),
    headers=((RECORD_HEADER, b"r-1"),),
)


class Broker:
    """Both clients: one record to read, and what is asked of them, in order."""

    def __init__(self, *, refuses: bool = False) -> None:
        self.asked: list[Any] = []
        self.may_commit = asyncio.Event()
        self.position: int | None = None
        self._refuses = refuses

    def __call__(self, **_: Any) -> Broker:
        return self

    def subscribe(self, topics: list[str], listener: object) -> None:
        self.asked.append(("subscribe", topics))

    async def start(self) -> None:
        pass

    async def getmany(self, *, timeout_ms: int) -> dict[TopicPartition, list[Any]]:
        if "read" in self.asked:
            await asyncio.Event().wait()  # there is nothing more
        self.asked.append("read")
        return {PLACE: [RECORD]}

    async def begin_transaction(self) -> None:
        self.asked.append("begin")

    async def send(self, topic: str, *, headers: Any, **_: Any) -> asyncio.Future[None]:
        self.asked.append(("send", topic, headers))
        outcome = asyncio.get_running_loop().create_future()
        if self._refuses:
            outcome.set_exception(MessageSizeTooLargeError())
            outcome.exception()  # as the client does: nobody is warned
        else:
            outcome.set_result(None)
        return outcome

    async def send_offsets_to_transaction(self, offsets: Any, group: str) -> None:
        self.asked.append(("positions", offsets, group))

    async def commit_transaction(self) -> None:
        self.asked.append("commit")
        await self.may_commit.wait()
        self.asked.append("committed")

    async def committed(self, place: TopicPartition) -> int | None:
        self.asked.append("look")
        return self.position


@pytest.fixture
def member(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Member]:
    def make(broker: Broker, **more: Any) -> Member:
        monkeypatch.setattr(member_aiokafka, "AIOKafkaConsumer", broker)
        monkeypatch.setattr(member_aiokafka, "AIOKafkaProducer", broker)
        task = MemberTask(
            name="member-0", bootstrap="b", group="g", topic="in", sink="out",
            commits="in-transaction", **more,
        )  # fmt: skip
        return Member(task)

    return make


async def until(broker: Broker, what: str) -> None:
    async with asyncio.timeout(10):
        while what not in broker.asked:
            await asyncio.sleep(0)


def test_partitions_are_given_up_between_transactions(member: Callable[..., Member]) -> None:
    async def story() -> None:
        broker = Broker()
        made = member(broker)
        running = asyncio.create_task(made.run())
        await until(broker, "commit")
        giving_up = asyncio.create_task(made.on_partitions_revoked([PLACE]))
        for _ in range(20):
            await asyncio.sleep(0)
        assert not giving_up.done(), "its transaction has their positions"
        broker.may_commit.set()
        broker.position = 6
        await until(broker, "look")
        assert not giving_up.done(), "whoever is next would read from 6"
        broker.position = 7
        await asyncio.wait_for(giving_up, 10)
        assert [each for each in broker.asked if each != "look"] == [
            ("subscribe", ["in"]),
            "read",
            "begin",
            ("send", "out", [(RECORD_HEADER, b"r-1")]),
            ("positions", {PLACE: 7}, "g"),
            "commit",
            "committed",
        ]
        running.cancel()

    asyncio.run(story())


def test_an_effect_that_was_refused_ends_it_before_the_commit(
    member: Callable[..., Member],
) -> None:
    broker = None

    async def story() -> None:
        nonlocal broker
        broker = Broker(refuses=True)
        async with asyncio.timeout(10):
            await member(broker).run()

    with pytest.raises(Over, match="MessageSizeTooLarge"):
        asyncio.run(story())
    assert broker is not None
    assert "commit" not in broker.asked


def test_the_twin_commits_all_the_same(member: Callable[..., Member]) -> None:
    async def story() -> None:
        broker = Broker(refuses=True)
        running = asyncio.create_task(member(broker, outcomes=False).run())
        await until(broker, "commit")
        running.cancel()

    asyncio.run(story())
