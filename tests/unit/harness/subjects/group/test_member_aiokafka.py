"""Members that use aiokafka: revoked partitions, and effects that brokers refuse."""

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
from onceproof.harness.subjects.group.life import LifeEnded
from onceproof.harness.subjects.group.member_aiokafka import Member
from onceproof.harness.subjects.group.task import MemberTask

PARTITION = TopicPartition("in", 0)
PAYMENT = {"record": "r-1", "account": "a", "amount_cents": 100, "note": ""}
RECORD = SimpleNamespace(
    offset=6,
    key=b"a",
    value=json.dumps(PAYMENT).encode(),
    headers=((RECORD_HEADER, b"r-1"),),
)


class Broker:
    """Fake consumer and producer: one record to read, and the calls in their order."""

    def __init__(self, *, refuses: bool = False) -> None:
        self.calls: list[Any] = []
        self.may_commit = asyncio.Event()
        self.position: int | None = None
        self._refuses = refuses

    def __call__(self, **_: Any) -> Broker:
        return self

    def subscribe(self, topics: list[str], listener: object) -> None:
        self.calls.append(("subscribe", topics))

    async def start(self) -> None:
        pass

    async def getmany(self, *, timeout_ms: int) -> dict[TopicPartition, list[Any]]:
        if "read" in self.calls:
            await asyncio.Event().wait()  # no more records
        self.calls.append("read")
        return {PARTITION: [RECORD]}

    async def begin_transaction(self) -> None:
        self.calls.append("begin")

    async def send(self, topic: str, *, headers: Any, **_: Any) -> asyncio.Future[None]:
        self.calls.append(("send", topic, headers))
        outcome = asyncio.get_running_loop().create_future()
        if self._refuses:
            outcome.set_exception(MessageSizeTooLargeError())
            outcome.exception()  # so that asyncio does not warn, as in the client
        else:
            outcome.set_result(None)
        return outcome

    async def send_offsets_to_transaction(self, offsets: Any, group: str) -> None:
        self.calls.append(("positions", offsets, group))

    async def commit_transaction(self) -> None:
        self.calls.append("commit")
        await self.may_commit.wait()
        self.calls.append("committed")

    async def committed(self, partition: TopicPartition) -> int | None:
        self.calls.append("look")
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


async def wait_for_call(broker: Broker, call: str) -> None:
    async with asyncio.timeout(10):
        while call not in broker.calls:
            await asyncio.sleep(0)


def test_revocation_waits_until_the_commit_is_visible(member: Callable[..., Member]) -> None:
    async def story() -> None:
        broker = Broker()
        made = member(broker)
        running = asyncio.create_task(made.run())
        await wait_for_call(broker, "commit")
        revocation = asyncio.create_task(made.on_partitions_revoked([PARTITION]))
        for _ in range(20):
            await asyncio.sleep(0)
        assert not revocation.done(), "its transaction has their positions"
        broker.may_commit.set()
        broker.position = 6
        await wait_for_call(broker, "look")
        assert not revocation.done(), "whoever is next would read from 6"
        broker.position = 7
        await asyncio.wait_for(revocation, 10)
        assert [each for each in broker.calls if each != "look"] == [
            ("subscribe", ["in"]),
            "read",
            "begin",
            ("send", "out", [(RECORD_HEADER, b"r-1")]),
            ("positions", {PARTITION: 7}, "g"),
            "commit",
            "committed",
        ]
        running.cancel()

    asyncio.run(story())


def test_refused_effect_ends_the_member_before_its_commit(
    member: Callable[..., Member],
) -> None:
    broker = None

    async def story() -> None:
        nonlocal broker
        broker = Broker(refuses=True)
        async with asyncio.timeout(10):
            await member(broker).run()

    with pytest.raises(LifeEnded, match="MessageSizeTooLarge"):
        asyncio.run(story())
    assert broker is not None
    assert "commit" not in broker.calls


def test_twin_commits_despite_a_refused_effect(member: Callable[..., Member]) -> None:
    async def story() -> None:
        broker = Broker(refuses=True)
        running = asyncio.create_task(member(broker, outcomes=False).run())
        await wait_for_call(broker, "commit")
        running.cancel()

    asyncio.run(story())
