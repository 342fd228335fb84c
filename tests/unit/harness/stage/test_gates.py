"""Adding and removing gates, with a toxiproxy that can fail.

Tests with a real toxiproxy are in tests/integration.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from onceproof.harness.links.blocks import Block, free_ports, take_block
from onceproof.harness.links.gate.rules import MessageMatch
from onceproof.harness.links.topology import Link
from onceproof.harness.links.toxiproxy import ProxySpec, ProxyTrouble
from onceproof.harness.processes.processes import Processes
from onceproof.harness.stage.gates import Gates

LINK = Link("broker-1", "broker-2")


class Server:
    """Records upstreams; fails once for the proxy `fails_at`."""

    def __init__(self) -> None:
        self.upstreams: dict[str, str] = {}
        self.fails_at: str | None = None

    def set_upstream(self, proxy: str, upstream: str) -> None:
        if proxy == self.fails_at:
            self.fails_at = None
            raise ProxyTrouble(f"{proxy} does not")
        self.upstreams[proxy] = upstream


class Links:
    def __init__(self, specs: tuple[ProxySpec, ...]) -> None:
        self._specs = specs

    def of(self, link: Link) -> tuple[ProxySpec, ...]:
        assert link == LINK
        return self._specs


@pytest.fixture
def block() -> Iterator[Block]:
    taken = take_block()
    yield taken
    taken.release()


@pytest.fixture
def made(processes: Processes, block: Block) -> tuple[Gates, Server, tuple[ProxySpec, ...]]:
    port = free_ports([block.address(1, 1)], count=2)
    specs = tuple(
        ProxySpec(name=name, listen=f"{block.address(1, 1)}:{port + n}", upstream=f"10.0.0.{n}:1")
        for n, name in enumerate(("internal", "controller"))
    )
    server, links = Server(), Links(specs)
    gates = Gates(
        server,  # type: ignore[arg-type]
        links,  # type: ignore[arg-type]
        processes=processes,
        address=lambda spec: spec.listen,
        topic_id=lambda _: None,
    )
    return gates, server, specs


Made = tuple[Gates, Server, tuple[ProxySpec, ...]]


def test_no_process_starts_before_the_first_gate(made: Made, processes: Processes) -> None:
    gates, _, _ = made
    gates.sever("broker-2")
    gates.ungate(LINK)
    assert gates.disturbed() == {}
    assert processes.all == []


def test_gate_redirects_every_proxy_of_a_link(made: Made, processes: Processes) -> None:
    gates, server, (internal, controller) = made
    gate = gates.gate(LINK)
    assert server.upstreams == {"internal": internal.listen, "controller": controller.listen}
    rule = gate.put(MessageMatch(direction="request", api="Fetch", topic="unknown").rule("drop"))
    assert gates.disturbed() == {str(LINK): "gate: rules 1, held 0"}
    assert rule.fired == []
    gates.ungate(LINK)
    assert server.upstreams == {"internal": "10.0.0.0:1", "controller": "10.0.0.1:1"}
    assert gates.disturbed() == {}
    gates.gate(LINK)
    assert len(processes.all) == 1


def test_failed_gate_restores_all_proxies(made: Made) -> None:
    gates, server, (internal, controller) = made
    server.fails_at = "controller"
    with pytest.raises(ProxyTrouble, match="controller does not"):
        gates.gate(LINK)
    assert server.upstreams == {"internal": internal.upstream, "controller": controller.upstream}
    assert gates.disturbed() == {}
    state: Any = gates.gate(LINK).state()  # possible because its addresses are free again
    assert state["opened"] == 0
