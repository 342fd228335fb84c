"""A stage for tests: put together as a run does it, and looked at with means of our own."""

from __future__ import annotations

import contextlib
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
"""Far more than anything here takes: a limit, never a measurement."""


@contextlib.contextmanager
def flowing(send: Callable[[], object]) -> Iterator[None]:
    """`send` is called again and again for as long as the block lasts."""
    over = threading.Event()

    def go_on() -> None:
        while not over.wait(0.05):
            send()

    sender = threading.Thread(target=go_on)
    sender.start()
    try:
        yield
    finally:
        over.set()
        sender.join()


@dataclass(frozen=True, kw_only=True)
class Staged:
    """A stage that is up, and what belongs to it."""

    stage: LocalStage
    processes: Processes
    block: Block
    folder: Path

    @property
    def logs(self) -> Path:
        return self.processes.logs

    still = "its process is in state T"
    """What the stage sees of a broker that stands still."""

    def instance(self, node: str) -> str:
        """The newest life of a node."""
        return self._newest(node).instance

    def ended(self, instance: str) -> str | None:
        """How a life ended; None while it lasts."""
        return next(p.how for p in self.processes.all if p.instance == instance)

    def stands_still(self, node: str) -> bool:
        """Whether the kernel says of every thread of a node that it is stopped."""
        states = set()
        for stat in Path(f"/proc/{self._newest(node).session}/task").glob("*/stat"):
            with contextlib.suppress(OSError):  # a thread that ends while we look
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
    """Start a stage; whatever happens to this process, nothing of it stays behind."""
    with alone(folder, tools) as up:
        yield Staged(stage=up.stage, processes=up.processes, block=up.block, folder=folder)


def read_ended(staging: Staged, *topics: str) -> list[PartitionLog]:
    """Their logs, once no transaction is under way: an EndTxn is answered before its markers are
    written.
    """
    with open_reader(staging.stage, ClusterView(addresses(staging.stage))) as reader:

        def ends() -> list[tuple[int, int]]:
            return [at for topic in topics for at in reader.ends(topic).values()]

        eventually(
            lambda: all(stable == end for stable, end in ends()), "transactions to be over", ends
        )
        return [log for topic in topics for log in reader.read_topic(topic)]


def eventually(look: Callable[[], T | None], what: str, seen: object = None) -> T:
    described = seen if callable(seen) or seen is None else lambda: seen
    return wait_until(look, what=what, seconds=SECONDS, every=0.1, seen=described)


# Processes, as the kernel tells of them.


def marked(marker: str) -> dict[int, str]:
    """Process id → name of every process that carries a run's marker."""
    found = {}
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARKER) == marker:
                found[process.pid] = process.name()
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return found


def shared_memory(pids: set[int]) -> set[str]:
    """System V segments that some processes made, and files in /dev/shm that they have open."""
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
    """Every (address, port) in a block that somebody listens on."""
    prefix = f"127.{block.number}."
    return {
        (plain(c.laddr.ip), c.laddr.port)
        for c in psutil.net_connections("tcp")
        if c.status == psutil.CONN_LISTEN and plain(c.laddr.ip).startswith(prefix)
    }


def plain(address: str) -> str:
    """An IPv4 address as such, also where a JVM has it in IPv6's clothes."""
    return address.removeprefix("::ffff:")


# A Kafka client of a few lines, so that it is known over which connection it speaks.


class Talk:
    """One TCP connection to a broker that can ask for ApiVersions."""

    def __init__(self, address: str) -> None:
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), 5)

    def ask(self) -> None:
        """Send a request (API 18, version 0, correlation 7, no client id)."""
        self.socket.sendall(struct.pack(">ihhih", 10, 18, 0, 7, -1))

    def answered(self, seconds: float = SECONDS) -> bool:
        """Whether an answer with our correlation id comes; False also if the connection ends."""
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
        """Ask, and whether the answer comes."""
        self.ask()
        return self.answered()

    def closed(self, seconds: float = SECONDS) -> bool:
        """Whether the other side ends the connection, without a byte."""
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
    """Whether a broker answers there."""
    try:
        with Talk(address) as talk:
            talk.ask()
            return talk.answered()
    except OSError:
        return False


def refuses(address: str) -> bool:
    """Whether a connection is refused there."""
    try:
        Talk(address).socket.close()
    except ConnectionRefusedError:
        return True
    return False


# The cluster, as one broker tells of it. A client library would ask whichever broker it likes.


@dataclass(frozen=True)
class Told:
    """One partition as one broker tells of it."""

    leader: int
    in_sync: frozenset[int]
    replicas: frozenset[int]

    @property
    def whole(self) -> bool:
        return self.leader in self.in_sync and self.in_sync == self.replicas


@dataclass(frozen=True)
class Metadata:
    """What one broker tells: node id → address, topic → partition → state."""

    brokers: dict[int, str]
    topics: dict[str, dict[int, Told]]


class Decoder:
    """Kafka's plain encoding, read from the front."""

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
    """What the very broker behind `address` tells (Metadata, version 1)."""
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

    def partition() -> tuple[int, Told]:
        data.take("h")
        number, leader, replicas, in_sync = (
            data.take("i"), data.take("i"), data.numbers(), data.numbers()
        )  # fmt: skip
        return number, Told(leader, in_sync, replicas)

    def topic() -> tuple[str, dict[int, Told]]:
        data.take("h")
        name = data.text()
        data.take("b")
        return name, dict(data.many(partition))

    brokers = dict(data.many(broker))
    data.take("i")
    return Metadata(brokers, dict(data.many(topic)))


def told_by(stage: Stage, node: str, topic: str) -> dict[int, Told]:
    """Partition → what this very broker says of it, asked directly; empty if it knows nothing."""
    return metadata(stage.bootstrap(AUDITOR, node)).topics.get(topic, {})


def whole_everywhere(stage: Stage, topic: str) -> bool:
    """Whether every broker says that every replica of a topic is in sync."""
    told = [told_by(stage, node, topic) for node in stage.brokers]
    return all(told) and all(state.whole for each in told for state in each.values())


def peers(stage: Stage, node: str) -> list[Link]:
    """The links between a broker and the others, both ways."""
    others = [other for other in stage.brokers if other != node]
    return [Link(a, b) for other in others for a, b in ((node, other), (other, node))]


def stands_there(send: dict[str, Any], entry: Entry) -> bool:
    """Whether an acknowledged send stands where its acknowledgement says.

    A broker that gets a batch of an idempotent producer again, because its answer came too late,
    says that it has the batch and not where: the offset is None then.
    """
    place = (send["topic"], send["partition"])
    return place == (entry.topic, entry.partition) and send["offset"] in (None, entry.offset)


def once_each(rules: list[Placed]) -> None:
    """Some rule acted, and none twice: on two links, if the broker in charge changed meanwhile."""
    assert {len(rule.fired) for rule in rules} in ({1}, {0, 1})
