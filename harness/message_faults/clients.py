"""The clients under test, and how they receive a transaction and report its outcome.

Each client is a process, because some never return from a call; one that hangs is killed. It reads
its task as one line of JSON and prints one as its result.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from onceproof.harness.java.programs import compiled
from onceproof.harness.message_faults.combinations import MESSAGES
from onceproof.harness.processes.processes import Process, Processes
from onceproof.harness.processes.python import python_module
from onceproof.harness.tools.setup import StageTools


@dataclass(frozen=True, kw_only=True)
class Task:
    """One transaction: values for a topic, and a consumer group's offset."""

    bootstrap: str
    transactional_id: str
    topic: str
    values: Sequence[str]
    input: str
    """The topic whose offset is committed."""
    group: str
    offset: int
    seconds: float
    """How long the client retries."""


@dataclass(frozen=True, kw_only=True)
class ClientResult:
    """The result that a client prints when it ends."""

    committed: bool
    at: int
    aborted: int = 0
    """Number of transactions that it had to abort and begin again."""
    again: int = 0
    """Number of calls that it had to repeat."""
    error: str | None = None

    def describe(self) -> str:
        if not self.committed:
            return f"failed: {self.error}"
        if self.aborted:
            return "aborted, then committed"
        return "committed after retries" if self.again else "committed"


@dataclass(frozen=True, kw_only=True)
class Client:
    """One kind of client."""

    name: str
    sends: Sequence[str]
    command: Sequence[str | Path]

    @property
    def never_sends(self) -> list[str]:
        return [message for message in MESSAGES if message not in self.sends]

    def start(self, processes: Processes, task: Task) -> Process:
        process = processes.start("exact-client", self.command, pipes=True)
        assert process.popen.stdin is not None
        process.popen.stdin.write(json.dumps(asdict(task)).encode() + b"\n")
        process.popen.stdin.close()
        return process


def read_result(process: Process) -> ClientResult | None:
    """Return the result of a client that has ended; None if it printed none."""
    assert process.popen.stdout is not None
    output = process.popen.stdout.read()
    return ClientResult(**json.loads(output)) if output else None


def librdkafka(_: StageTools) -> Client:
    """Return the confluent-kafka client; it sends every message of the commit path."""
    return Client(
        name="librdkafka",
        sends=MESSAGES,
        command=tuple(python_module("onceproof.harness.message_faults.librdkafka")),
    )


def java(tools: StageTools) -> Client:
    """Return Kafka's Java client on transaction version 2 (Kafka 4.0 and later).

    There the brokers add a partition or a group to the transaction at the first write to it.

    Raises:
        SetupError: there is no compiler for it.
    """
    return Client(
        name="java",
        sends=("InitProducerId", "Produce", "TxnOffsetCommit", "EndTxn"),
        command=tuple(compiled(tools.java, tools.kafka_libs).command("ExactTransaction")),
    )


CLIENTS: Final[Mapping[str, Callable[[StageTools], Client]]] = {
    "librdkafka": librdkafka,
    "java": java,
}
