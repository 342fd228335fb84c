"""A stage as a run assembles it, and probes of it that bypass the product code."""

from __future__ import annotations

import contextlib
import json
import select
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import psutil

from onceproof.harness.context.run_context import addresses, open_reader
from onceproof.harness.kafka.log_reader import Entry, PartitionLog
from onceproof.harness.kafka.metadata import ClusterView
from onceproof.harness.links.blocks import Block
from onceproof.harness.links.gate.client import Placed
from onceproof.harness.links.topology import AUDITOR, Link
from onceproof.harness.processes.processes import MARKER, Process, Processes
from onceproof.harness.stage.alone import alone
from onceproof.harness.stage.base import Stage
from onceproof.harness.stage.local import LocalStage
from onceproof.harness.tools.setup import StageTools
from onceproof.harness.wait import wait_until

T = TypeVar("T")

SECONDS = 60.0
"""Timeout, far longer than any operation here takes."""


@contextlib.contextmanager
def flowing(send: Callable[[], object]) -> Iterator[None]:
    """Call `send` repeatedly on a thread for the duration of the block."""
    over = threading.Event()

    def repeat() -> None:
        while not over.wait(0.05):
            send()

    sender = threading.Thread(target=repeat)
    sender.start()
    try:
        yield
    finally:
        over.set()
        sender.join()


@dataclass(frozen=True, kw_only=True)
class Staged:
    """A running stage with its processes, addresses and folder."""

    stage: LocalStage
    processes: Processes
    block: Block
    folder: Path

    @property
    def logs(self) -> Path:
        return self.processes.logs

    still = "its process is in state T"
    """What the stage reports of a paused broker."""

    def instance(self, node: str) -> str:
        """The newest instance of a node."""
        return self._newest(node).instance

    def ended(self, instance: str) -> str | None:
        """How an instance ended; None while it runs."""
        return next(p.how for p in self.processes.all if p.instance == instance)

    def stands_still(self, node: str) -> bool:
        """Whether every thread of a node is stopped, according to the kernel."""
        states = set()
        for stat in Path(f"/proc/{self._newest(node).session}/task").glob("*/stat"):
            with contextlib.suppress(OSError):  # a thread may end meanwhile
                states.add(stat.read_text().rpartition(") ")[2].split()[0])
        return states == {"T"}

    def _newest(self, node: str) -> Process:
        return next(p for p in reversed(self.processes.all) if p.name == node)

    @property
    def living(self) -> list[Process]:
        """The processes that have not ended."""
        return [p for p in self.processes.all if p.ended_at is None]


@contextlib.contextmanager
def staged(folder: Path, tools: StageTools) -> Iterator[Staged]:
    """Run a stage for the duration of the block."""
    with alone(folder, tools) as up:
        yield Staged(stage=up.stage, processes=up.processes, block=up.block, folder=folder)


def read_settled(staging: Staged, *topics: str) -> list[PartitionLog]:
    """Read the logs of topics once no transaction is open.

    A broker answers EndTxn before it writes the markers.
    """
    with open_reader(staging.stage, ClusterView(addresses(staging.stage))) as reader:

        def ends() -> list[tuple[int, int]]:
            return [end_offsets for topic in topics for end_offsets in reader.ends(topic).values()]

        eventually(
            lambda: all(stable == end for stable, end in ends()), "transactions to be over", ends
        )
        return [log for topic in topics for log in reader.read_topic(topic)]


def eventually(look: Callable[[], T | None], what: str, seen: object = None) -> T:
    described = seen if callable(seen) or seen is None else lambda: seen
    return wait_until(look, what=what, seconds=SECONDS, every=0.1, seen=described)


# Processes, according to the kernel.


def marked_processes(marker: str) -> dict[int, str]:
    """Process id → name of every process with a run's marker."""
    found = {}
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARKER) == marker:
                found[process.pid] = process.name()
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return found


def shared_memory(pids: set[int]) -> set[str]:
    """System V segments created by processes, and files in /dev/shm that they map."""
    segments = set()
    for line in Path("/proc/sysvipc/shm").read_text().splitlines()[1:]:
        _, identity, _, _, creator, *_ = line.split()
        if int(creator) in pids:
            segments.add(f"segment {identity}")
    for pid in pids:
        try:
            maps = Path(f"/proc/{pid}/maps").read_text()
        except OSError:
            continue
        segments |= {line.split()[5] for line in maps.splitlines() if " /dev/shm/" in line}
    return segments


def listeners(block: Block) -> set[tuple[str, int]]:
    """Every (address, port) in a block with a listening socket."""
    prefix = f"127.{block.number}."
    return {
        (unmapped(c.laddr.ip), c.laddr.port)
        for c in psutil.net_connections("tcp")
        if c.status == psutil.CONN_LISTEN and unmapped(c.laddr.ip).startswith(prefix)
    }


def unmapped(address: str) -> str:
    """An address without the IPv4-mapped prefix that JVM sockets have."""
    return address.removeprefix("::ffff:")


# A minimal Kafka client: unlike a library's, its connection is known.


class Talk:
    """One TCP connection to a broker that can send ApiVersions requests."""

    def __init__(self, address: str) -> None:
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), 5)

    def ask(self) -> None:
        """Send an ApiVersions request (API 18, version 0, correlation 7, no client id)."""
        self.socket.sendall(struct.pack(">ihhih", 10, 18, 0, 7, -1))

    def answered(self, seconds: float = SECONDS) -> bool:
        """Whether a response with our correlation id arrives; False if the connection ends."""
        if not select.select([self.socket], [], [], seconds)[0]:
            return False
        try:
            head = self.socket.recv(4, socket.MSG_WAITALL)
            if len(head) < 4:
                return False
            (size,) = struct.unpack(">i", head)
            body = self.socket.recv(size, socket.MSG_WAITALL)
        except ConnectionError:
            return False
        return len(body) == size and struct.unpack_from(">i", body) == (7,)

    def asked(self) -> bool:
        """Send a request; whether its response arrives."""
        self.ask()
        return self.answered()

    def closed(self, seconds: float = SECONDS) -> bool:
        """Whether the other side closes the connection without sending a byte."""
        if not select.select([self.socket], [], [], seconds)[0]:
            return False
        try:
            return self.socket.recv(1) == b""
        except ConnectionError:
            return True

    def __enter__(self) -> Talk:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()


def serves(address: str) -> bool:
    """Whether a broker answers at `address`."""
    try:
        with Talk(address) as talk:
            talk.ask()
            return talk.answered()
    except OSError:
        return False


def refuses(address: str) -> bool:
    """Whether a connection to `address` is refused."""
    try:
        Talk(address).socket.close()
    except ConnectionRefusedError:
        return True
    return False


# Metadata of one specific broker. A client library chooses the broker that it asks.


@dataclass(frozen=True)
class TopicPartitionState:
    """One partition in the metadata of one broker."""

    leader: int
    in_sync: frozenset[int]
    replicas: frozenset[int]

    @property
    def whole(self) -> bool:
        return self.leader in self.in_sync and self.in_sync == self.replicas


@dataclass(frozen=True)
class Metadata:
    """Metadata of one broker: node id → address, topic → partition → state."""

    brokers: dict[int, str]
    topics: dict[str, dict[int, TopicPartitionState]]


class Decoder:
    """Decoder of Kafka's non-flexible encoding."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def take(self, form: str) -> int:
        (value,) = struct.unpack_from(f">{form}", self.data)
        self.data = self.data[struct.calcsize(form) :]
        return int(value)

    def text(self) -> str:
        size = max(self.take("h"), 0)
        value, self.data = self.data[:size], self.data[size:]
        return value.decode()

    def many(self, read: Callable[[], T]) -> list[T]:
        return [read() for _ in range(self.take("i"))]

    def numbers(self) -> frozenset[int]:
        return frozenset(self.many(lambda: self.take("i")))


def metadata(address: str) -> Metadata:
    """Metadata (version 1) of the broker at `address`."""
    with Talk(address) as talk:
        talk.socket.settimeout(10)
        talk.socket.sendall(struct.pack(">ihhihi", 14, 3, 1, 7, -1, -1))
        size, correlation = struct.unpack(">ii", talk.socket.recv(8, socket.MSG_WAITALL))
        assert correlation == 7
        data = Decoder(talk.socket.recv(size - 4, socket.MSG_WAITALL))

    def broker() -> tuple[int, str]:
        node, host, port = data.take("i"), data.text(), data.take("i")
        data.text()  # rack
        return node, f"{host}:{port}"

    def partition() -> tuple[int, TopicPartitionState]:
        data.take("h")
        number, leader, replicas, in_sync = (
            data.take("i"), data.take("i"), data.numbers(), data.numbers()
        )  # fmt: skip
        return number, TopicPartitionState(leader, in_sync, replicas)

    def topic() -> tuple[str, dict[int, TopicPartitionState]]:
        data.take("h")
        name = data.text()
        data.take("b")
        return name, dict(data.many(partition))

    brokers = dict(data.many(broker))
    data.take("i")
    return Metadata(brokers, dict(data.many(topic)))


def told_by(stage: Stage, node: str, topic: str) -> dict[int, TopicPartitionState]:
    """Partition → state in the metadata of `node`; empty if it does not know the topic."""
    return metadata(stage.bootstrap(AUDITOR, node)).topics.get(topic, {})


def whole_everywhere(stage: Stage, topic: str) -> bool:
    """Whether every replica of a topic is in sync in the metadata of every broker."""
    metadata_by_broker = [told_by(stage, node, topic) for node in stage.brokers]
    return all(metadata_by_broker) and all(
        state.whole for partitions in metadata_by_broker for state in partitions.values()
    )


def peers(stage: Stage, node: str) -> list[Link]:
    """The links between a broker and the others, in both directions."""
    others = [other for other in stage.brokers if other != node]
    return [Link(a, b) for other in others for a, b in ((node, other), (other, node))]


def send_matches(send: dict[str, Any], entry: Entry) -> bool:
    """Whether an entry is at the partition and offset that an acknowledged send reports.

    The offset is None if a broker recognized a retried batch of an idempotent producer: that
    response contains no offset.
    """
    place = (send["topic"], send["partition"])
    return place == (entry.topic, entry.partition) and send["offset"] in (None, entry.offset)


def none_fired_twice(rules: list[Placed]) -> None:
    """Assert that a rule fired, and none twice; two rules may, if the broker in charge changed."""
    assert {len(rule.fired) for rule in rules} in ({1}, {0, 1})


def status_at_end(sender: Process) -> dict[str, Any]:
    """Let a sender send as fast as it can, and return its last status when it has ended."""
    assert sender.popen.stdin is not None
    assert sender.popen.stdout is not None
    sender.popen.stdin.write(b"rate inf\n")
    sender.popen.stdin.flush()
    status: dict[str, Any] = [json.loads(line) for line in sender.popen.stdout][-1]
    return status
