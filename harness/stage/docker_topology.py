"""Addresses and ports of a Docker stage.

They follow docker-compose.yml: a port is `19<way><node>`, inside and outside, where a run replaces
the 19 by free digits outside. Outside, all have the same loopback address, taken from the run's
block.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from onceproof.harness.links.blocks import Block, NoFreeBlock, is_free
from onceproof.harness.links.topology import (
    AUDIENCES,
    AUDITOR,
    HTTP_SERVICE,
    POSTGRES,
    QUEUE_BROKER,
    Link,
    node_id,
)
from onceproof.harness.links.toxiproxy import ProxySpec
from onceproof.harness.processes.trouble import StageTrouble

INSIDE = 19
_BEHIND = 18
"""Instead of it where a service listens behind its proxy, in the same network."""
NODES = (1, 2, 3)
_SERVICES = {HTTP_SERVICE: 6, QUEUE_BROKER: 7, POSTGRES: 9}
"""Their numbers, as a broker has its node id."""
_WAYS = {**dict(zip(AUDIENCES, (40, 50, 60), strict=True)), AUDITOR: 90}
_RAFT, _TOXIPROXY = 30, 800


@dataclass(frozen=True, kw_only=True)
class DockerTopology:
    """Where a stage's containers are reached from the host."""

    address: str
    ports: int
    """First two digits of every published port."""

    def bootstrap(self, audience: str, nodes: Iterable[int] = NODES) -> str:
        return ",".join(f"{self.address}:{self._outside(audience, n)}" for n in nodes)

    def database(self, audience: str) -> tuple[str, int]:
        way = AUDITOR if audience == AUDITOR else "pipeline"
        return self.address, self._outside(way, _SERVICES[POSTGRES])

    def service(self, name: str, audience: str) -> str:
        """Return where an audience reaches a service, as `host:port`."""
        return f"{self.address}:{self._outside(audience, _SERVICES[name])}"

    def publish(self, name: str, audience: str) -> str:
        """Return the entry that publishes the port of a service for an audience."""
        return f"{self.service(name, audience)}:{inside(audience, name)}"

    @property
    def toxiproxy(self) -> tuple[str, int]:
        return self.address, self.ports * 1000 + _TOXIPROXY

    def _outside(self, audience: str, node: int) -> int:
        return self.ports * 1000 + _suffix(audience, node)


def inside(audience: str, name: str) -> int:
    """Return the port of an audience's listener in a broker's network, or a service's proxy's."""
    return INSIDE * 1000 + _suffix(audience, _number(name))


def behind_toxiproxy(name: str, audience: str) -> str:
    """Return the `host:port` where a service in toxiproxy's network listens for an audience."""
    if audience == AUDITOR:
        return f"0.0.0.0:{inside(audience, name)}"
    return f"127.0.0.1:{_BEHIND * 1000 + _suffix(audience, _number(name))}"


def raft(node: int) -> int:
    """Return the port of a broker's Raft listener inside its container: the first that it opens."""
    return INSIDE * 1000 + _RAFT * 10 + node


def choose(block: Block) -> DockerTopology:
    """Return an address of the block, with free ports; raise `NoFreeBlock` if there are none."""
    address = block.address(0, 1)
    numbers = (*NODES, *_SERVICES.values())
    suffixes = [_suffix(a, n) for a in _WAYS for n in numbers] + [_TOXIPROXY]
    candidates = list(range(20, 32))  # below the kernel's ephemeral ports
    random.shuffle(candidates)
    for ports in candidates:
        if all(is_free(address, ports * 1000 + suffix) for suffix in suffixes):
            return DockerTopology(address=address, ports=ports)
    raise NoFreeBlock(
        f"no free port range between 20000 and 31999 on {address}; "
        "look for a process that listens on many ports (`ss -ltn`)"
    )


def links_of(
    proxies: Iterable[ProxySpec], expected: Set[Link]
) -> Mapping[Link, tuple[ProxySpec, ...]]:
    """Return the expected links by the names of proxies: `<source>.<target>[.<what>]`.

    Raises:
        StageTrouble: a link has no proxy, so that its traffic could not be disturbed.
    """
    found: dict[Link, tuple[ProxySpec, ...]] = {}
    for proxy in proxies:
        source, target, *_ = [*proxy.name.split("."), ""]
        link = Link(source, target)
        if link in expected:
            found[link] = (*found.get(link, ()), proxy)
    if missing := expected - found.keys():
        raise StageTrouble(
            f"toxiproxy has no proxy for {', '.join(sorted(map(str, missing)))}; "
            "expected the names in docker-compose.yml"
        )
    return found


def usual_links(brokers: Sequence[str]) -> set[Link]:
    """Return the links of a stage with these brokers, without services."""
    between = {Link(a, b) for a in brokers for b in brokers if a != b}
    return between | {Link(a, b) for a in AUDIENCES for b in brokers} | {Link("pipeline", POSTGRES)}


def _number(name: str) -> int:
    return _SERVICES[name] if name in _SERVICES else node_id(name)


def _suffix(audience: str, node: int) -> int:
    return _WAYS[audience] * 10 + node
