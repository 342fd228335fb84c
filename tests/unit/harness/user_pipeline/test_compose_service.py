"""A service of a compose project: what leads elsewhere, and what stays of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest

from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.tools.docker_engine import Engine
from onceproof.harness.user_pipeline.compose_service import ComposeService

OTHERS = {
    "kafka": {
        "image": "apache/kafka:4.2.0",
        "container_name": "broker",
        "networks": {"default": {"aliases": ["kafka.local"]}, "other": None},
    },
    "db": {"image": "postgres:17"},
    "cache": {"image": "redis:8"},
}


def service(**said: Any) -> ComposeService:
    project = {
        "name": "shop",
        "services": {**OTHERS, "app": said},
        "volumes": {"state": None, "shared": {"external": True, "name": "shared"}},
        "secrets": {"key": {"file": "/key"}},
    }
    engine = cast("Engine", None)
    return ComposeService(engine=engine, file=Path("compose.yaml"), name="app", project=project)


@pytest.mark.parametrize(
    ("name", "value", "remedy"),
    [
        ("BROKERS", "kafka:9092", "--env BROKERS={bootstrap}"),
        ("BROKERS", "PLAINTEXT://kafka:9092,PLAINTEXT://other:9092", "--env BROKERS={bootstrap}"),
        ("DATABASE", "postgresql://u:p@db:5432/shop", "--env DATABASE={database_url}"),
        ("DATABASE", "postgresql://db/shop", "--env DATABASE={database_url}"),
        ("PGHOST", "db", "--env PGHOST={database_url}"),
        ("REDIS_URL", "redis://cache", "--env REDIS_URL=…"),
        ("BROKERS", "broker:9092", "--env BROKERS={bootstrap}"),
        ("BROKERS", "kafka.local:9092", "--env BROKERS={bootstrap}"),
    ],
)
def test_variable_that_leads_to_another_service_is_refused(
    name: str, value: str, remedy: str
) -> None:
    app = service(environment={name: value})
    with pytest.raises(StageTrouble, match="does not run in a trial") as told:
        app.check((), ())
    assert str(told.value).endswith(f"give {remedy}")
    assert ":9092" not in str(told.value)
    assert "u:p@" not in str(told.value)
    app.check({name}, ())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("GROUP_ID", "kafka"),
        ("PGUSER", "db"),
        ("BROKERS", "kafka-1:9092"),
        ("BROKERS", "my.kafka:9092"),
        ("URL", "https://db.example.org/"),
        ("SELF_URL", "http://app:8080/"),
        ("UNSET", None),
    ],
)
def test_other_variables_stay_as_they_are(name: str, value: str | None) -> None:
    service(environment={name: value}).check((), ())


def test_arguments_are_checked_unless_they_are_replaced() -> None:
    app = service(command=["copy", "--brokers", "kafka:9092"])
    with pytest.raises(StageTrouble, match="the command after --"):
        app.check((), ())
    app.check((), ("copy", "{bootstrap}"))
    with pytest.raises(StageTrouble, match="the command after --"):
        service(entrypoint=["copy", "kafka:9092"]).check((), ("{bootstrap}",))


def test_only_ties_to_the_project_are_left_out(tmp_path: Path) -> None:
    said = {
        "environment": {"A": "$$b"},
        "secrets": [{"source": "key"}],
        "user": "1000",
        "deploy": {"resources": {"limits": {"memory": "1"}}},
        "volumes": [{"type": "volume", "source": "state", "target": "/state"}],
        "labels": {"team": "payments"},
    }
    ties = {
        "ports": ["80:80"],
        "networks": {"default": None},
        "depends_on": {"kafka": {}},
        "restart": "always",
        "build": {"context": "."},
        "container_name": "app",
    }
    file = tmp_path / "compose.json"
    service(**said, **ties).write(file, {"onceproof.run": "1"})
    written = json.loads(file.read_text())
    assert written["services"] == {
        "app": {
            **said,
            "image": "shop-app",
            "network_mode": "host",
            "labels": {"team": "payments", "onceproof.run": "1"},
        }
    }
    assert written["volumes"] == {
        "state": {"labels": {"onceproof.run": "1"}},
    }
    assert written["secrets"] == {"key": {"file": "/key"}}


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"pid": "service:kafka"}, "has pid: service:kafka"),
        ({"network_mode": "service:kafka"}, "has network_mode: service:kafka"),
        ({"volumes_from": ["kafka"]}, "has volumes_from"),
        (
            {"volumes": [{"type": "volume", "source": "shared", "target": "/s"}]},
            "external volume shared",
        ),
    ],
)
def test_what_belongs_to_others_is_refused(said: dict[str, Any], message: str) -> None:
    with pytest.raises(StageTrouble, match=message):
        service(**said).check((), ())


def test_password_in_an_argument_is_not_told() -> None:
    with pytest.raises(StageTrouble) as told:
        service(command=["copy", "postgresql://u:secret@db:5432/shop"]).check((), ())
    assert "secret" not in str(told.value)
    assert "//…@db:5432" in str(told.value)
