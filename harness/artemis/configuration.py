"""How the queue broker of a run is configured: `broker.xml`.

A queue forgets what was consumed, and a history needs a log. So every
address has two queues, and each message that is sent to it comes into both: one that the pipeline
consumes, and one that nobody does, which our own reader looks through when all is over. An address
that a pipeline of somebody's own only sends to has the second one alone. What is sent in a
transaction or with an identity comes into both or into none; without either, a broker that is
killed at that very moment may have it in one only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from xml.etree import ElementTree as Xml

_AUDIT: Final = ".audit"
NOWHERE: Final = "undelivered"
"""Where Artemis would put what it gives up; we tell it to give nothing up."""
_DEFAULTS: Final = {
    "persistence-enabled": "true",
    "security-enabled": "false",
    "journal-type": "NIO",
    "journal-sync-transactional": "true",
    "journal-sync-non-transactional": "true",
    "journal-buffer-timeout": "0",
    "journal-file-size": "2M",
    "journal-min-files": "2",
    "journal-pool-files": "4",
    "message-counter-enabled": "false",
    # A consumer that is gone or paused is given up after so long, and its messages go to others.
    "connection-ttl-override": "4000",
    "connection-ttl-check-interval": "500",
    "transaction-timeout": "20000",
    "transaction-timeout-scan-period": "500",
    "graceful-shutdown-enabled": "false",
    "critical-analyzer": "false",
    # It would hold senders back on a disk that others have filled.
    "max-disk-usage": "-1",
}
_ACCEPTOR: Final = ";".join(
    [
        "protocols=CORE,AMQP",  # JMS goes by the first
        "amqpDuplicateDetection=true",
        "saslMechanisms=ANONYMOUS,PLAIN",
        "amqpIdleTimeout=4000",
    ]
)
_ADDRESSES: Final = {
    # By default a message goes to a dead letter queue at its tenth attempt, which looks like loss.
    "max-delivery-attempts": "-1",
    "dead-letter-address": NOWHERE,
    "expiry-address": NOWHERE,
    # What is to expire would leave the log of what was sent.
    "no-expiry": "true",
    "redelivery-delay": "0",
    "auto-create-queues": "false",
    "auto-create-addresses": "false",
    "auto-delete-queues": "false",
    "auto-delete-addresses": "false",
}


@dataclass(frozen=True, kw_only=True)
class QueueSettings:
    """What of a queue broker a claim depends on.

    Attributes:
        id_cache_size: how many identities of messages an address remembers.
        persist_id_cache: whether they outlive the broker's life.
    """

    id_cache_size: int = 20_000
    persist_id_cache: bool = True

    def as_configured(self) -> dict[str, str]:
        return {
            **_DEFAULTS,
            "id-cache-size": str(self.id_cache_size),
            "persist-id-cache": str(self.persist_id_cache).lower(),
        }


def consumed(address: str) -> str:
    """The queue of an address that is there to be consumed, by its fully qualified name."""
    return f"{address}::{address}"


def audited(address: str) -> str:
    """The queue of an address that nobody consumes."""
    return f"{address}{_AUDIT}"


def broker_xml(
    settings: QueueSettings,
    *,
    folder: Path,
    listen: Mapping[str, str],
    addresses: Iterable[str],
    unconsumed: Iterable[str] = (),
) -> str:
    """The whole file.

    Args:
        folder: for everything that it keeps.
        listen: `host:port` for each audience.
        addresses: to be there from the start, each for topics (multicast), which is what lets it
            have two queues.
        unconsumed: likewise, each a queue (anycast) that nobody consumes.
    """
    root = Xml.Element("configuration", {"xmlns": "urn:activemq"})
    core = Xml.SubElement(root, "core", {"xmlns": "urn:activemq:core"})
    _text(core, "name", "artemis")
    for name in ("paging", "bindings", "journal", "large-messages"):
        _text(core, f"{name}-directory", str(folder / name))
    for name, value in settings.as_configured().items():
        _text(core, name, value)
    acceptors = Xml.SubElement(core, "acceptors")
    for audience, where in listen.items():
        _text(acceptors, "acceptor", f"tcp://{where}?{_ACCEPTOR}", name=audience)
    matching = Xml.SubElement(Xml.SubElement(core, "address-settings"), "address-setting")
    matching.set("match", "#")
    for name, value in _ADDRESSES.items():
        _text(matching, name, value)
    there = Xml.SubElement(core, "addresses")
    nowhere = Xml.SubElement(Xml.SubElement(there, "address", name=NOWHERE), "anycast")
    Xml.SubElement(nowhere, "queue", name=NOWHERE)
    for address in addresses:
        routed = Xml.SubElement(Xml.SubElement(there, "address", name=address), "multicast")
        for queue in (address, audited(address)):
            Xml.SubElement(routed, "queue", name=queue)
    for address in unconsumed:
        routed = Xml.SubElement(Xml.SubElement(there, "address", name=address), "anycast")
        # By JMS a queue has the name of its address, or is not found. Whoever would consume it is
        # told that they must not: what they took would look lost.
        Xml.SubElement(routed, "queue", {"name": address, "max-consumers": "0"})
    Xml.indent(root)
    return Xml.tostring(root, encoding="unicode") + "\n"


def _text(parent: Xml.Element, tag: str, text: str, **attributes: str) -> None:
    Xml.SubElement(parent, tag, attributes).text = text
