"""Addresses of a run and the broker configuration derived from them."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from onceproof.harness.links.blocks import Block
from onceproof.harness.links.topology import (
    AUDIENCES,
    AUDITOR,
    PORTS,
    POSTGRES,
    Link,
    Topology,
    broker_name,
    node_id,
)
from onceproof.harness.stage.broker_config import listener, log4j_configuration, server_properties
from onceproof.harness.tools.jar_lock import KAFKA

BASE = 21_000


@pytest.fixture(params=[1, 3, 5])
def topology(request: pytest.FixtureRequest) -> Iterator[Topology]:
    with socket.socket() as held:
        yield Topology(block=Block(77, held), base_port=BASE, brokers=request.param)


def specs(topology: Topology) -> list:
    return [spec for of_link in topology.proxies().values() for spec in of_link]


def own_listeners(topology: Topology) -> set[str]:
    """Addresses on which brokers, database and toxiproxy listen directly."""
    ports = [topology.internal_port, topology.controller_port]
    ports += [topology.audience_port(a) for a in (*AUDIENCES, AUDITOR)]
    found = {f"{topology.broker_host(n)}:{port}" for n in topology.nodes for port in ports}
    for host, port in (topology.postgres, topology.toxiproxy):
        found.add(f"{host}:{port}")
    return found


def test_every_address_is_in_the_block(topology: Topology) -> None:
    addresses = topology.every_address()
    assert all(address.startswith("127.77.") for address in addresses)
    assert len(set(addresses)) == len(addresses)


def test_every_proxy_has_its_own_address(topology: Topology) -> None:
    listens = [spec.listen for spec in specs(topology)]
    assert len(set(listens)) == len(listens)
    assert not set(listens) & own_listeners(topology)
    names = [spec.name for spec in specs(topology)]
    assert len(set(names)) == len(names)


def test_every_gate_has_its_own_address(topology: Topology) -> None:
    gates = [topology.gate(spec) for spec in specs(topology)]
    taken = {spec.listen for spec in specs(topology)} | own_listeners(topology)
    assert len(set(gates)) == len(gates)
    assert not taken & set(gates)
    assert all(gate.startswith("127.77.1") for gate in gates)
    if topology.brokers >= 3:
        (way,) = topology.proxies()[Link(AUDIENCES[1], "broker-3")]
        assert topology.gate(way).rpartition(":")[0] == "127.77.111.3"


def test_every_proxy_leads_to_a_listener(topology: Topology) -> None:
    assert {spec.upstream for spec in specs(topology)} <= own_listeners(topology)


def test_every_listener_is_in_the_probed_range(topology: Topology) -> None:
    probed = set(topology.every_address())
    for address in {spec.listen for spec in specs(topology)} | own_listeners(topology):
        host, port = address.split(":")
        assert host in probed
        assert BASE <= int(port) < BASE + PORTS


def test_links_cover_brokers_audiences_and_database(topology: Topology) -> None:
    n = topology.brokers
    links = topology.proxies()
    assert len(links) == n * (n - 1) + len(AUDIENCES) * n + 1
    assert Link("pipeline", POSTGRES) in links
    assert Link("producer", "broker-1") in links
    assert not [link for link in links if AUDITOR in (link.source, link.target)]
    assert str(Link("producer", "broker-1")) == "producer→broker-1"


def test_broker_links_proxy_replication_and_raft(topology: Topology) -> None:
    for link, proxies in topology.proxies().items():
        if link.source.startswith("broker-"):
            i, j = node_id(link.source), node_id(link.target)
            assert {(p.listen, p.upstream) for p in proxies} == {
                (f"127.77.{i}.{j}:{port}", f"127.77.0.{j}:{port}")
                for port in (topology.internal_port, topology.controller_port)
            }


def hosts(topology: Topology, node: int) -> dict[str, str]:
    lines = (line.split() for line in topology.hosts_file(node).splitlines())
    return {name: address for address, name in lines}


def test_hosts_file_maps_other_brokers_to_proxies(topology: Topology) -> None:
    for i in topology.nodes:
        names = hosts(topology, i)
        assert names.keys() == {"localhost", *(f"b{j}" for j in topology.nodes)}
        assert names[f"b{i}"] == topology.broker_host(i)
        for j in topology.nodes:
            if i != j:
                link = topology.proxies()[Link(broker_name(i), broker_name(j))]
                assert {p.listen.split(":")[0] for p in link} == {names[f"b{j}"]}


def test_bootstrap_lists_all_or_selected_brokers(topology: Topology) -> None:
    port = topology.audience_port("producer")
    all_brokers = [f"127.77.10.{n}:{port}" for n in topology.nodes]
    assert topology.bootstrap("producer") == ",".join(all_brokers)
    assert topology.bootstrap("producer", range(1, 2)) == all_brokers[0]
    assert topology.bootstrap(AUDITOR, range(1, 2)) == (
        f"127.77.0.1:{topology.audience_port(AUDITOR)}"
    )


# Configuration.


def properties(topology: Topology, node: int, kafka: str = KAFKA) -> dict[str, str]:
    text = server_properties(topology, node, Path("/data"), kafka=kafka)
    pairs = [line.split("=", 1) for line in text.splitlines()]
    assert len({key for key, _ in pairs}) == len(pairs)
    return dict(pairs)  # type: ignore[arg-type]


def addresses(text: str) -> dict[str, str]:
    """`NAME://host:port,…` → name → host:port."""
    return dict(part.split("://") for part in text.split(","))  # type: ignore[misc]


def test_brokers_advertise_internal_listeners_under_the_proxied_name(topology: Topology) -> None:
    for node in topology.nodes:
        advertised = addresses(properties(topology, node)["advertised.listeners"])
        assert advertised["CONTROLLER"] == f"b{node}:{topology.controller_port}"
        assert advertised["INTERNAL"] == f"b{node}:{topology.internal_port}"


def test_raft_is_advertised_since_kafka_3_9(topology: Topology) -> None:
    """Earlier versions refuse it, and reach the voters by their configured names."""
    for kafka, advertised in {"3.7.2": False, "3.8.1": False, "3.9.0": True, "4.3.1": True}.items():
        settings = properties(topology, 1, kafka)
        assert ("CONTROLLER" in addresses(settings["advertised.listeners"])) is advertised
        assert "CONTROLLER" in addresses(settings["listeners"])
        assert settings["controller.quorum.voters"].startswith("1@b1:")


@pytest.mark.parametrize(
    ("kafka", "groups"),
    [
        ("3.9.2", {"consumer"}),
        ("4.0.1", {"consumer", "share"}),
        ("4.1.0", {"consumer", "share", "streams"}),
    ],
)
def test_groups_that_brokers_do_not_know_are_not_configured(
    kafka: str, groups: set[str], topology: Topology
) -> None:
    settings = properties(topology, 1, kafka)
    assert {n.split(".")[1] for n in settings if n.endswith(".heartbeat.interval.ms")} - {
        "heartbeat"
    } == groups


def test_brokers_advertise_the_proxy_of_each_audience(topology: Topology) -> None:
    for node in topology.nodes:
        settings = properties(topology, node)
        listens = addresses(settings["listeners"])
        advertised = addresses(settings["advertised.listeners"])
        for audience in AUDIENCES:
            (proxy,) = topology.proxies()[Link(audience, broker_name(node))]
            assert advertised[listener(audience)] == proxy.listen
            assert listens[listener(audience)] == proxy.upstream


def test_auditor_bypasses_proxies(topology: Topology) -> None:
    for node in topology.nodes:
        settings = properties(topology, node)
        direct = topology.bootstrap(AUDITOR, range(node, node + 1))
        assert addresses(settings["advertised.listeners"])["AUDITOR"] == direct
        assert addresses(settings["listeners"])["AUDITOR"] == direct


def test_broker_listens_only_on_its_own_address(topology: Topology) -> None:
    for node in topology.nodes:
        settings = properties(topology, node)
        listens = addresses(settings["listeners"])
        hosts_of = {address.rsplit(":", 1)[0] for address in listens.values()}
        assert hosts_of == {topology.broker_host(node)}
        assert len({address.rsplit(":", 1)[1] for address in listens.values()}) == len(listens)
        assert listens.keys() == addresses(settings["advertised.listeners"]).keys()
        mapped = settings["listener.security.protocol.map"].split(",")
        assert {entry.split(":")[0] for entry in mapped} == listens.keys()


def test_quorum_voters_use_the_names_of_the_hosts_files(topology: Topology) -> None:
    for node in topology.nodes:
        voters = properties(topology, node)["controller.quorum.voters"].split(",")
        assert voters == [f"{n}@b{n}:{topology.controller_port}" for n in topology.nodes]
        assert properties(topology, node)["node.id"] == str(node)


def test_log4j_writes_to_standard_output() -> None:
    found = json.loads(log4j_configuration())["Configuration"]
    assert found["Appenders"].keys() == {"Console"}
    assert found["Loggers"]["Root"]["AppenderRef"]["ref"] == found["Appenders"]["Console"]["name"]
