"""Write `broker.xml`, the configuration of the queue broker.

A queue does not keep consumed messages, but a history needs a log. So each message to an address
goes to two queues: one that the pipeline consumes, and an audit queue without consumers, which the
auditor reads at the end of the run. An address to which a user's pipeline only sends has the audit
queue alone. A message in a transaction or with a duplicate-detection id goes to both queues or
none; any other may be in only one of them if the broker is killed while taking it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import ClassVar, Final
from xml.etree import ElementTree as Xml

from onceproof.harness.queues.auditor import NOWHERE, audited

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
    # After this time, messages of a consumer that is gone or paused are redelivered to others.
    "connection-ttl-override": "4000",
    "connection-ttl-check-interval": "500",
    "transaction-timeout": "20000",
    "transaction-timeout-scan-period": "500",
    "graceful-shutdown-enabled": "false",
    "critical-analyzer": "false",
    # By default Artemis blocks senders when the disk is nearly full.
    "max-disk-usage": "-1",
}
_ACCEPTOR: Final = ";".join(
    [
        "protocols=CORE,AMQP",  # JMS uses CORE
        "amqpDuplicateDetection=true",
        "saslMechanisms=ANONYMOUS,PLAIN",
        "amqpIdleTimeout=4000",
    ]
)
_ADDRESSES: Final = {
    # By default a message goes to a dead letter queue after ten attempts, which looks like loss.
    # NOWHERE stays empty, because delivery is never given up.
    "max-delivery-attempts": "-1",
    "dead-letter-address": NOWHERE,
    "expiry-address": NOWHERE,
    # Expired messages would be missing from the audit queue.
    "no-expiry": "true",
    "redelivery-delay": "0",
    "auto-create-queues": "false",
    "auto-create-addresses": "false",
    "auto-delete-queues": "false",
    "auto-delete-addresses": "false",
}


@dataclass(frozen=True, kw_only=True)
class Artemis:
    """Settings of ActiveMQ Artemis that a claim depends on.

    Attributes:
        id_cache_size: number of duplicate-detection ids that an address remembers.
        persist_id_cache: whether the ids survive a restart of the broker.
    """

    product: ClassVar[str] = "artemis"
    one_listener: ClassVar[bool] = False

    id_cache_size: int = 20_000
    persist_id_cache: bool = True

    @property
    def lacks(self) -> tuple[str, ...]:
        narrow = self.id_cache_size < Artemis.id_cache_size
        return ("forgetful",) * (not self.persist_id_cache) + ("narrow",) * narrow

    def as_configured(self) -> dict[str, str]:
        return {
            **_DEFAULTS,
            "id-cache-size": str(self.id_cache_size),
            "persist-id-cache": str(self.persist_id_cache).lower(),
        }

    def as_json(self) -> dict[str, object]:
        return asdict(self)

    def source(self, address: str) -> str:
        """Return the fully qualified name of the queue that the pipeline consumes."""
        return f"{address}::{address}"


def broker_xml(
    settings: Artemis,
    *,
    folder: Path,
    listen: Mapping[str, str],
    addresses: Iterable[str],
    unconsumed: Iterable[str] = (),
    plain: Iterable[str] = (),
) -> str:
    """Return the content of the file.

    Args:
        folder: the broker's data folder.
        listen: audience → `host:port`.
        addresses: addresses to create with multicast routing, which permits two queues.
        unconsumed: addresses to create with anycast routing and an audit queue only.
        plain: queues without an audit queue.
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
        # JMS finds a queue only under the name of its address. Consumers are rejected, because
        # messages that they take would look lost.
        Xml.SubElement(routed, "queue", {"name": address, "max-consumers": "0"})
    for address in plain:
        routed = Xml.SubElement(Xml.SubElement(there, "address", name=address), "anycast")
        Xml.SubElement(routed, "queue", name=address)
    Xml.indent(root)
    return Xml.tostring(root, encoding="unicode") + "\n"


def _text(parent: Xml.Element, tag: str, text: str, **attributes: str) -> None:
    Xml.SubElement(parent, tag, attributes).text = text
