"""Browse queues from a separate process, bypassing the proxies and consuming nothing.

A queue may not keep consumed messages, but a history needs a log, so each address has an audit
queue. The process opens a new connection for each question, so a broker may restart in between.
"""

from __future__ import annotations

import json
import os
import select
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from onceproof.harness.kafka.log_reader import UnreadableLog
from onceproof.harness.processes.processes import Process
from onceproof.harness.queues.connections import consumers_of

_SECONDS: Final = 30.0
"""Time limit for one line of an answer on a very busy machine; a broker call may take 2 s."""

AUDIT: Final = ".audit"
NOWHERE: Final = "undelivered"
"""A queue that every queue broker has and that stays empty."""


class QueueTrouble(UnreadableLog):
    """A queue could not be read; the text has the broker's answer."""


@dataclass(frozen=True, kw_only=True)
class Message:
    """A message in a queue.

    Attributes:
        value: its text; None if it is not a text message.
        properties: its properties, including `JMSCorrelationID` if it has one.
    """

    value: str | None
    properties: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Counts:
    """Message and consumer counts of a queue.

    Attributes:
        delivering: messages delivered to a consumer but not acknowledged.
    """

    messages: int
    delivering: int
    consumers: int


class QueueAuditor:
    """Sends questions to the auditor process; thread-safe."""

    def __init__(
        self,
        start: Callable[[], Process],
        *,
        product: str,
        unconsumed: Collection[str] = (),
        named: bool = False,
        dropped: Callable[[str], Sequence[str]] = lambda address: (),
    ) -> None:
        """Prepare it without starting the process.

        Args:
            start: starts the process, with pipes, at the first question.
            product: the broker's name in lower case.
            unconsumed: addresses that have only the audit queue.
            named: whether connections have names, by which they are told apart.
            dropped: returns the records that the broker dropped as duplicates of an address, if
                its log shows them.
        """
        self._start = start
        self.product = product
        self._named = named
        self._dropped = dropped
        self._unconsumed = frozenset(unconsumed)
        self._process: Process | None = None
        self._lock = threading.Lock()

    def log(self, address: str) -> list[Message]:
        """Return every message that was ever sent to an address, in order.

        Raises:
            QueueTrouble: the broker does not answer, or has no such address.
        """
        return [Message(**row) for row in self._ask(f"log {address} {self._log_of(address)}")]

    def sent(self, address: str) -> int:
        """Return how many messages were ever sent to an address; raises like `log`."""
        return self.counts(self._log_of(address)).messages

    def dropped(self, address: str) -> Sequence[str]:
        """Return the records that the broker dropped as duplicates, if its log shows them."""
        return self._dropped(address)

    def counts(self, queue: str) -> Counts:
        """Return the current counts of a queue.

        Raises:
            QueueTrouble: the broker does not answer, or has no such queue.
        """
        (row,) = self._ask(f"counts {queue}")
        return Counts(
            messages=row["messageCount"],
            delivering=row["deliveringCount"],
            consumers=row["consumerCount"],
        )

    def delivering(self, queue: str) -> frozenset[str]:
        """Return records delivered to a consumer but not acknowledged; raises like `counts`."""
        return frozenset(row["record"] for row in self._ask(f"delivering {queue}"))

    def create(self, address: str, *, consumed: bool) -> None:
        """Create an address with its audit queue, and one to consume; raises like `log`."""
        for queue in (audited(address), *((address,) if consumed else ())):
            self._ask(f"create {address} {queue}")

    def send(self, address: str, messages: Iterable[Mapping[str, str]]) -> None:
        """Send messages in one transaction; each has `record`, `key` and `value`.

        Raises:
            QueueTrouble: the broker does not answer; the messages may have been sent.
        """
        self._ask(f"send {address} {json.dumps(list(messages))}")

    def disconnect(self, address: str) -> bool:
        """Close the connections of the consumers of an address; return whether there were any.

        Raises like `log`.
        """
        (row,) = self._ask(f"disconnect {address}")
        return bool(row["result"] == "true")

    def connected(self, audience: str) -> int:
        """Return the number of an audience's connections, which must have names."""
        (row,) = self._ask(f"connected {audience}/")
        return int(row["result"])

    def requests(self, address: str, consumer: str) -> int | None:
        """Return how many requests a consumer's connection has sent so far.

        None: it is not connected, or connections have no names.
        """
        if not self._named:
            return None
        (row,) = self._ask(f"requests {consumers_of(address)}{consumer}")
        return None if row["result"] is None else int(row["result"])

    def _log_of(self, address: str) -> str:
        return address if address in self._unconsumed else audited(address)

    def _ask(self, question: str) -> list[dict[str, Any]]:
        with self._lock:
            if self._process is None or not self._process.leader_alive():
                self._process = self._start()
            popen = self._process.popen
            assert popen.stdin is not None, "the auditor is started with pipes"
            rows: list[dict[str, Any]] = []
            with suppress(BrokenPipeError):  # it has just ended and will answer nothing
                popen.stdin.write(f"{question}\n".encode())
                popen.stdin.flush()
            for row in self._lines(self._process, question):
                if "error" in row:
                    raise QueueTrouble(f"{question}: {row['error']}")
                if "end" in row:
                    return rows
                rows.append(row)
            # Its end of the pipe is closed, but the process may still be ending.
            ended, self._process = self._process, None
            ended.kill("the auditor ended by itself")
        raise QueueTrouble(f"{question}: the auditor ended; last log lines: {ended.tail()}")

    def _lines(self, process: Process, question: str) -> Iterator[dict[str, Any]]:
        """Yield the lines of its answer; the time limit applies to each line.

        Raises:
            QueueTrouble: a line took too long; the process is killed.
        """
        assert process.popen.stdout is not None, "the auditor is started with pipes"
        until = time.monotonic() + _SECONDS
        rest = b""
        while True:
            left = until - time.monotonic()
            if left <= 0 or not select.select([process.popen.stdout], [], [], left)[0]:
                process.kill("the auditor did not answer")
                raise QueueTrouble(f"{question}: no answer in {_SECONDS:g} s")
            # Read the pipe unbuffered: select does not see what a buffered reader has read ahead.
            read = os.read(process.popen.stdout.fileno(), 1 << 16)
            if not read:
                return
            until = time.monotonic() + _SECONDS
            *lines, rest = (rest + read).split(b"\n")
            yield from map(json.loads, lines)


def audited(address: str) -> str:
    """Return the name of the audit queue of an address."""
    return f"{address}{AUDIT}"
