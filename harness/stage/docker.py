"""The Docker stage: docker-compose.yml, with every link through toxiproxy as on the local stage.

Links and their faults are the same as locally, because the same toxiproxy implements them; only the
nodes are containers. Connections are counted by the kernel, in the container's network, so the
engine must be on this machine.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from pathlib import Path
from uuid import UUID

from onceproof.harness.http_service.control import HttpControl
from onceproof.harness.http_service.settings import HttpSettings
from onceproof.harness.kafka.metadata import ClusterView
from onceproof.harness.links.blocks import Block
from onceproof.harness.links.disturbances import Disturbance, Hold
from onceproof.harness.links.topology import (
    AUDIENCES,
    AUDITOR,
    POSTGRES,
    QUEUE_BROKER,
    Link,
    broker_name,
    node_id,
)
from onceproof.harness.links.toxiproxy import ToxiproxyServer
from onceproof.harness.processes.processes import MARKER, Processes
from onceproof.harness.processes.sweep import where
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.processes.watchdog import Watchdog
from onceproof.harness.queues.auditor import QueueAuditor
from onceproof.harness.queues.base import Queues
from onceproof.harness.stage import docker_gate, docker_python, docker_reaper
from onceproof.harness.stage.base import SHUT_DOWN_SECONDS
from onceproof.harness.stage.database_login import Login, connection_string, write_private
from onceproof.harness.stage.docker_compose import Compose
from onceproof.harness.stage.docker_node import DockerNode
from onceproof.harness.stage.docker_nodes import TOXIPROXY, DockerNodes
from onceproof.harness.stage.docker_ready import START_SECONDS, Ready
from onceproof.harness.stage.docker_services import Services
from onceproof.harness.stage.docker_topology import (
    NODES,
    choose,
    inside,
    links_of,
    raft,
    usual_links,
)
from onceproof.harness.stage.gates import Gates, OnGate
from onceproof.harness.stage.proxied import ProxiedLinks
from onceproof.harness.stage.sockets import established, listens
from onceproof.harness.tools.docker_engine import Engine
from onceproof.harness.wait import Overdue, Stop, wait_until

_BROKERS = tuple(broker_name(n) for n in NODES)


class DockerStage:
    """The stage of one run, as containers."""

    backend = "docker"
    scratch: tuple[Path, ...] = ()

    def __init__(
        self,
        *,
        engine: Engine,
        processes: Processes,
        work: Path,
        block: Block,
        stop: Stop,
        brokers: int = len(_BROKERS),
        queues: Queues | None = None,
        http: HttpSettings | None = None,
    ) -> None:
        """`brokers` is 0 or 3."""
        self._work = work
        self._login_file = work / f"{POSTGRES}-login"
        self._password = work / f"{POSTGRES}-password"
        self.topology = choose(block)
        self._block = block
        self._engine = engine
        self._processes = processes
        self._marker = processes.marker
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
        self._images = self._compose.services()
        self.brokers = _BROKERS[:brokers]
        self._services = Services.wanted(
            queues,
            http,
            image=self._images[_BROKERS[0]]["image"],
            topology=self.topology,
            processes=processes,
            work=work,
            labels=self._labels,
        )
        self._toxiproxy = ToxiproxyServer(*self.topology.toxiproxy)
        self._links = ProxiedLinks(self._toxiproxy, {})
        self._nodes = DockerNodes(
            self.nodes, processes=processes, client=engine.client, marker=self._marker
        )
        self._ready = Ready(self._nodes, self, stop=stop)
        self._watchdog: Watchdog | None = None

    @property
    def nodes(self) -> tuple[str, ...]:
        return (*self.brokers, POSTGRES, *self._services.names)

    @property
    def _labels(self) -> dict[str, str]:
        return {docker_reaper.LABEL: self._marker, docker_reaper.WHERE: where()}

    def start(self) -> None:
        self._login_file.parent.mkdir(parents=True, exist_ok=True)
        write_private(self._password, Login.new(self._login_file).password)
        self._watchdog = Watchdog(
            self._marker,
            program=docker_reaper,
            arguments=[self._engine.program],
            environment=self._engine.environment,
            log=self._processes.logs / "docker-reaper.log",
            holds=[self._block.fileno()],
        )
        try:
            if self._services.all:
                services = self._work / "services.json"
                self._services.write_compose_file(services)
                self._compose.add(services)
            self._compose.up([TOXIPROXY, *self.nodes])
            self._nodes.find()
            self._ready.toxiproxy(self._toxiproxy)
            self._link_up()
            self._ready.postgres()
            for service in self._services.all.values():
                self._ready.service(service)
            self._ready.brokers(self.brokers)
        except (Overdue, StageTrouble) as error:
            self._stop.check()  # Ctrl-C also ends the command; that is not an error of the stage
            raise StageTrouble(f"the stage did not start: {error}") from error

    def _link_up(self) -> None:
        self._toxiproxy.populate(self._services.proxies())
        expected = usual_links(self.brokers) | self._services.links()
        self._links = ProxiedLinks(self._toxiproxy, links_of(self._toxiproxy.proxies(), expected))
        if wrong := self._links.disturbed():
            raise StageTrouble(f"toxiproxy started with disturbed links: {wrong}")
        modules = self._work / "gate"
        docker_gate.copy_modules(modules)
        self._gates = Gates(
            self._toxiproxy,
            self._links,
            processes=self._processes,
            address=partial(docker_gate.address_of, self._links.specs),
            topic_id=self._topic_id,
            seconds=START_SECONDS,
            command=docker_gate.command(
                self._engine,
                modules,
                beside=self._nodes.toxiproxy.container.id,
                labels=self._labels,
            ),
        )

    def stop(self) -> None:
        if self._watchdog is None:
            return
        try:
            self._nodes.end("torn down")
            self._compose.down()
        finally:
            self._watchdog.release()
            self._watchdog = None

    def created(self, topics: list[str]) -> None:
        """Do nothing: topics are removed with the brokers."""

    def alive(self, node: str) -> bool:
        return self._nodes.part(node).alive()

    def kill(self, node: str, how: str) -> str:
        """SIGKILL a node, and disable every proxy that leads to it.

        Freeze it first: once a container's name and address are gone, a proxy that dials it hangs
        and cannot be disabled.
        """
        running = self._nodes.running(node, "killed")
        running.freeze()
        try:
            self._links.lead_to(node, False)
        finally:
            death = running.kill(how)
        self._gates.sever(node)
        return death

    def shut_down(self, node: str, how: str) -> str:
        running = self._nodes.running(node, "stopped")
        if node == POSTGRES:
            # It listens until its end, and SIGTERM would wait for the last client to disconnect.
            self._links.lead_to(node, False)
            running.ask_to_end("SIGINT")
        elif node in self.brokers:
            self._terminate_broker(node, running)
        ended = running.ended(how, seconds=SHUT_DOWN_SECONDS)
        if node in self._services.names:
            self._links.lead_to(node, False)
        self._gates.sever(node)
        return ended

    def _terminate_broker(self, node: str, running: DockerNode) -> None:
        """SIGTERM a broker, and disable every proxy that leads to it before it is gone.

        As in `kill`, freeze it first, but after its controlled shutdown, when it no longer listens.
        """
        port, tables = inside(AUDITOR, node), running.tables()
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
        part = self._nodes.part(node)
        if part.alive():
            raise StageTrouble(f"{node} cannot be restarted: it is running")
        part.start()
        if node not in self.brokers:
            if node == POSTGRES:
                self._ready.postgres()
            else:
                self._ready.service(self._services.all[node])
            self._links.lead_to(node, True)
            return
        self._ready.listening(part, raft(node_id(node)))
        # Raft and replication reach the broker through these, so it cannot become ready before.
        self._links.lead_to(node, True)
        self._ready.brokers([node])

    def pause(self, node: str) -> str:
        return self._nodes.pause(node)

    def resume(self, node: str) -> None:
        self._nodes.resume(node)

    def paused(self, node: str) -> bool:
        return self._nodes.part(node).paused()

    def bootstrap(self, audience: str, node: str | None = None) -> str:
        if node is None:
            return self.topology.bootstrap(audience)
        if node not in self.brokers:
            raise StageTrouble(f"unknown broker {node}: expected {', '.join(self.brokers)}")
        return self.topology.bootstrap(audience, [node_id(node)])

    def database(self, audience: str) -> str:
        host, port = self.topology.database(audience)
        return connection_string(host, port, self._login_file)

    def queue_broker(self, audience: str) -> str:
        return self._services.queue_broker(audience)

    def queues(self) -> QueueAuditor:
        return self._services.queues()

    @property
    def http_address(self) -> str:
        return self._services.http_address()

    def http_service(self) -> HttpControl:
        return self._services.http_service()

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
        if link.target in self._services.names:
            return self.topology.service(link.target, link.source)
        return self.bootstrap(link.source, link.target)

    def gate(self, link: Link) -> OnGate:
        return self._gates.gate(link)

    def ungate(self, link: Link) -> None:
        self._gates.ungate(link)

    def _topic_id(self, topic: str) -> UUID | None:
        with ClusterView({node_id(n): self.bootstrap(AUDITOR, n) for n in self.brokers}) as view:
            return view.topic_id(topic)

    def connections(self, link: Link) -> int:
        toxiproxy = self._nodes.toxiproxy
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
            node = self._nodes.part(name)
            with suppress(StageTrouble, FileNotFoundError):  # a dead broker has none
                port = inside(audience, name)
                here = {f"{address}:{port}" for address in node.addresses()}
                count += established(here, tables=node.tables())
        if queues := self._services.listening(QUEUE_BROKER, audience):
            count += established({queues}, tables=self._nodes.toxiproxy.tables())
        return count

    def disturbed(self) -> dict[str, str]:
        wrong = {n: "not running" for n in self.nodes if not self.alive(n)}
        wrong |= {n: "paused" for n in self.nodes if self.paused(n)}
        return wrong | self._gates.disturbed() | self._links.disturbed()

    def versions(self) -> dict[str, str]:
        found = {"docker": self._engine.version, "docker-compose": self._engine.compose}
        images = {name: spec["image"] for name, spec in self._images.items()}
        images |= {"gate": docker_python.image(), **self._services.images()}
        for name, image in images.items():
            found[f"image of {name}"] = (
                f"{image} ({self._engine.client.images.get(image).short_id})"
            )
        return found | self._services.versions()

    def settings(self) -> dict[str, object]:
        return {
            "backend": self.backend,
            **(self._of_brokers() if self.brokers else {}),
            "memory": {name: s.get("mem_limit", "?") for name, s in self._images.items()},
            **self._services.settings(),
        }

    def _of_brokers(self) -> dict[str, object]:
        environments = [self._images[name].get("environment", {}) for name in self.brokers]
        common = set.intersection(*(set(e.items()) for e in environments))
        return {
            "brokers": {_setting(n): v for n, v in sorted(common) if _is_setting(n)},
            "jvm": {n: v for n, v in sorted(common) if n.endswith("_OPTS")},
        }


def _is_setting(variable: str) -> bool:
    return variable.startswith("KAFKA_") and not variable.endswith("_OPTS")


def _setting(variable: str) -> str:
    """Convert `KAFKA_MIN_INSYNC_REPLICAS` to `min.insync.replicas`."""
    return variable.removeprefix("KAFKA_").lower().replace("_", ".")
