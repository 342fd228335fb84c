"""Docker engine, images and a shared stage in containers.

These tests install missing software, so they run only with `make test-docker`.
"""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from onceproof.harness.kafka.topics import create_topics
from onceproof.harness.links.disturbances import Disturbance, Hold
from onceproof.harness.links.topology import AUDITOR, Link
from onceproof.harness.tools.setup import ensure
from tests.docker.engine import NoEngine, engine
from tests.docker.images import build
from tests.docker.staging import ContainerStage, container_stage
from tests.integration.staging import eventually, whole_everywhere

_numbers = itertools.count()


@pytest.fixture(scope="session", autouse=True)
def images(request: pytest.FixtureRequest) -> Iterator[dict[str, str]]:
    """Start the engine, build the images and set the variables that name them.

    Without an engine the session exits: as a failure, unless ONCEPROOF_DOCKER is `if-possible`.
    Progress is printed past pytest's capture, because installing and building take minutes.
    """
    tools = ensure().stage
    assert tools is not None
    capture = request.config.pluginmanager.getplugin("capturemanager")
    with contextlib.ExitStack() as stack:
        try:
            with capture.global_and_fixture_disabled():
                stack.enter_context(engine())
                variables = build(tools)
        except NoEngine as error:
            optional = os.environ.get("ONCEPROOF_DOCKER") == "if-possible"
            pytest.exit(str(error), returncode=0 if optional else 3)
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        for name, image in variables.items():
            patch.setenv(name, image)
        yield variables


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ContainerStage]:
    with container_stage(tmp_path_factory.mktemp("stage") / "run") as stage:
        yield stage


@pytest.fixture
def staging(shared: ContainerStage) -> Iterator[ContainerStage]:
    """The shared stage; a test that leaves it disturbed fails, and the stage is repaired."""
    assert shared.stage.disturbed() == {}
    yield shared
    remaining = shared.stage.disturbed()
    for node in shared.stage.brokers if remaining else ():
        if shared.stage.paused(node):
            shared.stage.resume(node)
        if not shared.stage.alive(node):
            shared.stage.restart(node)
    assert remaining == {}


@pytest.fixture
def disturb(staging: ContainerStage) -> Iterator[Callable[[Link, Disturbance], Hold]]:
    """Disturb links; every disturbance is released at teardown."""
    with contextlib.ExitStack() as holds:
        yield lambda link, how: holds.enter_context(staging.stage.disturb(link, how))


@pytest.fixture
def topic(staging: ContainerStage) -> Callable[..., str]:
    """Create a topic and wait until every broker knows it."""

    def make(partitions: int = 1) -> str:
        name = f"topic-{next(_numbers)}"
        create_topics(staging.stage.bootstrap(AUDITOR), [name], partitions=partitions)
        eventually(lambda: whole_everywhere(staging.stage, name), f"{name} on every broker")
        return name

    return make


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.integration)
            item.add_marker(pytest.mark.timeout(1800))
