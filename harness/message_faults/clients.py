"""Which clients are tried, and how one is told its transaction and tells what came of it.

A client is a process of its own, because some never return from a call; who
hangs is killed, and that is an outcome like any other. A client reads its task as one line of JSON
and answers with one.
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
    """One transaction: values to a topic, and an offset of a group with them."""

    bootstrap: str
    transactional_id: str
    topic: str
    values: Sequence[str]
    input: str
    """The topic whose offset is committed with them."""
    group: str
    offset: int
    seconds: float
    """How long the client tries."""


@dataclass(frozen=True, kw_only=True)
class ClientResult:
    """The result that a client prints at its end."""

    committed: bool
    at: int
    aborted: int = 0
    """Transactions that it had to abort and begin again."""
    again: int = 0
    """Calls that it had to make again."""
    error: str | None = None

    def describe(self) -> str:
        if not self.committed:
            return f"failed: {self.error}"
        if self.aborted:
            return "aborted, then committed"
        return "committed, called again" if self.again else "committed"


@dataclass(frozen=True, kw_only=True)
class Client:
    """One kind of client."""

    name: str
    sends: Sequence[str]
    """What it sends of the commit path."""
    command: Sequence[str | Path]

    @property
    def never_sends(self) -> list[str]:
        """The rest of the commit path, which it does without."""
        return [message for message in MESSAGES if message not in self.sends]

    def start(self, processes: Processes, task: Task) -> Process:
        process = processes.start("exact-client", self.command, pipes=True)
        assert process.popen.stdin is not None
        process.popen.stdin.write(json.dumps(asdict(task)).encode() + b"\n")
        process.popen.stdin.close()
        return process


def read_result(process: Process) -> ClientResult | None:
    """The result of a client that has ended; None if it printed none."""
    assert process.popen.stdout is not None
    output = process.popen.stdout.read()
    return ClientResult(**json.loads(output)) if output else None


def librdkafka(_: StageTools) -> Client:
    """By confluent-kafka; it sends all of the commit path to any cluster."""
    return Client(
        name="librdkafka",
        sends=MESSAGES,
        command=tuple(python_module("onceproof.harness.message_faults.librdkafka")),
    )


def java(tools: StageTools) -> Client:
    """Kafka's own client on transaction version 2, of Kafka's 4.0 and later.

    There the brokers add a partition, or a group, when the first write to it arrives.

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
"""How each client is made, by its name."""
