"""The local stage: Kafka brokers, toxiproxy, PostgreSQL and a queue broker as plain processes.

All addresses are in the run's loopback block (see `topology`). Brokers reach each other through
proxies because each JVM has its own hosts file. No root, no containers.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from uuid import UUID

from onceproof.harness.http_service.control import HttpControl
from onceproof.harness.http_service.local import LocalHttpService
from onceproof.harness.http_service.settings import HttpSettings
from onceproof.harness.kafka.cluster_id import new_cluster_id
from onceproof.harness.kafka.metadata import ClusterView
from onceproof.harness.links.blocks import Block, free_ports
from onceproof.harness.links.disturbances import Disturbance, Hold
from onceproof.harness.links.topology import (
    AUDITOR,
    HTTP_SERVICE,
    PORTS,
    POSTGRES,
    QUEUE_BROKER,
    Link,
    Topology,
    broker_name,
)
from onceproof.harness.links.toxiproxy import ToxiproxyServer
from onceproof.harness.processes.processes import Process, Processes
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.queues.auditor import QueueAuditor, QueueTrouble
from onceproof.harness.queues.base import LocalQueueBroker, Queues
from onceproof.harness.stage.base import NO_HTTP_SERVICE, NO_QUEUES, SHUT_DOWN_SECONDS
from onceproof.harness.stage.broker_config import settings_of
from onceproof.harness.stage.broker_template import broker_template
from onceproof.harness.stage.gates import Gates, OnGate
from onceproof.harness.stage.local_broker import LocalBroker
from onceproof.harness.stage.local_postgres import LocalPostgres
from onceproof.harness.stage.proxied import ProxiedLinks
from onceproof.harness.stage.queue_brokers import local_queue_broker
from onceproof.harness.stage.security import MECHANISM, Security
from onceproof.harness.stage.sockets import established
from onceproof.harness.tools.setup import StageTools
from onceproof.harness.wait import Overdue, Stop, wait_until

_Node = LocalBroker | LocalPostgres | LocalQueueBroker | LocalHttpService


class LocalStage:
    """The stage of one run, as local processes."""

    def __init__(
        self,
        *,
        tools: StageTools,
        processes: Processes,
        work: Path,
        block: Block,
        stop: Stop,
        brokers: int = 3,
        queues: Queues | None = None,
        http: HttpSettings | None = None,
        security: Security | None = None,
    ) -> None:
        self.backend = "local" if security is None else "local-secured"
        draft = Topology(
            block=block,
            base_port=0,
            brokers=brokers,
            queues=queues is not None,
            one_listener=queues is not None and queues.settings.one_listener,
            http=http is not None,
        )
        base_port = free_ports(draft.every_address(), count=PORTS)
        self.topology = replace(draft, base_port=base_port)
        self._tools = tools
        self._processes = processes
        self._stop = stop
        self._work = work
        self._security = security
        self._brokers = {
            broker_name(n): LocalBroker(
                node=n,
                topology=self.topology,
                tools=tools,
                processes=processes,
                folder=work / broker_name(n),
                security=security,
            )
            for n in self.topology.nodes
        }
        self._postgres = LocalPostgres(
            topology=self.topology,
            tools=tools,
            processes=processes,
            folder=work / "postgres",
            stop=stop,
        )
        self._queue_broker = (
            None
            if queues is None
            else local_queue_broker(queues, topology=self.topology, processes=processes, work=work)
        )
        self._http_service = (
            None
            if http is None
            else LocalHttpService(http, topology=self.topology, processes=processes, work=work)
        )
        self._nodes: dict[str, _Node] = {
            **self._brokers,
            POSTGRES: self._postgres,
            **({} if self._queue_broker is None else {QUEUE_BROKER: self._queue_broker}),
            **({} if self._http_service is None else {HTTP_SERVICE: self._http_service}),
        }
        self._toxiproxy = ToxiproxyServer(*self.topology.toxiproxy)
        self._links = ProxiedLinks(self._toxiproxy, self.topology.proxies())
        self._gates = Gates(
            self._toxiproxy,
            self._links,
            processes=processes,
            address=self.topology.gate,
            tls=None if security is None else security.tls,
            topic_id=self._topic_id,
        )

    @property
    def brokers(self) -> tuple[str, ...]:
        return tuple(self._brokers)

    @property
    def nodes(self) -> tuple[str, ...]:
        return tuple(self._nodes)

    @property
    def scratch(self) -> tuple[Path, ...]:
        secured = () if self._security is None else (self._security.folder,)
        return (*self._postgres.scratch, *secured)

    def start(self) -> None:
        if self._security is not None:
            self._security.create(self.topology.every_address())
        try:
            with ThreadPoolExecutor(4) as pool:
                parts = [pool.submit(self._prepare_brokers)]
                parts += [pool.submit(self._start_toxiproxy), pool.submit(self._postgres.create)]
                if self._queue_broker is not None:
                    parts.append(pool.submit(self._queue_broker.create, self._stop))
                if self._http_service is not None:
                    parts.append(pool.submit(self._http_service.create, self._stop))
                for part in parts:
                    part.result()
            for broker in self._brokers.values():
                broker.start()
            for broker in self._brokers.values():
                broker.wait_started(self._stop)
            self._wait_healthy()
        except Overdue as error:
            raise StageTrouble(f"the stage did not start: {error}") from error

    def stop(self) -> None:
        """End everything; the database first and orderly, so that it removes its shared memory."""
        try:
            self._postgres.stop()
            self._processes.kill_all("torn down")
        finally:
            self._postgres.remove()
            if self._security is not None:
                self._security.remove()

    def created(self, topics: list[str]) -> None:
        """Do nothing: topics are removed with the brokers."""

    def alive(self, node: str) -> bool:
        process = self._node(node).process
        return process is not None and process.leader_alive()

    def kill(self, node: str, how: str) -> str:
        process = self._running(node, "killed")
        process.kill(how)
        self._links.lead_to(node, False)
        self._gates.sever(node)
        return f"{process.instance} ended by signal {-process.popen.returncode}"

    def shut_down(self, node: str, how: str) -> str:
        process = self._running(node, "stopped")
        process.stop(how, sig=self._node(node).asks, seconds=SHUT_DOWN_SECONDS)
        self._links.lead_to(node, False)
        self._gates.sever(node)
        if (status := process.popen.returncode) < 0:
            raise StageTrouble(f"{process.instance} did not end when asked to: {process.how}")
        return f"{process.instance} ended with status {status}"

    def restart(self, node: str) -> None:
        part = self._node(node)
        if self.alive(node):
            raise StageTrouble(f"{node} cannot be restarted: it is running")
        part.start()
        part.wait_listening(self._stop)
        # Raft and replication reach the broker through these, so it cannot become ready before.
        self._links.lead_to(node, True)
        part.wait_started(self._stop)

    def pause(self, node: str) -> str:
        process = self._running(node, "paused")
        if process.frozen():
            raise StageTrouble(f"{node} cannot be paused: it is already paused")
        process.pause(self._stop)
        return f"{process.instance} is paused: its process is in state T"

    def resume(self, node: str) -> None:
        process = self._running(node, "resumed")
        if not process.frozen():
            raise StageTrouble(f"{node} cannot be resumed: it is not paused")
        process.thaw()
        wait_until(
            lambda: not process.frozen(),
            what=f"{process.instance} to resume",
            seconds=10,
            every=0.01,
            stop=self._stop,
        )

    def paused(self, node: str) -> bool:
        process = self._node(node).process
        return process is not None and process.frozen()

    def bootstrap(self, audience: str, node: str | None = None) -> str:
        nodes = None if node is None else range(self._number(node), self._number(node) + 1)
        return self.topology.bootstrap(audience, nodes)

    def database(self, audience: str) -> str:
        place = self.topology.postgres if audience == AUDITOR else self.topology.postgres_proxy
        return self._postgres.database(*place)

    def queue_broker(self, audience: str) -> str:
        self._require_queues()
        return self.topology.queue_broker_proxy(audience)

    def queues(self) -> QueueAuditor:
        return self._require_queues().auditor

    @property
    def http_address(self) -> str:
        self._require_http_service()
        return self.topology.http_service_proxy

    def http_service(self) -> HttpControl:
        return self._require_http_service().control

    def links(self) -> tuple[Link, ...]:
        return self._links.all

    def disturb(self, link: Link, how: Disturbance) -> Hold:
        return self._links.disturb(link, how)

    def entrance(self, link: Link) -> str:
        return self._links.of(link)[0].listen

    def gate(self, link: Link) -> OnGate:
        return self._gates.gate(link)

    def ungate(self, link: Link) -> None:
        self._gates.ungate(link)

    def connections(self, link: Link) -> int:
        return established({p.listen for p in self._links.of(link)})

    def connected(self, audience: str) -> int:
        port = self.topology.audience_port(audience)
        ends = {f"{self.topology.broker_host(n)}:{port}" for n in self.topology.nodes}
        if self._queue_broker is None:
            return established(ends)
        if not self.topology.one_listener:
            return established(ends | {self.topology.queue_broker(audience)})
        try:
            return established(ends) + self._queue_broker.auditor.connected(audience)
        except QueueTrouble:
            return established(ends)  # the queue broker does not run

    def disturbed(self) -> dict[str, str]:
        wrong = {n: "not running" for n in self._nodes if not self.alive(n)}
        wrong |= {n: "paused" for n in self._nodes if self.paused(n)}
        return wrong | self._gates.disturbed() | self._links.disturbed()

    def versions(self) -> dict[str, str]:
        queues = {} if self._queue_broker is None else self._queue_broker.versions()
        return {"toxiproxy": self._toxiproxy.version() or "?", **self._tools.versions(), **queues}

    def settings(self) -> dict[str, object]:
        of = settings_of(self._tools.kafka)
        brokers = {"brokers": of | self._protocol()} if self._brokers else {}
        queues = self._queue_broker and {
            "queue broker": self._queue_broker.wanted.settings.as_configured()
        }
        http = self._http_service and {"HTTP service": asdict(self._http_service.settings)}
        return {"backend": self.backend, **brokers, **(queues or {}), **(http or {})}

    def _protocol(self) -> dict[str, str | int]:
        if self._security is None:
            return {}
        return {"security": f"{self._security.protocol} with {MECHANISM}"}

    def _node(self, node: str) -> _Node:
        try:
            return self._nodes[node]
        except KeyError:
            there = ", ".join(self._nodes)
            raise StageTrouble(f"unknown node {node}: expected {there}") from None

    def _require_queues(self) -> LocalQueueBroker:
        if self._queue_broker is None:
            raise StageTrouble(NO_QUEUES)
        return self._queue_broker

    def _require_http_service(self) -> LocalHttpService:
        if self._http_service is None:
            raise StageTrouble(NO_HTTP_SERVICE)
        return self._http_service

    def _running(self, node: str, done: str) -> Process:
        process = self._node(node).process
        if process is None or not process.leader_alive():
            raise StageTrouble(f"{node} cannot be {done}: it is not running")
        return process

    def _number(self, node: str) -> int:
        return self._broker(node).node

    def _broker(self, node: str) -> LocalBroker:
        try:
            return self._brokers[node]
        except KeyError:
            raise StageTrouble(
                f"unknown broker {node}: expected {', '.join(self._brokers)}"
            ) from None

    def _prepare_brokers(self) -> None:
        if not self._brokers:
            return
        template = broker_template(
            self._tools,
            topology=self.topology,
            work=self._work,
            marker=self._processes.marker,
            stop=self._stop,
        )
        cluster = new_cluster_id()
        for broker in self._brokers.values():
            template.prepare(broker, cluster)

    def _start_toxiproxy(self) -> None:
        host, port = self.topology.toxiproxy
        self._processes.start(
            "toxiproxy",
            [self._tools.toxiproxy, "-host", host, "-port", str(port), "-proxy-metrics"],
            environment={"LOG_LEVEL": "warn"},
        )
        wait_until(self._toxiproxy.version, what="toxiproxy to answer", seconds=10, stop=self._stop)
        self._toxiproxy.populate(self._links.specs)

    def _topic_id(self, topic: str) -> UUID | None:
        with self._view() as view:
            return view.topic_id(topic)

    def _view(self) -> ClusterView:
        return ClusterView({b.node: self.bootstrap(AUDITOR, n) for n, b in self._brokers.items()})

    def _wait_healthy(self) -> None:
        """Wait until every broker knows all brokers.

        librdkafka 2.16 forgets a broker that a metadata answer lacks, and its pending requests.
        """
        with ExitStack() as views:
            by_broker = {
                broker.name: views.enter_context(
                    ClusterView({broker.node: self.bootstrap(AUDITOR, broker.name)})
                )
                for broker in self._brokers.values()
            }

            def seen() -> dict[str, list[int]]:
                return {name: view.brokers() for name, view in by_broker.items()}

            wait_until(
                lambda: all(len(known) == len(self._brokers) for known in seen().values()),
                what=f"all {len(self._brokers)} brokers in the metadata of each",
                seconds=30,
                stop=self._stop,
                seen=seen,
            )
