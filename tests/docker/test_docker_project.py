"""`onceproof verify --compose`: a service of a project, with its environment as it is."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import kafka
import pytest

from onceproof.harness.wait import wait_until
from tests.docker.images import BASE
from tests.docker.staging import docker, labelled_resources, resources_of_run
from tests.end_to_end.command import Started, onceproof

PROJECT = Path(__file__).parent / "project" / "compose.yaml"
BROKERS = ("--env", "KAFKA_BOOTSTRAP_SERVERS={bootstrap}")


@pytest.fixture(autouse=True)
def project(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("COPIER_IMAGE", BASE)
    monkeypatch.setenv("KAFKA_PYTHON", str(Path(kafka.__file__).parent))
    yield
    assert labelled_resources() == []


def verify(service: str, runs: Path, *more: str) -> list[str]:
    return [
        *("verify", "--compose", str(PROJECT), "--service", service, "--output", "copied"),
        *("--claim", "at-least-once", "--seed", "3", "--preset", "gentle", "--out", str(runs)),
        *more,
    ]


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("service", "verdict"), [("hasty", "violated"), ("copier", "holds")])
def test_verify_judges_the_service(tmp_path: Path, service: str, verdict: str) -> None:
    done = onceproof(*verify(service, tmp_path / "runs", *BROKERS), timeout=1700)
    assert set(done.verdicts().values()) == {verdict}, done.out + done.err
    assert "killed by the Docker engine, with 1 containers" in done.err


def test_killed_harness_leaves_neither_container_nor_volume(tmp_path: Path) -> None:
    log = tmp_path / "log"
    run = Started(*verify("copier", tmp_path / "runs", "--dry-run", *BROKERS), log=log)
    pid = run.popen.pid
    wait_until(
        lambda: len(resources_of_run(pid)) > 1, what="container and volume", seconds=120,
        seen=log.read_text,
    )  # fmt: skip
    assert f"onceproof-{pid}" in docker("volume", "ls", "--format", "{{.Name}}")
    os.kill(pid, signal.SIGKILL)
    run.popen.wait()
    wait_until(
        lambda: not resources_of_run(pid), what="nothing left", seconds=30,
        seen=lambda: resources_of_run(pid),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("service", "message"),
    [
        ("copier", "--env KAFKA_BOOTSTRAP_SERVERS={bootstrap}"),
        ("none", "it has copier, database, hasty, kafka"),
        ("kafka", "`docker compose --file"),
    ],
)
def test_unusable_service_is_refused(tmp_path: Path, service: str, message: str) -> None:
    done = onceproof(*verify(service, tmp_path / "runs"))
    assert done.code == 2
    assert message in done.err
