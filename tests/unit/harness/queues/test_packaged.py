"""Queue brokers that come as Python packages: their locks, configurations and names."""

from __future__ import annotations

from pathlib import Path

import pytest

from onceproof.harness.nats.configuration import ACK_WAIT, JetStream, consumer, stream
from onceproof.harness.nats.server import SERVER as NATS
from onceproof.harness.queues.base import QueueSettings
from onceproof.harness.queues.connections import consumers_of, sender
from onceproof.harness.queues.packaged import Packages, Server
from onceproof.harness.valkey.configuration import Streams
from onceproof.harness.valkey.server import SERVER as VALKEY

DATA = Path("/a folder")


@pytest.mark.parametrize("server", [NATS, VALKEY], ids=lambda server: server.packages.name)
def test_versions_are_those_of_the_lock(server: Server[QueueSettings]) -> None:
    found = server.packages.versions()
    assert set(found) == set(server.packages.names.values())
    for package, name in server.packages.names.items():
        assert f"{package}=={found[name]} \\" in server.packages.lock.read_text()


def test_packages_of_no_interest_have_no_version(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    lock.write_text("server==1.2 \\\n    --hash=sha256:00\nother==3 ; python_version < '3'\n")
    assert Packages(name="x", lock=lock, names={"server": "it"}).versions() == {"it": "1.2"}


def test_nats_listens_and_stores_where_it_is_told() -> None:
    text = NATS.configuration(JetStream(), "127.9.0.7:20005", DATA)
    assert 'listen: "127.9.0.7:20005"' in text
    assert 'store_dir: "/a folder"' in text
    assert NATS.command(Path("/packages"), DATA) == [
        Path("/packages/bin/nats-server"), "-c", DATA,
    ]  # fmt: skip


def test_streams_and_consumers_have_the_settings() -> None:
    settings = JetStream(window=1.5)
    assert stream("orders", settings)["duplicate_window"] == 1_500_000_000
    assert consumer(settings)["ack_policy"] == "explicit"
    assert consumer(settings)["ack_wait"] == ACK_WAIT * 1e9
    assert consumer(JetStream(acknowledged=False))["ack_policy"] == "none"
    assert settings.as_configured()["duplicate_window"] == "1.5 s"


@pytest.mark.parametrize(
    ("settings", "word"),
    [(Streams(), "yes"), (Streams(append_only=False), "no")],
)
def test_valkey_keeps_a_log_unless_it_is_told_not_to(settings: Streams, word: str) -> None:
    text = VALKEY.configuration(settings, "127.9.0.7:20005", DATA).splitlines()
    assert {"bind 127.9.0.7", "port 20005", 'dir "/a folder"'} < set(text)
    assert f"appendonly {word}" in text


@pytest.mark.parametrize(
    ("settings", "lacks"),
    [
        (JetStream(), ()),
        (JetStream(window=ACK_WAIT - 1), ("narrow",)),
        (Streams(), ()),
        (Streams(append_only=False), ("forgetful",)),
    ],
)
def test_broken_twins_are_named(settings: QueueSettings, lacks: tuple[str, ...]) -> None:
    assert settings.lacks == lacks


def test_names_of_connections_begin_with_the_audience() -> None:
    assert sender("producer-0").startswith("producer/")
    assert consumers_of("payments").startswith("pipeline/payments/")
    assert not consumers_of("payments-2").startswith(consumers_of("payments"))
