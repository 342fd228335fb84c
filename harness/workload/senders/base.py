"""What a way of sending is: a client library, its settings, and how its program is started.

It is plain data, and the program that it starts gets the same task and the
same records as every other (`harness.workload.task_file`). Add a client by adding a file here and a
program to `harness/workload/clients/`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final, Literal, Protocol

from onceproof.harness.processes.python import python_module
from onceproof.harness.tools.setup import Tools

MESSAGE_MAX_BYTES: Final = 4_000_000
"""Of a record: more than brokers take by default, so that an input can have such."""
Medium = Literal["topics", "file", "queues"]
"""What records are sent to: topics of a cluster, a file that grows, addresses of a queue broker."""


class Sender(Protocol):
    """A way of sending."""

    into: ClassVar[Medium]

    @property
    def name(self) -> str:
        """Short name of the client."""

    @property
    def resend_seconds(self) -> float | None:
        """After how long without an outcome the application sends again by itself; None: never."""

    def settings(self, *, transactional: bool) -> Mapping[str, Any]:
        """The client's settings, in its library's words; printed in the report."""

    def command(self, task: Path, tools: Tools | None) -> Sequence[str | Path]:
        """How its program is started with a task."""


def python_client(module: str, task: Path) -> Sequence[str | Path]:
    """The command of a program in `harness/workload/clients/`."""
    return [*python_module(f"onceproof.harness.workload.clients.{module}"), task]
