"""Combine the calls and returns of a Jepsen history into completed operations, in order.

This decides outcomes, and rejects a history that contradicts itself (a process with two calls at
once, a return that does not match its call).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from onceproof.checkers.imports.edn import Keyword
from onceproof.checkers.imports.errors import BadImport
from onceproof.checkers.imports.jepsen_ops import (
    DOES_MICRO_OPERATIONS,
    MOST,
    Names,
    Operation,
    Send,
)
from onceproof.checkers.imports.jepsen_readers import Readers

_UNCERTAIN: Final = frozenset(
    {
        "not-leader-or-follower", "not-leader-for-partition", "timeout", "kafka-timeout",
        "disconnect", "network", "unknown-server-exception", "indeterminate",
    }
)  # fmt: skip
"""Errors after which a send may have taken effect, even if the client reported `:fail`."""


@dataclass(slots=True)
class CompletedOperation:
    """One operation that sends or polls, from its call to its outcome."""

    number: int
    line: int
    process: int
    f: str
    type: str
    called: int
    returned: int | None
    sends: list[Send]
    parts: int
    """Number of sends and polls."""
    error: Any


class Events:
    """The operations in order, with calls and returns combined."""

    def __init__(self, path: Path) -> None:
        self.names = Names()
        self.readers = Readers()
        self.done: list[CompletedOperation] = []
        self.several = False
        self.now = -1
        self.counts: Counter[str] = Counter()
        self.path = path
        self._pending: dict[int, tuple[Operation, int]] = {}
        self._free_since: dict[int, int] = {}
        """When each process last returned; its next call is later."""

    def record(self, send: Send) -> str:
        return f"{self.names.keys[send.key]}/{send.value}"

    def take(self, operation: Operation | None) -> None:
        """Process the next operation; None for one of the nemesis."""
        if operation is None:
            self.counts["nemesis"] += 1
            return
        # Steps of two leave room for events known to be right behind a call.
        self.now = max(self.now + 2, operation.time or 0)
        if self.now > MOST - 4:
            raise BadImport(
                self.path, "expected a time below 2^63", line=operation.line, field=":time"
            )
        self.counts["operations"] += 1
        waiting = self._pending.pop(operation.process, None)
        if operation.type == "invoke":
            if waiting:
                raise BadImport(
                    self.path,
                    f"expected the completion of the operation that process {operation.process} "
                    f"invoked in line {waiting[0].line}, found another :invoke.",
                    line=operation.line,
                    field=":type",
                )
            self._pending[operation.process] = (operation, self.now)
            return
        if waiting is None:
            self.counts["invocation missing"] += 1
        elif waiting[0].f != operation.f:
            raise BadImport(
                self.path,
                f"expected :{waiting[0].f}, as invoked in line {waiting[0].line}, found "
                f":{operation.f}.",
                line=operation.line,
                field=":f",
            )
        self._returned(operation, waiting)

    def finish(self) -> None:
        """Complete the pending operations, which never returned."""
        for operation, called in self._pending.values():
            self.counts["not completed"] += 1
            if operation.f in DOES_MICRO_OPERATIONS:
                self._add(operation, "info", called, None, operation.sends)
        self._pending.clear()

    def _returned(self, operation: Operation, waiting: tuple[Operation, int] | None) -> None:
        # If the call is not recorded, it came after the previous return of the process.
        called = self._free_since.get(operation.process, 0) if waiting is None else waiting[1]
        self._free_since[operation.process] = self.now
        if operation.f in DOES_MICRO_OPERATIONS:
            sends = operation.sends
            if waiting and not sends and not operation.polls:
                sends = waiting[0].sends  # they are unknown
            elif waiting and len(sends) != len(waiting[0].sends):
                raise BadImport(
                    self.path,
                    f"expected the {len(waiting[0].sends)} :send in line {waiting[0].line}, found "
                    f"{len(sends)}.",
                    line=operation.line,
                    field=":value",
                )
            type_ = operation.type
            if type_ == "fail" and _is_uncertain(operation.error):
                self.counts["uncertain"] += 1
                type_ = "info"
            if operation.polls:
                own: dict[int, set[str]] = {}
                for send in sends:
                    own.setdefault(send.key, set()).add(send.value)
                self.readers.poll(operation, called, self.now, own)
            self._add(operation, type_, called, self.now, sends)
        elif operation.type == "ok" and operation.f == "assign":
            self.readers.assign(operation, self.now)
        elif operation.type == "ok" and operation.f == "subscribe":
            self.readers.subscribe(operation, self.now)
        if operation.type == "info":
            self.readers.end(operation.process, self.now)

    def _add(
        self, operation: Operation, type_: str, called: int, returned: int | None, sends: list[Send]
    ) -> None:
        self.several |= operation.f == "txn" or len(sends) + len(operation.polls) > 1
        self.done.append(
            CompletedOperation(
                number=operation.number,
                line=operation.line,
                process=operation.process,
                f=operation.f,
                type=type_,
                called=called,
                returned=returned,
                sends=sends,
                parts=len(sends) + len(operation.polls),
                error=operation.error,
            )
        )


def _is_uncertain(error: Any) -> bool:
    """Whether an error, `:timeout` or `[:timeout "words"]`, leaves the outcome open."""
    first = error[0] if type(error) is tuple and error else error
    return isinstance(first, Keyword) and first.name in _UNCERTAIN
