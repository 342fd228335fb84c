"""The interface of senders: a client library, its settings, and the command of its program.

Every program gets the same task and records (`harness.workload.task_file`). To add a client, add a
file here and a program to `harness/workload/clients/`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final, Literal, Protocol, runtime_checkable

from onceproof.harness.processes.python import python_module
from onceproof.harness.queues.base import QueueSettings
from onceproof.harness.tools.setup import Tools

MESSAGE_MAX_BYTES: Final = 4_000_000
"""Maximum size of a record; above the brokers' default, so that an input can have larger ones."""
Medium = Literal["topics", "file", "queues"]
"""The destination: topics of a cluster, an append-only file, or addresses of a queue broker."""


class Sender(Protocol):
    """A client library with settings."""

    into: ClassVar[Medium]

    runtime: ClassVar[str | None]
    """The runtime (`harness.tools.runtimes.known`) that it uses; None if it has none."""

    @property
    def name(self) -> str:
        """The client's short name."""

    @property
    def resend_seconds(self) -> float | None:
        """Seconds without an outcome after which the application retries itself; None: never."""

    def settings(self, *, transactional: bool) -> Mapping[str, Any]:
        """Return the client's settings, by the library's names; the report prints them."""

    def command(self, task: Path, tools: Tools | None) -> Sequence[str | Path]:
        """Return the command that runs a task."""


@runtime_checkable
class Versioned(Protocol):
    """A sender whose library has one version, which no run can choose."""

    def versions(self) -> Mapping[str, str]:
        """Return the library's name and version."""


@runtime_checkable
class IntoQueues(Protocol):
    """A sender whose records go to a queue broker."""

    @property
    def queue_broker(self) -> QueueSettings:
        """Settings of the broker that it needs, if the subject does not have others."""


def python_client(
    module: str, task: Path, tools: Tools | None, *, runtime: str | None = None
) -> Sequence[str | Path]:
    """Return the command of a client in Python, in the version that the run chose."""
    python = tools.chosen.pythons.get(runtime) if tools and runtime else None
    return [*python_module(f"onceproof.harness.workload.clients.{module}", python=python), task]
