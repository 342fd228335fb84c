"""`DockerNode`: one container and its instances, without a stage."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.stage.docker_node import DockerNode
from onceproof.harness.tools.docker_engine import connect
from tests.docker.images import BASE
from tests.integration.staging import eventually


@pytest.fixture
def container() -> Iterator[Any]:
    """A container that logs `first`, a second later `second`, and keeps running."""
    made = connect().client.containers.run(
        BASE, ["sh", "-c", "echo first; sleep 1; echo second; exec sleep 600"], detach=True
    )
    yield made
    made.remove(force=True, v=True)


def read_log(log: Path) -> str:
    """The log, which may appear some moments after its instance; empty until then."""
    return log.read_text() if log.exists() else ""


def test_each_instance_has_a_complete_log(container: Any, tmp_path: Path) -> None:
    changes: list[tuple[str, str | None]] = []
    node = DockerNode(
        "node",
        container,
        logs=tmp_path,
        on_change=lambda life: changes.append((life.instance, life.how)),
    )
    for life in (1, 2):
        log = tmp_path / f"node.{life}.log"
        content = partial(read_log, log)
        eventually(lambda content=content: content() == "first\nsecond\n", "both words", content)
        assert node.alive()
        node.freeze()
        assert node.kill("a test") == f"node#{life} ended by signal 9"
        assert not node.alive()
        if life == 1:
            node.start()
    assert changes == [
        ("node#1", None), ("node#1", "a test"), ("node#2", None), ("node#2", "a test"),
    ]  # fmt: skip
    node.end("torn down")  # it has ended already: no error
    assert len(changes) == 4


def test_end_ends_paused_container(container: Any, tmp_path: Path) -> None:
    ends: list[str | None] = []
    node = DockerNode(
        "node", container, logs=tmp_path, on_change=lambda life: ends.append(life.how)
    )
    assert node.pause() == "node#1 is paused: the engine reports it as paused"
    assert node.paused()
    assert node.alive()
    node.end("torn down")
    assert not node.alive()
    assert not node.paused()
    assert ends == [None, "torn down"]


def test_ended_reports_container_that_ignores_sigterm(container: Any, tmp_path: Path) -> None:
    node = DockerNode("node", container, logs=tmp_path, on_change=lambda life: None)
    # As the first process of a container, the shell (later `sleep`) ignores SIGTERM.
    node.ask_to_end("SIGTERM")
    with pytest.raises(StageTrouble, match="node#1 did not end within 1 s when asked to"):
        node.ended("a test", seconds=1)
    assert not node.alive()
