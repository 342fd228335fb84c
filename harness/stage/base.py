"""The interface of a stage, the same for every backend.

Code above this interface does not know how a node is run. It names nodes (`broker-1`, `postgres`),
links (`producer→broker-2`) and audiences, and gets addresses for clients, but never a process id,
path or container id.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

from onceproof.harness.http_service.control import HttpControl
from onceproof.harness.links.disturbances import Disturbance, Hold
from onceproof.harness.links.gate.client import Placed
from onceproof.harness.links.gate.rules import Rule
from onceproof.harness.links.topology import Link
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.queues.auditor import QueueAuditor

SHUT_DOWN_SECONDS = 30.0
"""How long a broker may take to shut down."""


NO_QUEUES = "this stage has no queue broker: its scenario uses no queue"
NO_HTTP_SERVICE = "this stage has no HTTP service: its scenario has no HTTP output"


class WithoutServices:
    """Mixin for a stage without a queue broker and an HTTP service."""

    def queue_broker(self, audience: str) -> str:
        raise StageTrouble(NO_QUEUES)

    def queues(self) -> QueueAuditor:
        raise StageTrouble(NO_QUEUES)

    @property
    def http_address(self) -> str:
        raise StageTrouble(NO_HTTP_SERVICE)

    def http_service(self) -> HttpControl:
        raise StageTrouble(NO_HTTP_SERVICE)


class GatedLink(Protocol):
    """A link on which a gate can act on single requests and responses."""

    def put(self, rule: Rule) -> Placed:
        """Apply a rule from now on."""

    def state(self) -> dict[str, Any]:
        """Return counters, connections, active rules and held frames."""


class Stage(Protocol):
    """Brokers, proxies and databases of one run."""

    backend: str

    def start(self) -> None:
        """Start everything and check that it is healthy."""

    def stop(self) -> None:
        """End everything and remove its data; ignore what is already gone."""

    def created(self, topics: list[str]) -> None:
        """Remember these topics of the run, on a stage that outlives it."""

    @property
    def scratch(self) -> tuple[Path, ...]:
        """Folders outside the run folder that must be removed."""

    @property
    def brokers(self) -> tuple[str, ...]:
        """Names of the brokers; `broker-<n>` has node id n."""

    @property
    def nodes(self) -> tuple[str, ...]:
        """Names of all nodes: brokers and services."""

    def alive(self, node: str) -> bool:
        """Return whether a node's process exists, paused or not."""

    def kill(self, node: str, how: str) -> str:
        """SIGKILL a node and disable its proxies; return how it ended."""

    def shut_down(self, node: str, how: str) -> str:
        """Ask a node to end, wait, and disable its proxies; return how it ended.

        Raises:
            StageTrouble: it had to be killed.
        """

    def restart(self, node: str) -> None:
        """Start a dead node, enable its proxies, and wait until it is ready."""

    def pause(self, node: str) -> str:
        """Pause a node; return what shows that it is paused.

        It keeps its memory, connections and listeners, but does not answer.
        """

    def resume(self, node: str) -> None: ...

    def paused(self, node: str) -> bool: ...

    def bootstrap(self, audience: str, node: str | None = None) -> str:
        """Return `bootstrap.servers` for an audience: all brokers, or one."""

    def database(self, audience: str) -> str:
        """Return a libpq connection string: `pipeline` through the proxy, `auditor` directly."""

    def queue_broker(self, audience: str) -> str:
        """Return `host:port` of the queue broker; raise `StageTrouble` if there is none."""

    def queues(self) -> QueueAuditor:
        """Return direct access to the queues; raise `StageTrouble` if there is no queue broker."""

    @property
    def http_address(self) -> str:
        """`host:port` of the HTTP service for the pipeline; `StageTrouble` if there is none."""

    def http_service(self) -> HttpControl:
        """Return direct access to the HTTP service; raise `StageTrouble` if there is none."""

    def links(self) -> tuple[Link, ...]: ...

    def disturb(self, link: Link, how: Disturbance) -> Hold:
        """Disturb a link until the hold is released; other disturbances of the link remain.

        Connections that lost bytes are closed on release. Raises `StageTrouble` if it fails.
        """

    def entrance(self, link: Link) -> str:
        """Return `host:port` where a link begins: the address that its source connects to."""

    def gate(self, link: Link) -> GatedLink:
        """Put a gate on a link, which closes its connections; keep an existing gate."""

    def ungate(self, link: Link) -> None:
        """Remove the gate; frames that it held are lost."""

    def connections(self, link: Link) -> int:
        """Return the number of established connections on the link, from the kernel."""

    def connected(self, audience: str) -> int:
        """Return the number of an audience's connections that reach brokers, behind the proxies."""

    def disturbed(self) -> dict[str, str]:
        """Describe dead or paused nodes, cut or toxic links, and rules; empty when healed."""

    def versions(self) -> dict[str, str]: ...

    def settings(self) -> dict[str, object]: ...
