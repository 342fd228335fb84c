"""Wait until the containers of a stage are ready."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, Protocol

import psycopg

from onceproof.harness.kafka.metadata import ClusterView
from onceproof.harness.links.topology import AUDITOR, POSTGRES, node_id
from onceproof.harness.links.toxiproxy import ToxiproxyServer
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.stage.docker_node import DockerNode
from onceproof.harness.stage.docker_nodes import DockerNodes
from onceproof.harness.stage.docker_services import DockerService
from onceproof.harness.stage.docker_topology import inside
from onceproof.harness.stage.sockets import listens
from onceproof.harness.wait import Stop, wait_until

START_SECONDS: Final = 180.0
"""How long a part may take to start on a very busy machine. If it ends, that is noticed at once."""


class Addresses(Protocol):
    """Where the auditor reaches the parts of a stage."""

    @property
    def brokers(self) -> tuple[str, ...]: ...

    def bootstrap(self, audience: str, node: str | None = None) -> str: ...

    def database(self, audience: str) -> str: ...


class Ready:
    """Waits of one stage; each fails at once if the container ends.

    All raise `Overdue` after `START_SECONDS`, and `StageTrouble` if the container ends.
    """

    def __init__(self, nodes: DockerNodes, addresses: Addresses, *, stop: Stop) -> None:
        self._nodes = nodes
        self._addresses = addresses
        self._stop = stop

    def toxiproxy(self, server: ToxiproxyServer) -> None:
        """Wait until toxiproxy answers; check that this machine shows its connections."""
        node = self._nodes.toxiproxy
        self._wait(node, lambda: bool(server.version()), "toxiproxy to answer")
        if not node.tables().exists():
            raise StageTrouble(
                "this machine does not show the containers' processes, so connections cannot be "
                "counted; expected a Docker engine that runs on this machine"
            )

    def postgres(self) -> None:
        def accepts() -> bool:
            try:
                psycopg.connect(self._addresses.database(AUDITOR)).close()
            except psycopg.OperationalError:
                return False
            return True

        self._wait(self._nodes.part(POSTGRES), accepts, "PostgreSQL to accept connections")

    def service(self, service: DockerService) -> None:
        node = self._nodes.part(service.name)
        self._wait(node, lambda: service.up(node), f"{node.name} to start")

    def brokers(self, names: Sequence[str]) -> None:
        """Wait until brokers serve clients, and each has all running brokers in its metadata."""
        for name in names:
            self.listening(self._nodes.part(name), inside(AUDITOR, name))
        there = self._addresses.brokers
        living = [node_id(name) for name in there if self._nodes.part(name).alive()]
        for name in names:
            address = self._addresses.bootstrap(AUDITOR, name)
            what = f"{name} to have the brokers {living} in its metadata"
            with ClusterView({node_id(name): address}) as view:
                self._wait(self._nodes.part(name), partial(_knows, view, living), what)

    def listening(self, node: DockerNode, port: int) -> None:
        what = f"{node.name} to listen on {port}"
        self._wait(node, lambda: listens(port, tables=node.tables()), what)

    def _wait(self, node: DockerNode, look: Callable[[], bool], what: str) -> None:
        def there() -> bool:
            if not node.alive():
                raise StageTrouble(
                    f"{node.name} exited during startup; end of its log: {node.tail()}"
                )
            return look()

        wait_until(
            there, what=what, seconds=START_SECONDS, every=0.1, stop=self._stop, seen=node.tail
        )


def _knows(view: ClusterView, brokers: list[int]) -> bool:
    return set(view.brokers()) >= set(brokers)
