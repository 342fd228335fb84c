"""The Docker stage: docker-compose.yml, with every link through toxiproxy as on the local stage.

Links and their faults are the same as locally, because the same toxiproxy implements them; only the
nodes are containers. Connections are counted by the kernel, in the container's network, so the
engine must be on this machine.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg

from onceproof.harness.kafka.metadata import ClusterView
from onceproof.harness.links.blocks import Block
from onceproof.harness.links.disturbances import Disturbance, Hold
from onceproof.harness.links.topology import (
    AUDIENCES,
    AUDITOR,
    POSTGRES,
    Link,
    broker_name,
    node_id,
)
from onceproof.harness.links.toxiproxy import ToxiproxyServer
from onceproof.harness.processes.processes import MARKER, Processes
from onceproof.harness.processes.sweep import where
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.processes.watchdog import Watchdog
from onceproof.harness.stage import docker_gate, docker_reaper
from onceproof.harness.stage.base import (
    SHUT_DOWN_SECONDS,
    WithoutHttpService,
    WithoutQueues,
)
from onceproof.harness.stage.database_login import Login, connection_string, write_private
from onceproof.harness.stage.docker_compose import Compose, gate_image
from onceproof.harness.stage.docker_node import DockerNode
from onceproof.harness.stage.docker_topology import NODES, choose, inside, links_of, raft
from onceproof.harness.stage.gates import Gates, OnGate
from onceproof.harness.stage.proxied import ProxiedLinks
from onceproof.harness.stage.sockets import established, listens
from onceproof.harness.tools.docker_engine import Engine
from onceproof.harness.wait import Overdue, Stop, wait_until

_TOXIPROXY = "toxiproxy"
_BROKERS = tuple(broker_name(n) for n in NODES)
_SECONDS = 180.0
"""How long a part may take to start on a very busy machine. If it ends, that is noticed at once."""


class DockerStage(WithoutQueues, WithoutHttpService):
    """The stage of one run, as containers."""

    backend = "docker"
    scratch: tuple[Path, ...] = ()

    def __init__(
        self, *, engine: Engine, processes: Processes, work: Path, block: Block, stop: Stop
    ) -> None:
        self._login_file = work / f"{POSTGRES}-login"
        self._password = work / f"{POSTGRES}-password"
        self.topology = choose(block)
        self._block = block
        self._engine = engine
        self._processes = processes
        self._gates: Gates | None = None
        self._gates_lock = threading.Lock()
        self._logs = processes.logs
        self._marker = processes.marker
        self._on_change = processes.on_change
        self._stop = stop
        project = f"onceproof-{self._marker}"
        self._compose = Compose(
            engine,
            {
                "COMPOSE_PROJECT_NAME": project,
                MARKER: self._marker,
                "ONCEPROOF_WHERE": where(),
                "ONCEPROOF_ADDRESS": self.topology.address,
                "ONCEPROOF_PORTS": str(self.topology.ports),
                # The harness checks health itself; each probe by the engine costs a process.
                "ONCEPROOF_HEALTH_INTERVAL": "1h",
                "ONCEPROOF_DATABASE_AUTH": "scram-sha-256",
                "ONCEPROOF_DATABASE_PASSWORD": str(self._password.absolute()),
            },
        )
        self._services = self._compose.services()
        self._toxiproxy = ToxiproxyServer(*self.topology.toxiproxy)
        self._links = ProxiedLinks(self._toxiproxy, {})
        self._nodes: dict[str, DockerNode] = {}
        self._watchdog: Watchdog | None = None

    @property
    def brokers(self) -> tuple[str, ...]:
        return _BROKERS

    @property
    def nodes(self) -> tuple[str, ...]:
        return (*_BROKERS, POSTGRES)

    def start(self) -> None:
        self._login_file.parent.mkdir(parents=True, exist_ok=True)
        write_private(self._password, Login.new(self._login_file).password)
        self._watchdog = Watchdog(
            self._marker,
            program=docker_reaper,
            arguments=[self._engine.program],
            environment=self._engine.environment,
            log=self._logs / "docker-reaper.log",
            holds=[self._block.fileno()],
        )
        try:
            self._compose.up()
            self._find_nodes()
            self._wait_toxiproxy()
            self._wait_postgres()
            self._wait_brokers()
        except (Overdue, StageTrouble) as error:
            self._stop.check()  # Ctrl-C also ends the command; that is not an error of the stage
            raise StageTrouble(f"the stage did not start: {error}") from error

    def stop(self) -> None:
        if self._watchdog is None:
            return
        try:
            with ThreadPoolExecutor(len(self._nodes) or 1) as pool:
                list(pool.map(lambda node: node.end("torn down"), self._nodes.values()))
            self._compose.down()
        finally:
            self._watchdog.release()
            self._watchdog = None

    def created(self, topics: list[str]) -> None:
        """Do nothing: topics are removed with the brokers."""

    def alive(self, node: str) -> bool:
        return self._node(node).alive()

    def kill(self, node: str, how: str) -> str:
        """SIGKILL a node, and disable every proxy that leads to it.

        Freeze it first: once a container's name and address are gone, a proxy that dials it hangs
        and cannot be disabled.
        """
        running = self._running(node, "killed")
        running.freeze()
        try:
            self._links.lead_to(node, False)
        finally:
            death = running.kill(how)
        self._sever(node)
        return death

    def shut_down(self, node: str, how: str) -> str:
        running = self._running(node, "stopped")
        if node == POSTGRES:
            # It listens until its end, and SIGTERM would wait for the last client to disconnect.
            self._links.lead_to(node, False)
            running.ask_to_end("SIGINT")
        else:
            self._terminate_broker(node, running)
        ended = running.ended(how, seconds=SHUT_DOWN_SECONDS)
        self._sever(node)
        return ended

    def _terminate_broker(self, node: str, running: DockerNode) -> None:
        """SIGTERM a broker, and disable every proxy that leads to it before it is gone.

        As in `kill`, freeze it first, but after its controlled shutdown, when it no longer listens.
        """
        port, tables = inside(AUDITOR, node_id(node)), running.tables()
        running.ask_to_end("SIGTERM")
        wait_until(
            lambda: not listens(port, tables=tables),
            what=f"{node} to close its listener",
            seconds=SHUT_DOWN_SECONDS,
            every=0.005,
            stop=self._stop,
            seen=running.tail,
        )
        running.freeze()
        try:
            self._links.lead_to(node, False)
        finally:
            running.thaw()

    def restart(self, node: str) -> None:
        part = self._part(node)
        if part.alive():
            raise StageTrouble(f"{node} cannot be restarted: it is running")
        part.start()
        if node == POSTGRES:
            self._wait_postgres()
            self._links.lead_to(node, True)
            return
        self._wait_node(part, raft(node_id(node)))
        # Raft and replication reach the broker through these, so it cannot become ready before.
        self._links.lead_to(node, True)
        self._wait_node(part, inside(AUDITOR, node_id(node)))
        self._wait_known_by([node])

    def pause(self, node: str) -> str:
        running = self._running(node, "paused")
        if running.paused():
            raise StageTrouble(f"{node} cannot be paused: it is already paused")
        return running.pause()

    def resume(self, node: str) -> None:
        running = self._running(node, "resumed")
        if not running.paused():
            raise StageTrouble(f"{node} cannot be resumed: it is not paused")
        running.resume()

    def paused(self, node: str) -> bool:
        return self._part(node).paused()

    def bootstrap(self, audience: str, node: str | None = None) -> str:
        if node is None:
            return self.topology.bootstrap(audience)
        return self.topology.bootstrap(audience, [node_id(self._check_broker(node))])

    def database(self, audience: str) -> str:
        host, port = self.topology.database(audience)
        return connection_string(host, port, self._login_file)

    def links(self) -> tuple[Link, ...]:
        return self._links.all

    def disturb(self, link: Link, how: Disturbance) -> Hold:
        return self._links.disturb(link, how)

    def entrance(self, link: Link) -> str:
        listen = self._links.of(link)[0].listen
        if link.source not in AUDIENCES:
            return listen
        if link.target == POSTGRES:
            host, port = self.topology.database(link.source)
            return f"{host}:{port}"
        return self.bootstrap(link.source, link.target)

    def gate(self, link: Link) -> OnGate:
        with self._gates_lock:
            if self._gates is None:
                self._gates = self._new_gates()
        return self._gates.gate(link)

    def ungate(self, link: Link) -> None:
        if self._gates is not None:
            self._gates.ungate(link)

    def _new_gates(self) -> Gates:
        modules = self._login_file.parent / "gate"
        docker_gate.copy_modules(modules)
        proxies = self._links.specs
        return Gates(
            self._toxiproxy,
            self._links,
            processes=self._processes,
            address=partial(docker_gate.address_of, proxies),
            topic_id=self._topic_id,
            seconds=_SECONDS,
            command=docker_gate.command(
                self._engine,
                gate_image(),
                modules,
                beside=self._node(_TOXIPROXY).container.id,
                labels={docker_reaper.LABEL: self._marker, docker_reaper.WHERE: where()},
            ),
        )

    def _topic_id(self, topic: str) -> UUID | None:
        with ClusterView({node_id(n): self.bootstrap(AUDITOR, n) for n in self.brokers}) as view:
            return view.topic_id(topic)

    def _sever(self, node: str) -> None:
        """Close a gate's connections to a broker that is gone."""
        if self._gates is not None:
            self._gates.sever(node)

    def connections(self, link: Link) -> int:
        toxiproxy = self._node(_TOXIPROXY)
        listening: set[str] = set()
        for proxy in self._links.of(link):
            host, _, port = proxy.listen.rpartition(":")
            # A proxy for clients on the host listens on all of the container's addresses.
            hosts = toxiproxy.addresses() if host in ("0.0.0.0", "[::]") else [host]
            listening |= {f"{h}:{port}" for h in hosts}
        return established(listening, tables=toxiproxy.tables())

    def connected(self, audience: str) -> int:
        count = 0
        for name in self.brokers:
            node = self._node(name)
            with suppress(StageTrouble, FileNotFoundError):  # a dead broker has none
                port = inside(audience, node_id(name))
                here = {f"{address}:{port}" for address in node.addresses()}
                count += established(here, tables=node.tables())
        return count

    def disturbed(self) -> dict[str, str]:
        wrong = {n: "not running" for n in (*self.brokers, POSTGRES) if not self.alive(n)}
        wrong |= {n: "paused" for n in (*self.brokers, POSTGRES) if self.paused(n)}
        gates = {} if self._gates is None else self._gates.disturbed()
        return wrong | gates | self._links.disturbed()

    def versions(self) -> dict[str, str]:
        found = {"docker": self._engine.version, "docker-compose": self._engine.compose}
        for service, spec in self._services.items():
            image = self._engine.client.images.get(spec["image"])
            found[f"image of {service}"] = f"{spec['image']} ({image.short_id})"
        if self._gates is not None:
            found["image of gate"] = gate_image()
        return found

    def settings(self) -> dict[str, object]:
        environments = [self._services[name].get("environment", {}) for name in self.brokers]
        common = set.intersection(*(set(e.items()) for e in environments))
        return {
            "backend": self.backend,
            "brokers": {_setting(n): v for n, v in sorted(common) if _is_setting(n)},
            "jvm": {n: v for n, v in sorted(common) if n.endswith("_OPTS")},
            "memory": {name: s.get("mem_limit", "?") for name, s in self._services.items()},
        }

    def _check_broker(self, node: str) -> str:
        if node not in self.brokers:
            raise StageTrouble(f"unknown broker {node}: expected {', '.join(self.brokers)}")
        return node

    def _part(self, node: str) -> DockerNode:
        return self._node(node if node == POSTGRES else self._check_broker(node))

    def _running(self, node: str, done: str) -> DockerNode:
        part = self._part(node)
        if not part.alive():
            raise StageTrouble(f"{node} cannot be {done}: it is not running")
        return part

    def _node(self, node: str) -> DockerNode:
        try:
            return self._nodes[node]
        except KeyError:
            if node not in (POSTGRES, _TOXIPROXY):
                self._check_broker(node)
            raise StageTrouble(f"{node} has not been started") from None

    def _find_nodes(self) -> None:
        ours = {"label": f"{docker_reaper.LABEL}={self._marker}"}
        containers: dict[str, Any] = {
            c.labels["com.docker.compose.service"]: c
            for c in self._engine.client.containers.list(all=True, filters=ours)
        }
        for name in (_TOXIPROXY, POSTGRES, *self.brokers):
            if name not in containers:
                raise StageTrouble(f"no container of {name} has the label of this run")
            self._nodes[name] = DockerNode(
                name, containers[name], logs=self._logs, on_change=self._on_change
            )

    def _wait_toxiproxy(self) -> None:
        node = self._node(_TOXIPROXY)
        self._wait(node, lambda: bool(self._toxiproxy.version()), "toxiproxy to answer")
        if not node.tables().exists():
            raise StageTrouble(
                "this machine does not show the containers' processes, so connections cannot be "
                "counted; expected a Docker engine that runs on this machine"
            )
        self._links = ProxiedLinks(self._toxiproxy, links_of(self._toxiproxy.proxies()))
        if wrong := self._links.disturbed():
            raise StageTrouble(f"toxiproxy started with disturbed links: {wrong}")

    def _wait_postgres(self) -> None:
        def accepts() -> bool:
            try:
                psycopg.connect(self.database(AUDITOR)).close()
            except psycopg.OperationalError:
                return False
            return True

        self._wait(self._node(POSTGRES), accepts, "PostgreSQL to accept connections")

    def _wait_brokers(self) -> None:
        for name in self.brokers:
            self._wait_node(self._node(name), inside(AUDITOR, node_id(name)))
        self._wait_known_by(self.brokers)

    def _wait_node(self, node: DockerNode, port: int) -> None:
        what = f"{node.name} to listen on {port}"
        self._wait(node, lambda: listens(port, tables=node.tables()), what)

    def _wait_known_by(self, brokers: tuple[str, ...] | list[str]) -> None:
        """Wait until each of these brokers has all running brokers in its metadata."""
        living = [node_id(name) for name in self.brokers if self.alive(name)]
        for name in brokers:
            with ClusterView({node_id(name): self.bootstrap(AUDITOR, name)}) as view:
                known = partial(_knows, view, living)
                self._wait(
                    self._node(name), known, f"{name} to have the brokers {living} in its metadata"
                )

    def _wait(self, node: DockerNode, look: Callable[[], bool], what: str) -> None:
        """Wait for a condition of a node; fail at once if the node ends."""

        def there() -> bool:
            if not node.alive():
                raise StageTrouble(
                    f"{node.name} exited during startup; end of its log: {node.tail()}"
                )
            return look()

        wait_until(there, what=what, seconds=_SECONDS, every=0.1, stop=self._stop, seen=node.tail)


def _knows(view: ClusterView, brokers: list[int]) -> bool:
    return set(view.brokers()) >= set(brokers)


def _is_setting(variable: str) -> bool:
    return variable.startswith("KAFKA_") and not variable.endswith("_OPTS")


def _setting(variable: str) -> str:
    """Convert `KAFKA_MIN_INSYNC_REPLICAS` to `min.insync.replicas`."""
    return variable.removeprefix("KAFKA_").lower().replace("_", ".")
