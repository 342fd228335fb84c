"""One container and its lives, without a stage around it."""

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
    """It speaks at once, is silent, and stays until it is ended."""
    made = connect().client.containers.run(
        BASE, ["sh", "-c", "echo first; sleep 1; echo second; exec sleep 600"], detach=True
    )
    yield made
    made.remove(force=True, v=True)


def said(log: Path) -> str:
    """What the log holds; it begins some moments after its life."""
    return log.read_text() if log.exists() else ""


def test_each_life_has_a_whole_log_of_its_own(container: Any, tmp_path: Path) -> None:
    told: list[tuple[str, str | None]] = []
    node = DockerNode(
        "node",
        container,
        logs=tmp_path,
        on_change=lambda life: told.append((life.instance, life.how)),
    )
    for life in (1, 2):
        log = tmp_path / f"node.{life}.log"
        words = partial(said, log)
        eventually(lambda words=words: words() == "first\nsecond\n", "both words", words)
        assert node.alive()
        node.freeze()
        assert node.kill("a test") == f"node#{life} ended by signal 9"
        assert not node.alive()
        if life == 1:
            node.start()
    assert told == [
        ("node#1", None), ("node#1", "a test"), ("node#2", None), ("node#2", "a test"),
    ]  # fmt: skip
    node.end("torn down")  # it has ended, and that is fine
    assert len(told) == 4


def test_a_paused_container_can_be_ended(container: Any, tmp_path: Path) -> None:
    told: list[str | None] = []
    node = DockerNode(
        "node", container, logs=tmp_path, on_change=lambda life: told.append(life.how)
    )
    assert node.pause() == "node#1 is paused: the engine reports it as paused"
    assert node.paused()
    assert node.alive()
    node.end("torn down")
    assert not node.alive()
    assert not node.paused()
    assert told == [None, "torn down"]


def test_who_does_not_end_when_asked_is_told(container: Any, tmp_path: Path) -> None:
    node = DockerNode("node", container, logs=tmp_path, on_change=lambda life: None)
    # A shell, and a `sleep` in its place: as the first process of a container it ignores SIGTERM.
    node.ask_to_end("SIGTERM")
    with pytest.raises(StageTrouble, match="node#1 did not end within 1 s when asked to"):
        node.ended("a test", seconds=1)
    assert not node.alive()
