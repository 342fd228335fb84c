"""The interface of queue brokers, and what a run needs of one, as plain data.

To add a queue broker, add a package beside `artemis/` and name it in `stage/queue_brokers.py`.
"""

from __future__ import annotations

import signal
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final, Protocol

from onceproof.harness.links.topology import QUEUE_BROKER
from onceproof.harness.processes.processes import Process
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.queues.auditor import QueueAuditor
from onceproof.harness.tools.setup import Tools
from onceproof.harness.wait import Stop, wait_until

_SECONDS: Final = 60.0


class QueueSettings(Protocol):
    """Settings of a queue broker that a claim depends on."""

    product: ClassVar[str]
    one_listener: ClassVar[bool]
    """Whether all audiences connect to the same `host:port`, and are told apart by their names."""

    @property
    def lacks(self) -> tuple[str, ...]:
        """Words for what a broken twin does not have."""

    def as_configured(self) -> dict[str, str]:
        """Return the settings, by the product's names; the report prints them."""

    def as_json(self) -> dict[str, object]:
        """Return the settings by their names here."""

    def source(self, address: str) -> str:
        """Return what the pipeline consumes of an address, by the product's name."""


@dataclass(frozen=True, kw_only=True)
class Queues:
    """Specification of a queue broker.

    Attributes:
        addresses: addresses with a queue to consume, whose messages are also kept.
        unconsumed: addresses whose messages are only kept.
        plain: queues whose messages are not kept.
        tools: of the run; they fetch what the broker needs.
    """

    addresses: tuple[str, ...] = ()
    unconsumed: tuple[str, ...] = ()
    plain: tuple[str, ...] = ()
    settings: QueueSettings
    tools: Tools


class LocalQueueBroker(Protocol):
    """A queue broker as local processes."""

    asks: signal.Signals
    """The signal that asks it to end."""
    process: Process | None
    wanted: Queues
    auditor: QueueAuditor

    def create(self, stop: Stop) -> None:
        """Get its programs, start it, wait until it runs, and create the queues.

        Raises:
            SetupError: something that it needs is not available.
        """

    def start(self) -> None: ...

    def wait_listening(self, stop: Stop) -> None: ...

    def wait_started(self, stop: Stop) -> None: ...

    def versions(self) -> Mapping[str, str]: ...


def started(process: Process, ready: bytes, stop: Stop) -> None:
    """Wait until the log of a queue broker says that it is ready.

    Raises:
        StageTrouble: it ended.
    """

    def up() -> bool:
        if not process.leader_alive():
            raise StageTrouble(
                f"{QUEUE_BROKER} ended while starting; last log lines: {process.tail()}"
            )
        return ready in process.log.read_bytes()

    wait_until(up, what=f"{QUEUE_BROKER} to start", seconds=_SECONDS, stop=stop, seen=process.tail)
