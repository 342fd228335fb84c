"""What needs no Docker to be tried: addresses, links by name, what is said where it is missing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from onceproof.harness.links.topology import AUDIENCES, AUDITOR, POSTGRES, Link
from onceproof.harness.links.toxiproxy import ProxySpec
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.stage.docker_compose import FILE
from onceproof.harness.stage.docker_topology import DockerTopology, inside, links_of, raft
from onceproof.harness.tools.docker_engine import connect
from onceproof.harness.tools.error import SetupError

TOPOLOGY = DockerTopology(address="127.77.0.1", ports=23)


def test_addresses_are_those_of_the_compose_file() -> None:
    text = FILE.read_text()
    ours = "${ONCEPROOF_ADDRESS:-127.0.0.1}:${ONCEPROOF_PORTS:-19}"
    for audience in (*AUDIENCES, AUDITOR):
        name = audience.upper().replace("-", "_")
        for node in (1, 2, 3):
            outside = TOPOLOGY.bootstrap(audience, [node])
            assert outside.startswith("127.77.0.1:23")
            suffix = outside[-3:]
            assert f"{name}://{ours}{suffix}" in text
            assert f"{name}://0.0.0.0:{inside(audience, node)}" in text
            assert f'"{ours}{suffix}:{inside(audience, node)}"' in text
            assert f"CONTROLLER://0.0.0.0:{raft(node)}" in text
    for audience, port in (("pipeline", "19509"), (AUDITOR, "5432")):
        host, outside = TOPOLOGY.database(audience)
        assert host == "127.77.0.1"
        assert f'"{ours}{str(outside)[-3:]}:{port}"' in text
    assert f'"{ours}{str(TOPOLOGY.toxiproxy[1])[-3:]}:8474"' in text


def test_bootstrap_of_all() -> None:
    assert TOPOLOGY.bootstrap("producer") == "127.77.0.1:23401,127.77.0.1:23402,127.77.0.1:23403"


def spec(name: str) -> ProxySpec:
    return ProxySpec(name=name, listen="172.18.0.2:19202", upstream="broker-2:19202")


def every_proxy() -> list[ProxySpec]:
    brokers = ("broker-1", "broker-2", "broker-3")
    names = [f"{a}.{b}.{what}" for a in brokers for b in brokers if a != b
             for what in ("internal", "controller")]  # fmt: skip
    names += [f"{audience}.{broker}" for audience in AUDIENCES for broker in brokers]
    return [spec(name) for name in (*names, "pipeline.postgres")]


def test_links_by_the_names_of_their_proxies() -> None:
    links = links_of(every_proxy())
    assert len(links) == 6 + 9 + 1
    between = links[Link("broker-1", "broker-2")]
    assert [p.name for p in between] == [
        "broker-1.broker-2.internal",
        "broker-1.broker-2.controller",
    ]
    assert Link("pipeline", POSTGRES) in links


def test_a_way_without_a_proxy() -> None:
    proxies = [p for p in every_proxy() if p.name != "pipeline.broker-3"]
    with pytest.raises(StageTrouble, match="no proxy for pipeline→broker-3"):
        links_of(proxies)


@pytest.fixture
def docker_that(tmp_path: Path) -> Callable[[str], dict[str, str]]:
    """An environment whose `docker` does as told."""

    def make(script: str) -> dict[str, str]:
        program = tmp_path / "docker"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        return {"PATH": f"{tmp_path}:/usr/bin:/bin", "HOME": str(tmp_path)}

    return make


def test_no_docker(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"PATH has no `docker`.*leave out `--backend docker`"):
        connect({"PATH": str(tmp_path)})


def test_no_compose(docker_that: Callable[[str], dict[str, str]]) -> None:
    with pytest.raises(SetupError, match="compose plugin is missing"):
        connect(docker_that("exit 1"))


def test_a_compose_that_is_too_old(docker_that: Callable[[str], dict[str, str]]) -> None:
    with pytest.raises(SetupError, match=r"2\.20\.3 is too old.*2\.23\.1 or newer"):
        connect(docker_that("echo 2.20.3"))


def test_no_engine(docker_that: Callable[[str], dict[str, str]], tmp_path: Path) -> None:
    nowhere = f"unix://{tmp_path}/none.sock"
    environment = docker_that(f'[ "$1" = compose ] && echo 2.39.4 || echo {nowhere}')
    with pytest.raises(SetupError, match=f"no answer at {nowhere}"):
        connect(environment)
