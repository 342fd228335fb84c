"""Answer questions about streams: a process of its own, because it needs the client library.

Started with the settings and the server's `host:port`. It takes the questions of
`harness/queues/auditor.py`, bypasses the proxies and consumes nothing. `NAME.audit` is a stream,
`NAME` its consumer group.
"""

from __future__ import annotations

import json
import sys
from typing import Any, Final

from valkey import Valkey
from valkey.exceptions import ValkeyError

from onceproof.harness.queues.answering import Row, answer_all, asked, counts_row
from onceproof.harness.queues.auditor import AUDIT
from onceproof.harness.queues.connections import consumers_of
from onceproof.harness.valkey.client import connect
from onceproof.harness.valkey.configuration import GROUP

_BLOCK: Final = 500


class Answers:
    """Answers of one server."""

    def __init__(self, server: str) -> None:
        self._server = server

    def answer(self, question: str) -> list[Row]:
        method, rest = asked(self, question)
        with connect(self._server, "auditor") as client:
            found: list[Row] = method(client, *rest)
            return found

    def log(self, client: Valkey, address: str, queue: str) -> list[Row]:
        found: list[Row] = []
        first = "-"
        while entries := client.xrange(address, first, "+", _BLOCK):
            first = f"({entries[-1][0]}"
            for _, fields in entries:
                value = fields.pop("value")
                found.append({"value": value, "properties": fields})
        return found

    def counts(self, client: Valkey, queue: str) -> list[Row]:
        address = queue.removesuffix(AUDIT)
        if address != queue:
            return [counts_row(messages=client.xlen(address))]
        (group,) = client.xinfo_groups(address)
        pending = group["pending"]
        return [
            counts_row(
                messages=group["lag"] + pending,
                delivering=pending,
                consumers=len(_connections(client, consumers_of(address))),
            )
        ]

    def delivering(self, client: Valkey, queue: str) -> list[Row]:
        pending = client.xpending_range(queue, GROUP, "-", "+", _BLOCK)
        found = [client.xrange(queue, each["message_id"], each["message_id"]) for each in pending]
        return [{"record": fields["onceproof_record"]} for ((_, fields),) in found]

    def create(self, client: Valkey, address: str, queue: str) -> list[Row]:
        """Create a consumer group; a stream comes into being with its first entry or group."""
        if queue == address:
            client.xgroup_create(address, GROUP, id="0", mkstream=True)
        return []

    def send(self, client: Valkey, address: str, messages: str) -> list[Row]:
        with client.pipeline(transaction=True) as transaction:
            for row in json.loads(messages):
                transaction.xadd(
                    address,
                    {
                        "value": row["value"],
                        "onceproof_record": row["record"],
                        "onceproof_key": row["key"],
                    },
                )
            transaction.execute()
        return []

    def disconnect(self, client: Valkey, address: str) -> list[Row]:
        found = _connections(client, consumers_of(address))
        for each in found:
            client.client_kill_filter(_id=each)
        return [{"result": str(bool(found)).lower()}]

    def connected(self, client: Valkey, prefix: str) -> list[Row]:
        return [{"result": len(_connections(client, prefix))}]

    def requests(self, client: Valkey, name: str) -> list[Row]:
        found = (each["tot-cmds"] for each in client.client_list() if each["name"] == name)
        return [{"result": next(found, None)}]


def _connections(client: Valkey, prefix: str) -> list[Any]:
    return [each["id"] for each in client.client_list() if each["name"].startswith(prefix)]


def main() -> None:
    _, _, server = sys.argv
    answer_all(Answers(server).answer, ValkeyError)
