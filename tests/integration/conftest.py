"""One real stage for all tests of this folder, repaired after each of them."""

from __future__ import annotations

import contextlib
import gc
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from onceproof.harness.kafka.topic import Topic
from onceproof.harness.kafka.topics import create_topics
from onceproof.harness.links.disturbances import Disturbance, Hold
from onceproof.harness.links.topology import AUDITOR, Link
from onceproof.harness.tools.setup import StageTools, ensure
from tests.integration.staging import Staged, eventually, staged, whole_everywhere

_open = contextlib.ExitStack()
_numbers = itertools.count()


@pytest.fixture(scope="session")
def tools() -> StageTools:
    stage_tools = ensure().stage
    assert stage_tools is not None
    return stage_tools


@pytest.fixture(scope="session")
def shared(tools: StageTools, tmp_path_factory: pytest.TempPathFactory) -> Staged:
    return _open.enter_context(staged(tmp_path_factory.mktemp("stage") / "run", tools))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> Iterator[None]:
    """Stop the stage after the last test of this folder, not at the end of the session."""
    yield
    if nextitem is None or nextitem.path.parent != Path(__file__).parent:
        _open.close()


def pytest_sessionfinish() -> None:
    _open.close()


@pytest.fixture
def staging(shared: Staged) -> Iterator[Staged]:
    """The shared stage; a test that leaves it disturbed fails, and the stage is repaired."""
    assert shared.stage.disturbed() == {}
    yield shared
    # An exception that a test caught keeps its frames in a reference cycle, and with them their
    # clients: without a collection these stay connected into a later test.
    gc.collect()
    remaining = shared.stage.disturbed()
    if remaining:
        for node in shared.stage.brokers:
            if shared.stage.paused(node):
                shared.stage.resume(node)
            if not shared.stage.alive(node):
                shared.stage.restart(node)
    for link in shared.stage.links():
        shared.stage.ungate(link)  # healing leaves gates, and `disturbed` does not report them
    assert remaining == {}


@pytest.fixture
def topic(staging: Staged) -> Callable[..., str]:
    """Create a topic and wait until every broker knows it."""

    def make(partitions: int = 1, largest: int | None = None) -> str:
        name = f"topic-{next(_numbers)}"
        settings = Topic(name=name, partitions=partitions, largest=largest).settings
        bootstrap = staging.stage.bootstrap(AUDITOR)
        create_topics(bootstrap, [name], partitions=partitions, settings=settings)
        eventually(lambda: whole_everywhere(staging.stage, name), f"{name} on every broker")
        return name

    return make


@pytest.fixture
def disturb(staging: Staged) -> Iterator[Callable[[Link, Disturbance], Hold]]:
    """Disturb links; every disturbance is released at teardown."""
    with contextlib.ExitStack() as holds:
        yield lambda link, how: holds.enter_context(staging.stage.disturb(link, how))
