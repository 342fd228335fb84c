"""The queue broker and the HTTP service in containers: lives, links, logs."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPException
from typing import Any

import pytest

from onceproof.harness.artemis.configuration import Artemis
from onceproof.harness.faults.links.probe import Probe
from onceproof.harness.http_service.settings import HttpSettings
from onceproof.harness.links.disturbances import CUT
from onceproof.harness.links.topology import HTTP_SERVICE, QUEUE_BROKER, Link
from onceproof.harness.queues.auditor import QueueTrouble
from onceproof.harness.queues.base import Queues
from onceproof.harness.queues.log import QueueLog
from onceproof.harness.stage.base import Stage
from onceproof.harness.tools.setup import ensure
from tests.docker.staging import ContainerStage, container_stage, labelled_resources

SERVICES = (QUEUE_BROKER, HTTP_SERVICE)


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ContainerStage]:
    queues = Queues(addresses=("payments",), settings=Artemis(), tools=ensure(stage=False))
    http = HttpSettings(paths=("plain",), key="Idempotency-Key")
    folder = tmp_path_factory.mktemp("services")
    with container_stage(folder, brokers=0, queues=queues, http=http) as running:
        yield running
        assert running.stage.disturbed() == {}
        marker = running.processes.marker
    assert labelled_resources(marker) == []


@pytest.fixture
def stage(up: ContainerStage) -> Stage:
    return up.stage


def post(stage: Stage, body: str, key: str) -> dict[str, Any] | None:
    """The answer of the HTTP service through its link; None: the connection was lost."""
    with contextlib.closing(HTTPConnection(stage.http_address, timeout=10)) as connection:
        try:
            connection.request("POST", "/plain", body, {"Idempotency-Key": key})
            answer: dict[str, Any] = json.loads(connection.getresponse().read())
        except (OSError, HTTPException):
            return None
    return answer


def test_stage_has_no_kafka_brokers(stage: Stage) -> None:
    assert stage.brokers == ()
    assert stage.nodes == ("postgres", *SERVICES)
    assert {Link("producer", QUEUE_BROKER), Link("pipeline", HTTP_SERVICE)} < set(stage.links())
    assert all("broker-" not in str(link) for link in stage.links())
    assert "image of artemis" in stage.versions()
    assert {"queue broker", "HTTP service"} < stage.settings().keys()


@pytest.mark.parametrize("end", ["kill", "shut_down"])
def test_sent_messages_survive_the_end_of_the_queue_broker(stage: Stage, end: str) -> None:
    log = QueueLog(stage.queues(), "payments")
    before = log.end()
    rows = [{"record": f"p-{before + i}", "key": "k", "value": "{}"} for i in range(3)]
    stage.queues().send("payments", rows)
    getattr(stage, end)(QUEUE_BROKER, "by a test")
    assert stage.disturbed()[QUEUE_BROKER] == "not running"
    with pytest.raises(QueueTrouble):
        log.read()
    stage.restart(QUEUE_BROKER)
    assert len(log.read().entries) == before + 3


def test_executed_requests_survive_a_kill_of_the_http_service(stage: Stage) -> None:
    first = post(stage, "a", "one")
    assert first is not None
    assert "signal 9" in stage.kill(HTTP_SERVICE, "by a test")
    assert post(stage, "b", "two") is None
    assert [each.body for each in stage.http_service().requests()] == ["a"]
    stage.restart(HTTP_SERVICE)
    assert post(stage, "a", "one") == first
    assert "status 0" in stage.shut_down(HTTP_SERVICE, "by a test")
    stage.restart(HTTP_SERVICE)
    assert post(stage, "b", "two") == {"number": 2}


@pytest.mark.parametrize("name", SERVICES)
def test_paused_service_does_not_answer(stage: Stage, name: str) -> None:
    assert "paused" in stage.pause(name)
    assert stage.disturbed() == {name: "paused"}
    if name == HTTP_SERVICE:
        assert not stage.http_service().answers(0.5)
    else:
        with pytest.raises(QueueTrouble):
            stage.queues().counts("payments")
    stage.resume(name)
    assert stage.http_service().answers()
    assert stage.queues().counts("payments").delivering == 0


@pytest.mark.parametrize("link", [Link("producer", QUEUE_BROKER), Link("pipeline", HTTP_SERVICE)])
def test_cut_link_carries_nothing(stage: Stage, link: Link) -> None:
    with Probe(stage, link) as probe:
        probe.ask()
        assert stage.connections(link) == 1
        hold = stage.disturb(link, CUT)
        assert str(link) in stage.disturbed()
        assert probe.until_closed() == 0
    hold.release()
    with Probe(stage, link) as probe:
        probe.ask()


def test_acceptors_tell_audiences_apart(stage: Stage) -> None:
    with Probe(stage, Link("producer", QUEUE_BROKER)) as probe:
        probe.ask()
        assert (stage.connected("producer"), stage.connected("pipeline")) == (1, 0)
