"""A running stage, observed by independent clients."""

from __future__ import annotations

import psutil
import psycopg
import pytest
import requests

from onceproof.harness.links.topology import AUDIENCES, AUDITOR, POSTGRES, Link
from onceproof.harness.tools.setup import StageTools
from tests.integration.staging import (
    Staged,
    eventually,
    listeners,
    marked_processes,
    metadata,
    unmapped,
)

pytestmark = pytest.mark.integration


def test_every_broker_knows_all_brokers(staging: Staged) -> None:
    assert staging.stage.brokers == ("broker-1", "broker-2", "broker-3")
    for node in staging.stage.brokers:
        assert metadata(staging.stage.bootstrap(AUDITOR, node)).brokers == {
            n: staging.stage.bootstrap(AUDITOR, f"broker-{n}") for n in (1, 2, 3)
        }


@pytest.mark.parametrize("audience", AUDIENCES)
def test_metadata_names_proxies_of_own_audience(staging: Staged, audience: str) -> None:
    for node in staging.stage.brokers:
        assert metadata(staging.stage.bootstrap(audience, node)).brokers == {
            n: staging.stage.bootstrap(audience, f"broker-{n}") for n in (1, 2, 3)
        }
    everywhere = staging.stage.bootstrap(audience).split(",")
    assert everywhere == [staging.stage.bootstrap(audience, n) for n in staging.stage.brokers]


def test_toxiproxy_reports_proxies_and_version(staging: Staged, tools: StageTools) -> None:
    host, port = staging.stage.topology.toxiproxy
    version = requests.get(f"http://{host}:{port}/version", timeout=10).json()["version"]
    assert staging.stage.versions()["toxiproxy"] == version == "2.12.0"
    proxies = requests.get(f"http://{host}:{port}/proxies", timeout=10).json()
    assert len(proxies) == 6 * 2 + 3 * 3 + 1
    assert all(p["enabled"] and not p["toxics"] for p in proxies.values())
    assert staging.stage.versions().items() >= tools.versions().items()


def test_postgres_is_reached_through_its_proxy(staging: Staged, tools: StageTools) -> None:
    link = Link("pipeline", POSTGRES)
    with psycopg.connect(staging.stage.database("pipeline")) as proxied:
        assert staging.stage.connections(link) == 1
        address, version = proxied.execute(
            "SELECT host(inet_server_addr()), current_setting('server_version')"
        ).fetchone()
        # The server's address differs from the one we connected to: there is a proxy.
        assert address == staging.stage.topology.postgres[0]
        assert address != staging.stage.topology.postgres_proxy[0]
        assert version.startswith(tools.postgres.version)
        proxied.execute("CREATE TABLE seen (id int)")
        proxied.execute("INSERT INTO seen VALUES (42)")
        proxied.commit()
        with psycopg.connect(staging.stage.database(AUDITOR)) as directly:
            assert directly.execute("SELECT id FROM seen").fetchall() == [(42,)]
            assert staging.stage.connections(link) == 1
        proxied.execute("DROP TABLE seen")
    eventually(lambda: staging.stage.connections(link) == 0, "the connection to be gone")


def test_all_listeners_are_in_the_address_block(staging: Staged) -> None:
    pids = set(marked_processes(staging.processes.marker))
    for process in staging.living:
        pids |= {child.pid for child in psutil.Process(process.session).children(recursive=True)}
    addresses = {
        (unmapped(c.laddr.ip), c.laddr.port)
        for c in psutil.net_connections("inet")
        if c.pid in pids and c.status in {psutil.CONN_LISTEN, psutil.CONN_NONE}
    }
    assert all(a.startswith(f"127.{staging.block.number}.") for a, _ in addresses), addresses
    # 3 brokers × (2 + 4 listeners), 22 proxies, toxiproxy, PostgreSQL
    assert addresses == listeners(staging.block)
    assert len(addresses) == 18 + 22 + 1 + 1


def test_marker_finds_every_process(staging: Staged) -> None:
    names = sorted(marked_processes(staging.processes.marker).values())
    # PostgreSQL's children overwrite their environment. The gate process remains once a test has
    # placed a gate.
    rest = [name for name in names if name not in ("postgres", "python")]
    assert rest == ["java"] * 3 + ["toxiproxy-server"]
    assert "postgres" in names
    assert sorted(p.name for p in staging.living if p.name != "gate") == [
        "broker-1", "broker-2", "broker-3", "postgres", "toxiproxy",
    ]  # fmt: skip


def test_settings_match_server_properties(staging: Staged) -> None:
    settings = staging.stage.settings()
    assert settings["backend"] == "local"
    for node in (1, 2, 3):
        written = (staging.folder / "work" / f"broker-{node}" / "server.properties").read_text()
        for key, value in dict(settings["brokers"]).items():
            assert f"{key}={value}\n" in written
