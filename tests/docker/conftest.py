"""An engine and images for the tests of this folder; a stage in containers, whole after each test.

These tests install what is missing, so they run only when asked for by
`make test-docker`.
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
from tests.docker.staging import Contained, contained
from tests.integration.staging import eventually, whole_everywhere

_numbers = itertools.count()


@pytest.fixture(scope="session", autouse=True)
def images(request: pytest.FixtureRequest) -> Iterator[dict[str, str]]:
    """The engine and the variables that name the images, for everything that is started here.

    Without an engine nothing here can be tried, so that ends the session, in one sentence: as a
    failure, unless ONCEPROOF_DOCKER is `if-possible`. What is installed and built is told as it
    goes on, because it takes minutes.
    """
    tools = ensure().stage
    assert tools is not None
    capture = request.config.pluginmanager.getplugin("capturemanager")
    with contextlib.ExitStack() as stack:
        try:
            with capture.global_and_fixture_disabled():
                stack.enter_context(engine())
                named = build(tools)
        except NoEngine as error:
            optional = os.environ.get("ONCEPROOF_DOCKER") == "if-possible"
            pytest.exit(str(error), returncode=0 if optional else 3)
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        for name, image in named.items():
            patch.setenv(name, image)
        yield named


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Contained]:
    with contained(tmp_path_factory.mktemp("stage") / "run") as found:
        yield found


@pytest.fixture
def staging(shared: Contained) -> Iterator[Contained]:
    """The stage, undisturbed; a test that leaves it otherwise fails, and the next one does not."""
    assert shared.stage.disturbed() == {}
    yield shared
    left = shared.stage.disturbed()
    for node in shared.stage.brokers if left else ():
        if shared.stage.paused(node):
            shared.stage.resume(node)
        if not shared.stage.alive(node):
            shared.stage.restart(node)
    assert left == {}


@pytest.fixture
def disturb(staging: Contained) -> Iterator[Callable[[Link, Disturbance], Hold]]:
    """Disturb links; whatever happens to the test, what it holds is released."""
    with contextlib.ExitStack() as holds:
        yield lambda link, how: holds.enter_context(staging.stage.disturb(link, how))


@pytest.fixture
def topic(staging: Contained) -> Callable[..., str]:
    """Make a topic of one's own."""

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
