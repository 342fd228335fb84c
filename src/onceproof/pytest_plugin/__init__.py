"""The pytest plugin: fixtures and a marker, and nothing at all for who uses neither.

Nothing of onceproof runs in the process of the tests. Brokers, scenarios and
verdicts are those of the command, in a process of its own, so that `reports` or `scenarios` may be
packages of the project under test, and a test that crashes leaves nothing behind.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from onceproof.pytest_plugin.cluster import Cluster
    from onceproof.pytest_plugin.judged import Judged, Verify
    from onceproof.pytest_plugin.lab import HeldLab

MARKER: Final = "onceproof_scenario"
PREFIX: Final = "onceproof_"
"""Of the properties that tests record."""
_JUDGED: Final = pytest.StashKey["Judged"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--onceproof-seed`, and where runs are put."""
    group = parser.getgroup("onceproof", "exactly-once claims on trial")
    group.addoption(
        "--onceproof-seed", type=int, metavar="N", help="seed of every scenario and cluster"
    )
    group.addoption("--onceproof-backend", metavar="WORD", help="backend instead of the ini's")
    parser.addini("onceproof_out", "folder that gets run folders, below rootdir", default="runs")
    parser.addini("onceproof_backend", "local, docker, or external:FILE", default="local")


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line(
        "markers",
        f"{MARKER}(name, seed=None, backend=None): run a scenario of onceproof before the test; "
        "the test fails unless every claim is as the scenario expects.",
    )


def pytest_itemcollected(item: pytest.Item) -> None:
    """Who is marked needs the verdict, whether or not it asks for it."""
    names = getattr(item, "fixturenames", None)
    if names is not None and item.get_closest_marker(MARKER) and "onceproof_judged" not in names:
        names.append("onceproof_judged")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """What the scenario came to is the test's own failure; that it came to nothing is an error."""
    judged = item.stash.get(_JUDGED, None)
    if judged is not None:
        judged.check()


@pytest.fixture(scope="session")
def onceproof_lab(request: pytest.FixtureRequest) -> Iterator[HeldLab]:
    """The brokers of this pytest process: three, behind proxies, brought up by the first who asks.

    With xdist each worker has its own.
    """
    from onceproof.pytest_plugin.lab import HeldLab
    from onceproof.pytest_plugin.options import Options

    with HeldLab(Options.of(request.config)) as lab:
        yield lab


@pytest.fixture
def onceproof_cluster(onceproof_lab: HeldLab, request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """A real cluster with faults; whatever a test did to it is healed at its end.

    The test fails, besides its own reasons, if a fault never took effect: it proves nothing then.
    """
    from onceproof.pytest_plugin.cluster import Cluster

    cluster = Cluster(onceproof_lab)
    yield cluster
    _record(cluster.properties(), request)
    cluster.close()


@pytest.fixture
def onceproof_judged(request: pytest.FixtureRequest) -> Judged:
    """What the scenario came to that the test is marked with; unexpected, it fails the test."""
    from onceproof.pytest_plugin.judged import scenario
    from onceproof.pytest_plugin.options import Options

    marker = request.node.get_closest_marker(MARKER)
    if marker is None:
        pytest.fail(f"mark the test: @pytest.mark.{MARKER}(NAME)", pytrace=False)
    judged = scenario(Options.of(request.config), *marker.args, **marker.kwargs)
    _record(judged.properties(), request)
    request.node.stash[_JUDGED] = judged
    return judged


@pytest.fixture
def onceproof_verify(request: pytest.FixtureRequest) -> Verify:
    """Put a pipeline on trial: call it with the words of `onceproof verify`."""
    from onceproof.pytest_plugin.judged import verify
    from onceproof.pytest_plugin.options import Options

    def run(*words: str) -> Judged:
        judged = verify(Options.of(request.config), words)
        _record(judged.properties(), request)
        judged.check()
        return judged

    return run


def _record(properties: Mapping[str, str], request: pytest.FixtureRequest) -> None:
    # As `record_property` does, which warns of it where JUnit's files are of pytest's usual form.
    request.node.user_properties.extend(
        (PREFIX + name, value) for name, value in properties.items()
    )


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One line for each test that had to do with onceproof, and where to read on."""
    from onceproof.pytest_plugin.summary import lines

    summary = lines(
        report
        for some in terminalreporter.stats.values()
        for report in some
        if isinstance(report, pytest.TestReport)
    )
    if summary:
        terminalreporter.section("onceproof")
        for line in summary:
            terminalreporter.write_line(line)
