"""The command runs where its packages are."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import nullcontext
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from onceproof import entering
from onceproof.harness.tools import own_environment
from onceproof.harness.tools.error import SetupError
from onceproof.harness.tools.python_file import import_file
from onceproof.outside import CALLER_PATH
from onceproof.pytest_plugin import environment

NUMBERS = st.lists(st.integers(0, 12), min_size=1, max_size=4).map(tuple)
REQUIRES = [
    "typer<0.29",
    "duckdb>=1.2; extra == 'check'",
    "onceproof[check]; extra == 'full'",
    "pyspark==4.0.0; extra == 'full'",
    'pandas<3,>=2.2; extra == "full"',
    "psycopg[binary]>=3.2; extra == 'full'",
    "sphinx; extra == 'dev'",
]
HAS = {"onceproof": "0.1.0", "duckdb": "1.2", "pyspark": "4.0", "pandas": "2.3.3", "psycopg": "4"}


@given(version=NUMBERS, sign=st.sampled_from(["==", ">=", "<=", "<", ">"]), limit=NUMBERS)
def test_versions_fit_as_packaging_says(
    version: tuple[int, ...], sign: str, limit: tuple[int, ...]
) -> None:
    one, other = (".".join(map(str, each)) for each in (version, limit))
    assert entering.fits(version, sign, limit) == (one in SpecifierSet(f"{sign}{other}"))


@pytest.fixture
def light(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, str]:
    """An environment without marks; return its distributions, which can be changed."""
    has = dict(HAS)

    def version(name: str) -> str:
        if name not in has:
            raise metadata.PackageNotFoundError(name)
        return has[name]

    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(metadata, "requires", lambda _: REQUIRES)
    monkeypatch.setattr(metadata, "version", version)
    return has


def test_environment_of_the_project_is_complete() -> None:
    assert entering.is_complete()


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("duckdb", None),
        ("pyspark", None),
        ("pyspark", "3.5.9"),
        ("pandas", "3.0"),
        ("psycopg", "3.1"),
    ],
)
def test_environment_without_a_package_is_not_complete(
    light: dict[str, str], name: str, version: str | None
) -> None:
    assert entering.is_complete()
    del light[name]
    if version is not None:
        light[name] = version
    assert not entering.is_complete()


@pytest.mark.usefixtures("light")
def test_source_tree_that_is_not_installed_runs_where_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def requires(name: str) -> list[str]:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "requires", requires)
    assert entering.is_complete()


@pytest.fixture
def entered(light: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What replaced the process, in an environment that lacks packages."""
    del light["pyspark"]
    done: list[Any] = []
    own = own_environment.Places(
        packages=Path("/none"), linked=Path("/own"), code=Path("/code"), about=None
    )
    monkeypatch.setattr(own_environment, "ensure", lambda _: own)
    monkeypatch.setattr(own_environment, "places", lambda: own)
    monkeypatch.setattr(os, "execve", lambda *given: done.append(given))
    return done


@pytest.mark.parametrize(
    "words", [["list"], ["verify", "--output", "x", "--", "python", "job.py", "--help"]]
)
def test_command_is_replaced_by_that_of_its_own_environment(
    entered: list[Any], monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["onceproof", *words])
    entering.enter()
    ((program, command, environment),) = entered
    assert program == "/own/bin/python"
    assert command == [program, "-P", "/own/bin/onceproof", *words]
    assert environment[CALLER_PATH].split(os.pathsep) == list(filter(None, sys.path))


@pytest.mark.parametrize("words", [[], ["--help"], ["run", "--help"]])
def test_help_needs_no_other_environment(
    entered: list[Any], monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["onceproof", *words])
    entering.enter()
    assert entered == []


@pytest.mark.parametrize("ready", [True, False])
def test_completion_installs_nothing(
    entered: list[Any], monkeypatch: pytest.MonkeyPatch, ready: bool
) -> None:
    monkeypatch.setattr(own_environment.Places, "complete", ready)
    monkeypatch.setattr(sys, "argv", ["onceproof"])
    monkeypatch.setenv(entering.COMPLETION, "complete_bash")
    entering.enter()
    assert len(entered) == ready


def test_version_is_told_before_anything_is_installed(
    entered: list[Any],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("ONCEPROOF_CACHE", str(tmp_path))
    monkeypatch.setattr(sys, "argv", ["onceproof", "--version"])
    with pytest.raises(SystemExit, match="0"):
        entering.enter()
    assert capsys.readouterr().out.startswith("onceproof 0.1.0\n")
    assert entered == []


def test_failed_set_up_is_told(
    entered: list[Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_: Any) -> Path:
        raise SetupError("the disk is full. Free space, then try again.")

    monkeypatch.setattr(own_environment, "ensure", fail)
    monkeypatch.setattr(sys, "argv", ["onceproof", "list"])
    with pytest.raises(SystemExit, match="3"):
        entering.enter()
    assert capsys.readouterr().err == "onceproof: the disk is full. Free space, then try again.\n"


def test_a_users_file_imports_packages_of_the_users_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "only_of_the_user.py").write_text("VALUE = 7\n")
    file = tmp_path / "mine.py"
    file.write_text("from only_of_the_user import VALUE\n")
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv(CALLER_PATH, f"{site}{os.pathsep}")
    assert import_file(file).VALUE == 7


@pytest.mark.parametrize("worker", [False, True])
def test_plugin_says_on_the_terminal_what_it_installs(
    light: dict[str, str], monkeypatch: pytest.MonkeyPatch, worker: bool
) -> None:
    said: list[str] = []
    shown: list[str] = []
    reporter = SimpleNamespace(ensure_newline=lambda: None, write_line=said.append)
    capture = SimpleNamespace(global_and_fixture_disabled=lambda: nullcontext(shown.append("x")))
    plugins = {} if worker else {"terminalreporter": reporter, "capturemanager": capture}
    config: Any = SimpleNamespace(pluginmanager=SimpleNamespace(get_plugin=plugins.get))
    monkeypatch.setattr(own_environment, "ensure", lambda say: say("installing packages"))
    environment.install(config)
    assert said == []
    del light["pyspark"]
    environment.install(config)
    assert said == ([] if worker else ["onceproof: installing packages"])
    assert len(shown) == len(said)


JUDGES = """
import sys
from importlib.metadata import packages_distributions
import onceproof.checkers.engines.duckdb, onceproof.harness.run.judge, onceproof.outcome
of = packages_distributions()
print(*{name for module in list(sys.modules) for name in of.get(module.partition(".")[0], ())})
"""


def needed(name: str, *extras: str) -> set[str]:
    """The distributions that one needs, with its own name; of ours, only for some extras."""
    found = {name}
    for text in metadata.requires(name) or ():
        each = Requirement(text)
        wanted = [{"extra": extra} for extra in ("", *extras)]
        if each.marker is None or any(each.marker.evaluate(which) for which in wanted):
            found |= needed(canonicalize_name(each.name))
    return found


def test_extra_check_has_what_judges_a_run() -> None:
    imported = subprocess.check_output([sys.executable, "-c", JUDGES], text=True).split()
    assert {"duckdb", "pyarrow"} <= set(imported)
    # An editable installation imports setuptools' hook, and PyArrow imports numpy if it is there.
    only_here = {"numpy", "setuptools"}
    assert {canonicalize_name(each) for each in imported} - only_here <= needed(
        "onceproof", "check"
    )
