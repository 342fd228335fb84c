"""All queue brokers, and the only module that knows all of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from onceproof.harness.artemis.broker import LocalArtemis
from onceproof.harness.artemis.configuration import Artemis
from onceproof.harness.links.topology import QUEUE_BROKER, Topology
from onceproof.harness.nats.server import SERVER as NATS
from onceproof.harness.processes.processes import Processes
from onceproof.harness.queues.base import LocalQueueBroker, Queues
from onceproof.harness.queues.packaged import LocalServer, Server
from onceproof.harness.valkey.server import SERVER as VALKEY

_SERVERS: Final[dict[str, Server[Any]]] = {"nats": NATS, "valkey": VALKEY}
"""Product → its server, of those that come as Python packages."""


def local_queue_broker(
    wanted: Queues, *, topology: Topology, processes: Processes, work: Path
) -> LocalQueueBroker:
    """Return the queue broker of a run, not yet started; `work` is for its files."""
    folder = work / QUEUE_BROKER
    if isinstance(wanted.settings, Artemis):
        return LocalArtemis(
            wanted, wanted.settings, topology=topology, processes=processes, folder=folder
        )
    server = _SERVERS[wanted.settings.product]
    return LocalServer(server, wanted, topology=topology, processes=processes, folder=folder)
