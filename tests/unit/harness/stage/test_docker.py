"""Parts of the Docker stage that need no Docker: addresses, links, errors of set-up."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from onceproof.harness.links.topology import AUDIENCES, AUDITOR, POSTGRES, Link, broker_name
from onceproof.harness.links.toxiproxy import ProxySpec
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.stage.docker_compose import FILE
from onceproof.harness.stage.docker_topology import (
    DockerTopology,
    inside,
    links_of,
    raft,
    usual_links,
)
from onceproof.harness.tools.docker_engine import connect
from onceproof.harness.tools.error import SetupError

BROKERS = ("broker-1", "broker-2", "broker-3")
TOPOLOGY = DockerTopology(address="127.77.0.1", ports=23)


def test_addresses_match_the_compose_file() -> None:
    text = FILE.read_text()
    address = "${ONCEPROOF_ADDRESS:-127.0.0.1}:${ONCEPROOF_PORTS:-19}"
    for audience in (*AUDIENCES, AUDITOR):
        name = audience.upper().replace("-", "_")
        for node in (1, 2, 3):
            outside, port = (
                TOPOLOGY.bootstrap(audience, [node]),
                inside(audience, broker_name(node)),
            )
            assert outside.startswith("127.77.0.1:23")
            suffix = outside[-3:]
            assert f"{name}://{address}{suffix}" in text
            assert f"{name}://0.0.0.0:{port}" in text
            assert f'"{address}{suffix}:{port}"' in text
            assert f"CONTROLLER://0.0.0.0:{raft(node)}" in text
    for audience, port in (("pipeline", "19509"), (AUDITOR, "5432")):
        host, outside = TOPOLOGY.database(audience)
        assert host == "127.77.0.1"
        assert f'"{address}{str(outside)[-3:]}:{port}"' in text
    assert f'"{address}{str(TOPOLOGY.toxiproxy[1])[-3:]}:8474"' in text


def test_bootstrap_defaults_to_all_brokers() -> None:
    assert TOPOLOGY.bootstrap("producer") == "127.77.0.1:23401,127.77.0.1:23402,127.77.0.1:23403"


def spec(name: str) -> ProxySpec:
    return ProxySpec(name=name, listen="172.18.0.2:19202", upstream="broker-2:19202")


def every_proxy() -> list[ProxySpec]:
    names = [f"{a}.{b}.{what}" for a in BROKERS for b in BROKERS if a != b
             for what in ("internal", "controller")]  # fmt: skip
    names += [f"{audience}.{broker}" for audience in AUDIENCES for broker in BROKERS]
    return [spec(name) for name in (*names, "pipeline.postgres")]


def test_links_are_found_by_the_names_of_their_proxies() -> None:
    links = links_of(every_proxy(), usual_links(BROKERS))
    assert len(links) == 6 + 9 + 1
    between = links[Link("broker-1", "broker-2")]
    assert [p.name for p in between] == [
        "broker-1.broker-2.internal",
        "broker-1.broker-2.controller",
    ]
    assert Link("pipeline", POSTGRES) in links


def test_stage_without_brokers_has_no_links_to_them() -> None:
    assert set(links_of(every_proxy(), usual_links(()))) == {Link("pipeline", POSTGRES)}


def test_link_without_a_proxy_is_refused() -> None:
    proxies = [p for p in every_proxy() if p.name != "pipeline.broker-3"]
    with pytest.raises(StageTrouble, match="no proxy for pipeline→broker-3"):
        links_of(proxies, usual_links(BROKERS))


@pytest.fixture
def make_docker(tmp_path: Path) -> Callable[[str], dict[str, str]]:
    """Make an environment whose `docker` is the given shell script."""

    def make(script: str) -> dict[str, str]:
        program = tmp_path / "docker"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        return {"PATH": f"{tmp_path}:/usr/bin:/bin", "HOME": str(tmp_path)}

    return make


def test_missing_docker_is_reported(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"PATH has no `docker`.*leave out `--backend docker`"):
        connect({"PATH": str(tmp_path)})


def test_missing_compose_plugin_is_reported(make_docker: Callable[[str], dict[str, str]]) -> None:
    with pytest.raises(SetupError, match="compose plugin is missing"):
        connect(make_docker("exit 1"))


def test_old_compose_plugin_is_refused(make_docker: Callable[[str], dict[str, str]]) -> None:
    with pytest.raises(SetupError, match=r"2\.20\.3 is too old.*2\.23\.1 or newer"):
        connect(make_docker("echo 2.20.3"))


def test_unreachable_engine_is_reported(
    make_docker: Callable[[str], dict[str, str]], tmp_path: Path
) -> None:
    socket = f"unix://{tmp_path}/none.sock"
    environment = make_docker(f'[ "$1" = compose ] && echo 2.39.4 || echo {socket}')
    with pytest.raises(SetupError, match=f"no answer at {socket}"):
        connect(environment)
