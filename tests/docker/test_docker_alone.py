"""`docker compose up` alone starts a healthy cluster that clients can use."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import requests
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient

from onceproof.harness.kafka.topics import create_topics
from tests.docker.staging import docker

FILE = Path(__file__).parents[2] / "docker-compose.yml"
COMPOSE = ("compose", "--file", str(FILE))
PRODUCERS = ",".join(f"127.0.0.1:1940{n}" for n in (1, 2, 3))


@pytest.fixture(scope="module", autouse=True)
def up() -> Iterator[None]:
    try:
        docker(*COMPOSE, "up", "--detach", "--wait")
        yield
    finally:
        docker(*COMPOSE, "down", "--volumes")


def test_all_services_are_healthy() -> None:
    lines = docker(*COMPOSE, "ps", "--format", "{{.Service}} {{.Health}}").splitlines()
    services = ("broker-1", "broker-2", "broker-3", "postgres", "toxiproxy")
    assert sorted(lines) == [f"{service} healthy" for service in services]


def test_ports_are_published_on_loopback_only() -> None:
    ports = docker(*COMPOSE, "ps", "--format", "{{.Ports}}").replace("\n", ", ").split(", ")
    published = [port for port in ports if "->" in port]
    assert published
    assert all(port.startswith("127.0.0.1:") for port in published)


def test_producer_on_the_host_reaches_every_partition() -> None:
    metadata = AdminClient({"bootstrap.servers": PRODUCERS}).list_topics(timeout=20)
    assert {f"{b.host}:{b.port}" for b in metadata.brokers.values()} == set(PRODUCERS.split(","))
    create_topics(PRODUCERS, ["alone"], partitions=3)
    outcomes: list[object] = []
    producer = Producer({"bootstrap.servers": PRODUCERS, "acks": "all"})
    for partition in range(3):
        producer.produce(
            "alone", b"x", partition=partition, on_delivery=lambda e, _: outcomes.append(e)
        )
    producer.flush(30)
    assert outcomes == [None] * 3


def test_database_answers_through_its_proxy() -> None:
    with psycopg.connect("host=127.0.0.1 port=19509 user=onceproof dbname=postgres") as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_all_proxies_are_enabled_without_toxics() -> None:
    proxies = requests.get("http://127.0.0.1:19800/proxies", timeout=10).json()
    assert len(proxies) == 6 * 2 + 3 * 3 + 1
    assert all(p["enabled"] and not p["toxics"] for p in proxies.values())
