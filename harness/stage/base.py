"""What a stage offers: the one interface between everything above and a backend.

Nothing above this file knows how a node is run. It names nodes
(`broker-1`, `postgres`), links (`producer→broker-2`) and audiences, and gets addresses to hand to
clients; no process id, path or container id comes out.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

from onceproof.harness.artemis.auditor import QueueAuditor
from onceproof.harness.http_service.control import HttpControl
from onceproof.harness.links.disturbances import Disturbance, Hold
from onceproof.harness.links.gate.client import Placed
from onceproof.harness.links.gate.rules import Rule
from onceproof.harness.links.topology import Link
from onceproof.harness.processes.trouble import StageTrouble

SHUT_DOWN_SECONDS = 30.0
"""How long a broker may take to end when it is asked to."""


_NO_QUEUES = "queues are only on the local backend"
_NO_HTTP_SERVICE = "an HTTP service is only on the local backend"


class WithoutQueues:
    """A stage on which there is no queue broker."""

    def queue_broker(self, audience: str) -> str:
        raise StageTrouble(_NO_QUEUES)

    def queues(self) -> QueueAuditor:
        raise StageTrouble(_NO_QUEUES)


class WithoutHttpService:
    """A stage on which there is no HTTP service."""

    @property
    def http_address(self) -> str:
        raise StageTrouble(_NO_HTTP_SERVICE)

    def http_service(self) -> HttpControl:
        raise StageTrouble(_NO_HTTP_SERVICE)


class GatedLink(Protocol):
    """A link whose requests and responses can be acted on, one by one."""

    def put(self, rule: Rule) -> Placed:
        """Let a rule act from now on."""

    def state(self) -> dict[str, Any]:
        """Counters, connections, live rules, frames that are held."""


class Stage(Protocol):
    """Brokers, proxies and databases of one run."""

    backend: str

    def start(self) -> None:
        """Start everything and see that it is healthy."""

    def stop(self) -> None:
        """End everything, remove what it kept; never raises for what is gone already."""

    def created(self, topics: list[str]) -> None:
        """Called with the topics that were made, for a stage that outlives the run."""

    @property
    def scratch(self) -> tuple[Path, ...]:
        """Folders outside the run folder that must not stay behind."""

    @property
    def brokers(self) -> tuple[str, ...]:
        """Names of the brokers; `broker-<n>` has node id n."""

    @property
    def nodes(self) -> tuple[str, ...]:
        """Names of all nodes: brokers, and services beside them."""

    def alive(self, node: str) -> bool:
        """Whether a node's process is there, paused or not."""

    def kill(self, node: str, how: str) -> str:
        """SIGKILL a node and take its proxies down with it; returns how it ended, as seen."""

    def shut_down(self, node: str, how: str) -> str:
        """Ask a node to end, wait for it, take its proxies down; returns how it ended.

        Raises:
            StageTrouble: it had to be killed.
        """

    def restart(self, node: str) -> None:
        """Start a dead node, wait until it is up, bring its proxies back."""

    def pause(self, node: str) -> str:
        """Stop a node in its tracks; returns what is seen of it.

        It keeps its memory, its connections and its listeners, and answers on none of them.
        """

    def resume(self, node: str) -> None:
        """Let a paused node go on."""

    def paused(self, node: str) -> bool:
        """Whether a node is paused."""

    def bootstrap(self, audience: str, node: str | None = None) -> str:
        """`bootstrap.servers` for an audience, of all brokers or of one."""

    def database(self, audience: str) -> str:
        """A libpq connection string for an audience (`pipeline` through the proxy, `auditor`)."""

    def queue_broker(self, audience: str) -> str:
        """`host:port` of the queue broker for an audience.

        Raises:
            StageTrouble: there is none.
        """

    def queues(self) -> QueueAuditor:
        """Who looks into the queue broker's queues, past all proxies.

        Raises:
            StageTrouble: there is none.
        """

    @property
    def http_address(self) -> str:
        """`host:port` of the HTTP service for the pipeline.

        Raises:
            StageTrouble: there is none.
        """

    def http_service(self) -> HttpControl:
        """Our own way into the HTTP service, past all proxies.

        Raises:
            StageTrouble: there is none.
        """

    def links(self) -> tuple[Link, ...]:
        """Every link that there is."""

    def disturb(self, link: Link, how: Disturbance) -> Hold:
        """Disturb a link until the hold is released; who else disturbs it goes on doing so.

        Connections that lost bytes are closed when that is undone.

        Raises:
            StageTrouble: it cannot be done.
        """

    def entrance(self, link: Link) -> str:
        """`host:port` where a link begins: where its source connects, and anybody here can."""

    def gate(self, link: Link) -> GatedLink:
        """Put a gate on a link, which closes its connections; one that is there already stays."""

    def ungate(self, link: Link) -> None:
        """Undo `gate`; what it held is lost."""

    def connections(self, link: Link) -> int:
        """Established connections on the link, as the kernel counts them."""

    def connected(self, audience: str) -> int:
        """Established connections that reach brokers in an audience's name, behind the proxies."""

    def disturbed(self) -> dict[str, str]:
        """What is not as arranged: dead or paused nodes, cut or toxic links, rules; empty when
        healed.
        """

    def versions(self) -> dict[str, str]:
        """Versions of the parts, for the record."""

    def settings(self) -> dict[str, object]:
        """Settings of the parts, for the record."""
