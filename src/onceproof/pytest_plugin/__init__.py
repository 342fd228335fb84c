"""The pytest plugin: fixtures and a marker, which import nothing until they are used.

Brokers, scenarios and verdicts run as the command `onceproof` in a separate process. So `reports`
or `scenarios` may be packages of the project under test, and a crashed test leaves nothing behind.
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
"""Prefix of the properties that tests record."""
_JUDGED: Final = pytest.StashKey["Judged"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the command line and ini options."""
    group = parser.getgroup("onceproof", "tests of exactly-once claims")
    group.addoption(
        "--onceproof-seed", type=int, metavar="N", help="seed of every scenario and cluster"
    )
    group.addoption("--onceproof-backend", metavar="WORD", help="backend; overrides the ini option")
    group.addoption(
        "--onceproof-with",
        metavar="NAME=VERSION",
        action="append",
        help="version of a runtime; overrides the ini option; repeatable",
    )
    parser.addini("onceproof_with", "versions of runtimes, NAME=VERSION", type="args", default=[])
    parser.addini("onceproof_out", "folder for run folders, below rootdir", default="runs")
    parser.addini("onceproof_backend", "local, docker, or external:FILE", default="local")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line(
        "markers",
        f"{MARKER}(name, seed=None, backend=None): run a scenario of onceproof before the test; "
        "the test fails unless every claim is as the scenario expects.",
    )


def pytest_itemcollected(item: pytest.Item) -> None:
    """Request the fixture `onceproof_judged` for each marked test."""
    names = getattr(item, "fixturenames", None)
    if names is not None and item.get_closest_marker(MARKER) and "onceproof_judged" not in names:
        names.append("onceproof_judged")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """Fail the test on a wrong verdict; a run without a verdict is a setup error instead."""
    judged = item.stash.get(_JUDGED, None)
    if judged is not None:
        judged.check()


@pytest.fixture(scope="session")
def _onceproof_environment(request: pytest.FixtureRequest) -> None:
    """Install the packages that the command needs, if this environment does not have them."""
    from onceproof.pytest_plugin.environment import install

    install(request.config)


@pytest.fixture(scope="session")
def onceproof_lab(
    request: pytest.FixtureRequest, _onceproof_environment: None
) -> Iterator[HeldLab]:
    """Yield three brokers behind proxies, started on first use.

    Each xdist worker has its own.
    """
    from onceproof.pytest_plugin.lab import HeldLab
    from onceproof.pytest_plugin.options import Options

    with HeldLab(Options.of(request.config)) as lab:
        yield lab


@pytest.fixture
def onceproof_cluster(onceproof_lab: HeldLab, request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """Yield a real cluster with faults, which are healed at the end of the test.

    The test also fails if a fault never took effect, because it then proves nothing.
    """
    from onceproof.pytest_plugin.cluster import Cluster

    cluster = Cluster(onceproof_lab)
    yield cluster
    _record(cluster.properties(), request)
    cluster.close()


@pytest.fixture
def onceproof_judged(request: pytest.FixtureRequest, _onceproof_environment: None) -> Judged:
    """Run the scenario of the test's marker; the test fails unless every claim is as expected."""
    from onceproof.pytest_plugin.judged import scenario
    from onceproof.pytest_plugin.options import Options

    marker = request.node.get_closest_marker(MARKER)
    if marker is None:
        pytest.fail(f"the test needs the marker @pytest.mark.{MARKER}(NAME)", pytrace=False)
    judged = scenario(Options.of(request.config), *marker.args, **marker.kwargs)
    _record(judged.properties(), request)
    request.node.stash[_JUDGED] = judged
    return judged


@pytest.fixture
def onceproof_verify(request: pytest.FixtureRequest, _onceproof_environment: None) -> Verify:
    """Return a function that runs `onceproof verify` and fails unless every claim holds."""
    from onceproof.pytest_plugin.judged import verify
    from onceproof.pytest_plugin.options import Options

    def run(*words: str) -> Judged:
        judged = verify(Options.of(request.config), words)
        _record(judged.properties(), request)
        judged.check()
        return judged

    return run


def _record(properties: Mapping[str, str], request: pytest.FixtureRequest) -> None:
    # Like `record_property`, which warns with pytest's default JUnit family.
    request.node.user_properties.extend(
        (PREFIX + name, value) for name, value in properties.items()
    )


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print a line and the report's path for each test that used onceproof."""
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
