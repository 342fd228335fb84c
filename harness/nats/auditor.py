"""Answer questions about streams: a process of its own, because it needs the client library.

Started with the settings and the server's `host:port`. It takes the questions of
`harness/queues/auditor.py`, one per line, opens a connection for each, bypasses the proxies and
consumes nothing. `NAME.audit` is a stream, `NAME` its consumer.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final, NamedTuple

from nats.errors import Error
from nats.js.api import AckPolicy, ConsumerConfig

from onceproof.harness.nats.client import SECONDS, connect
from onceproof.harness.nats.configuration import (
    DURABLE,
    SYSTEM_USER,
    JetStream,
    consumer,
    stream,
)
from onceproof.harness.queues.answering import Refused, Row, answer_all, asked, counts_row
from onceproof.harness.queues.auditor import AUDIT, audited
from onceproof.harness.queues.connections import consumers_of

_BLOCK: Final = 500


class _Connection(NamedTuple):
    server: str
    number: int
    requests: int


class Answers:
    """Answers of one server."""

    def __init__(self, server: str, settings: JetStream) -> None:
        self._server = server
        self._settings = settings

    async def answer(self, question: str) -> list[Row]:
        method, rest = asked(self, question)
        found: list[Row] = await method(*rest)
        return found

    async def log(self, address: str, queue: str) -> list[Row]:
        async with self._client() as client:
            count = (await self._api(client, f"STREAM.INFO.{address}"))["state"]["messages"]
            found: list[Row] = []
            if not count:
                return found
            reading = ConsumerConfig(ack_policy=AckPolicy.NONE, mem_storage=True)
            subscription = await client.jetstream().pull_subscribe(address, config=reading)
            while len(found) < count:
                messages = await subscription.fetch(min(_BLOCK, count - len(found)), SECONDS)
                found += [
                    {"value": message.data.decode(), "properties": dict(message.headers or {})}
                    for message in messages
                ]
            await subscription.unsubscribe()
            return found

    async def counts(self, queue: str) -> list[Row]:
        async with self._client() as client:
            address = queue.removesuffix(AUDIT)
            if address != queue:
                state = (await self._api(client, f"STREAM.INFO.{address}"))["state"]
                return [counts_row(messages=state["messages"])]
            left = await self._api(client, f"CONSUMER.INFO.{address}.{DURABLE}")
        unacknowledged = left["num_ack_pending"]
        return [
            counts_row(
                messages=left["num_pending"] + unacknowledged,
                delivering=unacknowledged,
                consumers=len(await self._connections(consumers_of(address))),
            )
        ]

    async def delivering(self, queue: str) -> list[Row]:
        (left,) = await self.counts(queue)
        if left["deliveringCount"]:
            raise Refused("JetStream does not tell which messages are unacknowledged")
        return []

    async def create(self, address: str, queue: str) -> list[Row]:
        async with self._client() as client:
            if queue == audited(address):
                wanted = stream(address, self._settings)
                await self._api(client, f"STREAM.CREATE.{address}", wanted)
            else:
                wanted = {"stream_name": address, "config": consumer(self._settings)}
                await self._api(client, f"CONSUMER.DURABLE.CREATE.{address}.{DURABLE}", wanted)
        return []

    async def send(self, address: str, messages: str) -> list[Row]:
        """Send messages as one atomic batch (ADR-50 of NATS)."""
        rows = json.loads(messages)
        async with self._client() as client:
            for number, row in enumerate(rows, 1):
                batch = {
                    "Nats-Batch-Id": rows[0]["record"],
                    "Nats-Batch-Sequence": str(number),
                    **({"Nats-Batch-Commit": "1"} if number == len(rows) else {}),
                }
                own = {"onceproof_record": row["record"], "onceproof_key": row["key"]}
                body = row["value"].encode()
                done = await client.request(address, body, SECONDS, headers={**own, **batch})
                _checked(json.loads(done.data or b"{}"))
        return []

    async def disconnect(self, address: str) -> list[Row]:
        found = await self._connections(consumers_of(address))
        async with self._client(SYSTEM_USER) as client:
            for each in found:
                kick = json.dumps({"cid": each.number}).encode()
                await client.request(f"$SYS.REQ.SERVER.{each.server}.KICK", kick, SECONDS)
        return [{"result": str(bool(found)).lower()}]

    async def connected(self, prefix: str) -> list[Row]:
        return [{"result": len(await self._connections(prefix))}]

    async def requests(self, name: str) -> list[Row]:
        found = await self._connections(name)
        return [{"result": found[0].requests if found else None}]

    async def _connections(self, prefix: str) -> list[_Connection]:
        """Return the connections whose name begins so."""
        async with self._client(SYSTEM_USER) as client:
            answer = await client.request("$SYS.REQ.SERVER.PING.CONNZ", b"{}", SECONDS)
        found = json.loads(answer.data)
        return [
            _Connection(found["server"]["id"], connection["cid"], connection["in_msgs"])
            for connection in found["data"]["connections"] or ()
            if connection.get("name", "").startswith(prefix)
        ]

    async def _api(self, client: Any, subject: str, body: Row | None = None) -> Any:
        request = json.dumps(body or {}).encode()
        answer = await client.request(f"$JS.API.{subject}", request, SECONDS)
        return _checked(json.loads(answer.data))

    @asynccontextmanager
    async def _client(self, user: str | None = None) -> AsyncIterator[Any]:
        client = await connect(self._server, "auditor", user)
        try:
            yield client
        finally:
            await client.close()


def _checked(answer: Any) -> Any:
    if "error" in answer:
        raise Refused(answer["error"]["description"])
    return answer


def main() -> None:
    settings, server = sys.argv[1:]
    answers = Answers(server, JetStream(**json.loads(settings)))
    answer_all(lambda question: asyncio.run(answers.answer(question)), Error)
