"""Names of parties, links and audiences, and their addresses in a run's loopback block.

In run 77, `127.77.0.3` is broker 3, `127.77.1.3` the proxy from broker 1 to broker 3, `127.77.11.3`
the proxy from the second audience to broker 3, and `127.77.111.3` a gate behind that proxy. Each
audience has its own listener on every broker, whose advertised address is the audience's proxy,
because Kafka clients connect to the advertised address.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from onceproof.harness.links.blocks import Block
from onceproof.harness.links.toxiproxy import ProxySpec

AUDIENCES = ("producer", "pipeline", "pipeline-sink")
"""Clients behind proxies: the producers, the pipeline's source, and its sink."""
AUDITOR = "auditor"
"""The only audience without a proxy: the harness's own readers and admin clients."""
POSTGRES = "postgres"
QUEUE_BROKER = "queue-broker"
"""The queue broker, if a run has one."""
QUEUE_AUDIENCES = ("producer", "pipeline")
"""Its clients behind proxies; each of them and the auditor has its own acceptor."""
HTTP_SERVICE = "http-service"
"""The HTTP service, if an output of a run is one."""

ARROW = "→"
_GATES = 100
"""Added to the third byte of a proxy's address to get that of its gate."""

_INTERNAL, _CONTROLLER, _AUDITOR, _POSTGRES, _TOXIPROXY, _FIRST_AUDIENCE = range(6)
PORTS = _FIRST_AUDIENCE + len(AUDIENCES)
_QUEUE_BROKER = 7
"""Address of the queue broker, numbered like a broker; it uses the brokers' ports."""
_HTTP_SERVICE = 6
"""Address of the HTTP service, likewise."""


@dataclass(frozen=True, order=True)
class Link:
    """A named, directed path between two parties: `source→target`."""

    source: str
    target: str

    def __str__(self) -> str:
        return f"{self.source}{ARROW}{self.target}"


def broker_name(node: int) -> str:
    return f"broker-{node}"


def node_id(name: str) -> int:
    return int(name.rpartition("-")[2])


@dataclass(frozen=True, kw_only=True)
class Topology:
    """The addresses of one run."""

    block: Block
    base_port: int
    brokers: int
    queues: bool = False
    one_listener: bool = False
    """Whether the queue broker has one listener for all audiences: the auditor's."""
    http: bool = False

    @property
    def nodes(self) -> range:
        return range(1, self.brokers + 1)

    def broker_host(self, node: int) -> str:
        return self.block.address(0, node)

    def hosts_file(self, node: int) -> str:
        """Return the hosts file for a broker's JVM: itself directly, others through proxies."""
        lines = [f"{self.broker_host(node)} b{node}"]
        lines += [f"{self.block.address(node, o)} b{o}" for o in self.nodes if o != node]
        return "\n".join([*lines, "127.0.0.1 localhost", ""])

    @property
    def internal_port(self) -> int:
        return self.base_port + _INTERNAL

    @property
    def controller_port(self) -> int:
        return self.base_port + _CONTROLLER

    def audience_port(self, audience: str) -> int:
        """Return the port of an audience's listener, the same on broker and proxy."""
        if audience == AUDITOR:
            return self.base_port + _AUDITOR
        return self.base_port + _FIRST_AUDIENCE + AUDIENCES.index(audience)

    def audience_host(self, audience: str, node: int) -> str:
        """Return the address at which an audience reaches a broker."""
        if audience == AUDITOR:
            return self.broker_host(node)
        return self.block.address(10 + AUDIENCES.index(audience), node)

    def bootstrap(self, audience: str, nodes: Iterator[int] | range | None = None) -> str:
        port = self.audience_port(audience)
        return ",".join(f"{self.audience_host(audience, n)}:{port}" for n in nodes or self.nodes)

    @property
    def postgres(self) -> tuple[str, int]:
        return self.block.address(0, 9), self.base_port + _POSTGRES

    @property
    def postgres_proxy(self) -> tuple[str, int]:
        return self.block.address(20, 9), self.base_port + _POSTGRES

    def queue_broker(self, audience: str) -> str:
        """Return the queue broker's own `host:port` for an audience."""
        port = self.audience_port(AUDITOR if self.one_listener else audience)
        return f"{self.block.address(0, _QUEUE_BROKER)}:{port}"

    def queue_broker_proxy(self, audience: str) -> str:
        """Return where an audience reaches the queue broker; the auditor uses no proxy."""
        if audience == AUDITOR:
            return self.queue_broker(audience)
        return f"{self.audience_host(audience, _QUEUE_BROKER)}:{self.audience_port(audience)}"

    def http_service(self, audience: str) -> str:
        """Return the HTTP service's own `host:port` for the pipeline or the auditor."""
        return f"{self.block.address(0, _HTTP_SERVICE)}:{self.audience_port(audience)}"

    @property
    def http_service_proxy(self) -> str:
        host = self.audience_host("pipeline", _HTTP_SERVICE)
        return f"{host}:{self.audience_port('pipeline')}"

    @property
    def toxiproxy(self) -> tuple[str, int]:
        return self.block.address(0, 8), self.base_port + _TOXIPROXY

    def gate(self, proxy: ProxySpec) -> str:
        """Return the `host:port` of a gate behind a proxy."""
        host, _, port = proxy.listen.rpartition(":")
        _, _, third, fourth = map(int, host.split("."))
        return f"{self.block.address(_GATES + third, fourth)}:{port}"

    def every_address(self) -> list[str]:
        """Return every address of the run but the gates', for probing ports."""
        hosts = [self.broker_host(n) for n in self.nodes]
        hosts += [self.block.address(i, j) for i in self.nodes for j in self.nodes if i != j]
        hosts += [self.audience_host(a, n) for a in AUDIENCES for n in self.nodes]
        hosts += [self.block.address(0, _QUEUE_BROKER), self.block.address(0, _HTTP_SERVICE)]
        hosts += [self.audience_host("pipeline", _HTTP_SERVICE)]
        hosts += [self.audience_host(a, _QUEUE_BROKER) for a in QUEUE_AUDIENCES]
        return [*hosts, self.postgres[0], self.postgres_proxy[0], self.toxiproxy[0]]

    def proxies(self) -> dict[Link, tuple[ProxySpec, ...]]:
        """Return the proxies of every link. Between brokers there are two: replication and Raft."""
        links: dict[Link, tuple[ProxySpec, ...]] = {}
        for i in self.nodes:
            for j in self.nodes:
                if i != j:
                    links[Link(broker_name(i), broker_name(j))] = tuple(
                        ProxySpec(
                            name=f"broker-{i}.broker-{j}.{what}",
                            listen=f"{self.block.address(i, j)}:{port}",
                            upstream=f"{self.broker_host(j)}:{port}",
                        )
                        for what, port in (
                            ("internal", self.internal_port),
                            ("controller", self.controller_port),
                        )
                    )
        for audience in AUDIENCES:
            port = self.audience_port(audience)
            for n in self.nodes:
                links[Link(audience, broker_name(n))] = (
                    ProxySpec(
                        name=f"{audience}.broker-{n}",
                        listen=f"{self.audience_host(audience, n)}:{port}",
                        upstream=f"{self.broker_host(n)}:{port}",
                    ),
                )
        for audience in QUEUE_AUDIENCES if self.queues else ():
            links[Link(audience, QUEUE_BROKER)] = (
                ProxySpec(
                    name=f"{audience}.{QUEUE_BROKER}",
                    listen=self.queue_broker_proxy(audience),
                    upstream=self.queue_broker(audience),
                ),
            )
        if self.http:
            links[Link("pipeline", HTTP_SERVICE)] = (
                ProxySpec(
                    name=f"pipeline.{HTTP_SERVICE}",
                    listen=self.http_service_proxy,
                    upstream=self.http_service("pipeline"),
                ),
            )
        (here, port), (there, _) = self.postgres_proxy, self.postgres
        links[Link("pipeline", POSTGRES)] = (
            ProxySpec(
                name="pipeline.postgres", listen=f"{here}:{port}", upstream=f"{there}:{port}"
            ),
        )
        return links
