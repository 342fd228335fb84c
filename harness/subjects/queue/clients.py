"""Clients of forwarders: what each can promise, which broker it needs, and how it is started.

To add one, add its program to this folder and an entry here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, Literal

from onceproof.harness.artemis.configuration import Artemis
from onceproof.harness.artemis.programs import artemis_programs
from onceproof.harness.nats.configuration import JetStream
from onceproof.harness.nats.server import PACKAGES as NATS
from onceproof.harness.processes.with_packages import with_packages
from onceproof.harness.queues.base import QueueSettings
from onceproof.harness.subjects.queue.task import Acknowledge
from onceproof.harness.subjects.tasks import Program
from onceproof.harness.tools.proton import proton
from onceproof.harness.tools.setup import Tools
from onceproof.harness.valkey.configuration import Streams
from onceproof.harness.valkey.server import PACKAGES as VALKEY

Client = Literal["jms", "amqp", "jetstream", "valkey"]
_MODULES: Final = "onceproof.harness.subjects.queue"


@dataclass(frozen=True, kw_only=True)
class ForwarderClient:
    """A client library.

    Attributes:
        broker: returns the usual settings of its queue broker, by the way to acknowledge.
        program: the forwarder's source file; the report names it.
        says: what a forwarder is, by the ways to acknowledge that it has.
        with_ids: what duplicate ids are with this client.
        start: returns what starts a forwarder; raises `SetupError` if it cannot be had.
    """

    broker: Callable[[Acknowledge], QueueSettings]
    program: str
    says: Mapping[Acknowledge, str]
    with_ids: str
    start: Callable[[Tools], Program]


def _jms(tools: Tools) -> Program:
    return partial(artemis_programs(tools).command, "Forwarder")


def _packaged(module: str, folder: Callable[[], Path | None]) -> Callable[[Tools], Program]:
    def start(tools: Tools) -> Program:
        packages = folder()

        def command(task: Path) -> Sequence[str | Path]:
            return with_packages(packages, f"{_MODULES}.{module}", task)

        return command

    return start


_BROKER_DROPS: Final = (
    "Each effect carries its message's id as duplicate id, by which the broker drops duplicates."
)
CLIENTS: Final[Mapping[Client, ForwarderClient]] = {
    "jms": ForwarderClient(
        broker=lambda _: Artemis(),
        program="harness/artemis/Forwarder.java",
        says={
            "transacted": (
                "JMS forwarders with a transacted session: a message is consumed and its effect "
                "sent in one transaction."
            ),
            "auto": (
                "JMS forwarders with AUTO_ACKNOWLEDGE: a message is consumed when it is "
                "delivered, before its effect is sent: at-most-once only."
            ),
            "client": (
                "JMS forwarders with CLIENT_ACKNOWLEDGE: a message is acknowledged after its "
                "effect is sent: at-least-once only."
            ),
        },
        with_ids=_BROKER_DROPS,
        start=_jms,
    ),
    "amqp": ForwarderClient(
        broker=lambda _: Artemis(),
        program="harness/subjects/queue/amqp_forwarder.py",
        says={
            "transacted": (
                "AMQP 1.0 forwarders that accept a message and send its effect in one transaction."
            ),
            "client": (
                "AMQP 1.0 forwarders that accept a message after the broker has accepted its "
                "effect: at-least-once only."
            ),
        },
        with_ids=_BROKER_DROPS,
        start=_packaged("amqp_forwarder", proton),
    ),
    "jetstream": ForwarderClient(
        broker=lambda acknowledge: JetStream(acknowledged=acknowledge != "auto"),
        program="harness/subjects/queue/jetstream_forwarder.py",
        says={
            "auto": (
                "JetStream forwarders with ack policy none: a message is consumed when it is "
                "delivered, before its effect is published: at-most-once only."
            ),
            "client": (
                "JetStream forwarders that acknowledge a message after the stream has "
                "acknowledged its effect, and wait for the confirmation (double ack): "
                "at-least-once only."
            ),
        },
        with_ids=(
            "Each effect carries its message's sequence number as `Nats-Msg-Id`, by which the "
            "stream drops duplicates in its window."
        ),
        start=_packaged("jetstream_forwarder", NATS.installed),
    ),
    "valkey": ForwarderClient(
        broker=lambda _: Streams(),
        program="harness/subjects/queue/valkey_forwarder.py",
        says={
            "scripted": (
                "Forwarders by Valkey's streams whose script acknowledges an entry, and adds its "
                "effect only if the entry was still pending."
            ),
            "transacted": (
                "Forwarders by Valkey's streams that add an effect and acknowledge its entry in "
                "one MULTI, which does not check whether the entry is still pending."
            ),
            "auto": (
                "Forwarders by Valkey's streams with NOACK: an entry is consumed when it is "
                "delivered, before its effect is added: at-most-once only."
            ),
            "client": (
                "Forwarders by Valkey's streams that acknowledge an entry after its effect is "
                "added: at-least-once only."
            ),
        },
        with_ids=(
            "Each record is marked with SET NX before its effect is added; a marked record is "
            "taken for one that has its effect."
        ),
        start=_packaged("valkey_forwarder", VALKEY.installed),
    ),
}
