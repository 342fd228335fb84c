"""The gate process, `python -m onceproof.harness.links.gate`, controlled over its pipes.

It reads orders as lines of JSON, answers each with a line, and writes events in between. It exits
when the pipe closes, so that it cannot outlive the harness.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from onceproof.harness.clock import now
from onceproof.harness.links.gate.gated import GatedLink, Route
from onceproof.harness.links.gate.messages import error_code
from onceproof.harness.links.gate.rulebook import RuleCounter
from onceproof.harness.links.gate.rules import Rule
from onceproof.harness.links.gate.topics import Topics

_LONGEST_LINE = 1 << 20


class Gate:
    """All gated links of a stage."""

    def __init__(self, say: Callable[[Mapping[str, Any]], None]) -> None:
        self._say = say
        self._links: dict[str, GatedLink] = {}
        self._topics = Topics()
        self._rules = 0
        self._counted: dict[int, RuleCounter] = {}

    def obey(self, order: Mapping[str, Any]) -> Any:
        """Execute an order and return its answer.

        Raises:
            ValueError: the order is invalid; the message says why.
            OSError: an address cannot be bound.
        """
        match order:
            case {"do": "open", "link": name, "ways": ways}:
                if name in self._links:
                    raise ValueError(f"{name} already has a gate")
                link = GatedLink(name, topics=self._topics, report=self._report)
                link.open([Route.from_json(way) for way in ways])
                self._links[name] = link
            case {"do": "close", "link": name}:
                self._link(name).close()
                del self._links[name]
            case {"do": "sever", "link": name}:
                self._link(name).sever()
            case {"do": "put", "links": names, "rule": rule, "after": after}:
                links = [self._link(name) for name in names]
                self._rules += 1
                counted = RuleCounter(
                    id=self._rules, rule=Rule.from_json(rule), after=self._counted.get(after)
                )
                self._counted[counted.id] = counted
                for link in links:
                    link.put(counted)
                return counted.id
            case {"do": "remove", "links": names, "id": rule, "drop": drop, "error": error}:
                code = None if error is None else error_code(error)
                found = [
                    (name, *at)
                    for name in names
                    for at in self._link(name).remove(rule, drop=drop, error=code)
                ]
                self._counted.pop(rule, None)
                return found
            case {"do": "release", "links": names, "id": rule}:
                return sum(self._link(name).release(rule) for name in names)
            case {"do": "teach", "topics": topics}:
                self._topics.teach({UUID(one): topic for one, topic in topics.items()})
            case {"do": "state"}:
                return {name: link.state() for name, link in self._links.items()}
            case _:
                raise ValueError(f"invalid order: {order}")
        return None

    def _link(self, name: str) -> GatedLink:
        if name not in self._links:
            raise ValueError(f"{name} has no gate")
        return self._links[name]

    def _report(self, event: str, **details: Any) -> None:
        self._say({"event": event, "at": now(), **details})


async def serve() -> None:
    orders = asyncio.StreamReader(limit=_LONGEST_LINE)
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(_on_error)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(orders), sys.stdin)
    gate = Gate(_send)
    while line := await orders.readline():
        order = json.loads(line)
        try:
            answer = {"ok": gate.obey(order)}
        except (ValueError, OSError) as error:
            answer = {"trouble": str(error)}
        _send({"order": order["number"], **answer})


def _on_error(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Exit at once: a gate with an internal error must not pass for a working one."""
    loop.default_exception_handler(context)
    os._exit(1)


def _send(message: Mapping[str, Any]) -> None:
    """Write a line, blocking if necessary: an event is reported before its frame is forwarded."""
    data = memoryview(json.dumps(message).encode() + b"\n")
    while data:
        data = data[os.write(1, data) :]


if __name__ == "__main__":
    asyncio.run(serve())
