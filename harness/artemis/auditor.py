"""Our own way into queues: a process that looks into them, past all proxies, and takes nothing out.

It is asked one thing at a time and connects anew for each; a broker that was
killed in between makes no difference, and one that does not answer is reported as such.
"""

from __future__ import annotations

import json
import os
import re
import select
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from onceproof.harness.artemis.configuration import audited
from onceproof.harness.kafka.log_reader import UnreadableLog
from onceproof.harness.processes.processes import Process

_SECONDS: Final = 30.0
"""How long a line of an answer may take, on a machine that is very busy: the broker has two."""

_DROPPED: Final = "AMQ222059"
_RECORD: Final = re.compile(r"onceproof_record=([^,\]}]+)")


class QueueTrouble(UnreadableLog):
    """A queue could not be looked into; the text says what was answered."""


@dataclass(frozen=True, kw_only=True)
class Message:
    """A message that lies in a queue.

    Attributes:
        value: its text; None if it is none.
        properties: what it carries beside, `JMSCorrelationID` among it if it has one.
    """

    value: str | None
    properties: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Counts:
    """How many messages a queue has.

    Attributes:
        delivering: those that are out at a consumer and not yet acknowledged.
    """

    messages: int
    delivering: int
    consumers: int


class QueueAuditor:
    """Asks the process; thread-safe."""

    def __init__(
        self,
        start: Callable[[], Process],
        logs: Callable[[], Iterable[Path]] = tuple,
        unconsumed: Collection[str] = (),
    ) -> None:
        """Nothing is started yet.

        Args:
            start: starts the process, with pipes, when it is first asked.
            logs: what the lives of the broker have logged.
            unconsumed: addresses whose only queue is the one that nobody consumes.
        """
        self._start = start
        self._logs = logs
        self._unconsumed = frozenset(unconsumed)
        self._process: Process | None = None
        self._lock = threading.Lock()

    def log(self, address: str) -> list[Message]:
        """Everything that was ever sent to an address, in order.

        Raises:
            QueueTrouble: the broker does not answer, or has no such address.
        """
        return [Message(**row) for row in self._ask(f"log {address} {self._log_of(address)}")]

    def sent(self, address: str) -> int:
        """How many messages that are.

        Raises:
            QueueTrouble: as of `log`.
        """
        return self.counts(self._log_of(address)).messages

    def dropped(self, address: str) -> list[str]:
        """Records of messages that the broker has dropped because it had taken them before.

        It says so in its log, and nowhere else.
        """
        found = []
        for log in self._logs():
            lines = log.read_text(errors="replace").splitlines()
            for line, message in pairwise(lines):
                if _DROPPED in line and f"address={address}," in message:
                    record = _RECORD.search(message)
                    found.append(record[1] if record else "")
        return found

    def counts(self, queue: str) -> Counts:
        """How many messages a queue has now.

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
        """Records that are out at a consumer and not yet acknowledged.

        Raises:
            QueueTrouble: as of `counts`.
        """
        return frozenset(row["record"] for row in self._ask(f"delivering {queue}"))

    def _log_of(self, address: str) -> str:
        return address if address in self._unconsumed else audited(address)

    def _ask(self, question: str) -> list[dict[str, Any]]:
        with self._lock:
            if self._process is None or not self._process.leader_alive():
                self._process = self._start()
            popen = self._process.popen
            assert popen.stdin is not None, "it is started with pipes"
            rows: list[dict[str, Any]] = []
            with suppress(BrokenPipeError):  # it has just ended: it answers nothing
                popen.stdin.write(f"{question}\n".encode())
                popen.stdin.flush()
            for row in self._lines(self._process, question):
                if "error" in row:
                    raise QueueTrouble(f"{question}: {row['error']}")
                if "end" in row:
                    return rows
                rows.append(row)
            # Its end of the pipe is closed, and it may need a moment more to be gone.
            ended, self._process = self._process, None
            ended.kill("the auditor ended by itself")
        raise QueueTrouble(f"{question}: the auditor ended; it said last: {ended.tail()}")

    def _lines(self, process: Process, question: str) -> Iterator[dict[str, Any]]:
        """What it answers, line by line, until it ends; it may take its time between two of them.

        Raises:
            QueueTrouble: it does not in time; then it is of no more use, and is ended.
        """
        assert process.popen.stdout is not None, "it is started with pipes"
        until = time.monotonic() + _SECONDS
        rest = b""
        while True:
            left = until - time.monotonic()
            if left <= 0 or not select.select([process.popen.stdout], [], [], left)[0]:
                process.kill("the auditor did not answer")
                raise QueueTrouble(f"{question}: no answer in {_SECONDS:g} s")
            # The pipe itself: a buffered reader would hide from select what it has read ahead.
            read = os.read(process.popen.stdout.fileno(), 1 << 16)
            if not read:
                return
            until = time.monotonic() + _SECONDS
            *lines, rest = (rest + read).split(b"\n")
            yield from map(json.loads, lines)
