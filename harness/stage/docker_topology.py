"""Addresses and ports of a Docker stage.

They follow docker-compose.yml: a port is `19<way><node>`, inside and outside, where a run replaces
the 19 by free digits outside. Outside, all have the same loopback address, taken from the run's
block.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from onceproof.harness.links.blocks import Block, NoFreeBlock, is_free
from onceproof.harness.links.topology import AUDIENCES, AUDITOR, POSTGRES, Link, broker_name
from onceproof.harness.links.toxiproxy import ProxySpec
from onceproof.harness.processes.trouble import StageTrouble

INSIDE = 19
NODES = (1, 2, 3)
_DATABASE = 9
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
        return self.address, self._outside(way, _DATABASE)

    @property
    def toxiproxy(self) -> tuple[str, int]:
        return self.address, self.ports * 1000 + _TOXIPROXY

    def _outside(self, audience: str, node: int) -> int:
        return self.ports * 1000 + _suffix(audience, node)


def inside(audience: str, node: int) -> int:
    """Return the port of an audience's listener inside a broker's container."""
    return INSIDE * 1000 + _suffix(audience, node)


def raft(node: int) -> int:
    """Return the port of a broker's Raft listener inside its container: the first that it opens."""
    return INSIDE * 1000 + _RAFT * 10 + node


def choose(block: Block) -> DockerTopology:
    """Return an address of the block, with free ports; raise `NoFreeBlock` if there are none."""
    address = block.address(0, 1)
    suffixes = [_suffix(a, n) for a in _WAYS for n in (*NODES, _DATABASE)] + [_TOXIPROXY]
    candidates = list(range(20, 32))  # below the kernel's ephemeral ports
    random.shuffle(candidates)
    for ports in candidates:
        if all(is_free(address, ports * 1000 + suffix) for suffix in suffixes):
            return DockerTopology(address=address, ports=ports)
    raise NoFreeBlock(
        f"no free port range between 20000 and 31999 on {address}; "
        "look for a process that listens on many ports (`ss -ltn`)"
    )


def links_of(proxies: Iterable[ProxySpec]) -> Mapping[Link, tuple[ProxySpec, ...]]:
    """Return the links by the names of toxiproxy's proxies: `<source>.<target>[.<what>]`.

    Raises:
        StageTrouble: a link has no proxy, so that its traffic could not be disturbed.
    """
    found: dict[Link, tuple[ProxySpec, ...]] = {}
    for proxy in proxies:
        source, target, *_ = [*proxy.name.split("."), ""]
        link = Link(source, target)
        found[link] = (*found.get(link, ()), proxy)
    if missing := _expected() - found.keys():
        raise StageTrouble(
            f"toxiproxy has no proxy for {', '.join(sorted(map(str, missing)))}; "
            "expected the names in docker-compose.yml"
        )
    return found


def _expected() -> set[Link]:
    brokers = [broker_name(n) for n in NODES]
    between = {Link(a, b) for a in brokers for b in brokers if a != b}
    return between | {Link(a, b) for a in AUDIENCES for b in brokers} | {Link("pipeline", POSTGRES)}


def _suffix(audience: str, node: int) -> int:
    return _WAYS[audience] * 10 + node
