"""The bootstrap script: runs on old Pythons, and checks requirements before any download."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from onceproof.harness.tools import bootstrap

FILE = Path(bootstrap.__file__)


def test_source_parses_on_old_pythons() -> None:
    ast.parse(FILE.read_text(), feature_version=(3, 4))


def test_old_python_fails_with_the_required_version(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bootstrap, "MINIMUM", (99, 0))
    monkeypatch.setenv("PATH", "/nowhere")
    assert bootstrap.main() == 3
    assert "but 3.11 or newer is needed" in capsys.readouterr().err


def test_newer_python_in_path_takes_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    newer = tmp_path / "python3.12"
    newer.write_text("#!/bin/sh\nexit 0\n")
    newer.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    executed: list[list[str]] = []

    def replace(program: str, arguments: list[str]) -> None:
        executed.append(arguments)
        raise SystemExit

    monkeypatch.setattr(os, "execvp", replace)
    monkeypatch.setattr(sys, "argv", [str(FILE), "--run"])
    with pytest.raises(SystemExit):
        bootstrap.restart_with_newer()
    assert executed == [["python3.12", str(FILE.resolve()), "--run"]]


@pytest.mark.parametrize(("options", "development"), [([], True), (["--run"], False)])
def test_run_is_set_up_without_the_packages_for_development(
    options: list[str], development: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bool] = []

    def set_up(root: Path, development: bool) -> int:
        asked.append(development)
        return 0

    monkeypatch.setattr(bootstrap, "set_up", set_up)
    monkeypatch.setattr(sys, "argv", [str(FILE), *options])
    assert bootstrap.main() == 0
    assert asked == [development]


def test_reports_unsupported_system_and_missing_venv(monkeypatch: pytest.MonkeyPatch) -> None:
    assert bootstrap.what_is_missing("linux") == ""
    assert "need Linux" in bootstrap.what_is_missing("darwin")
    monkeypatch.setattr(bootstrap, "find_spec", lambda name: None)
    assert "-venv`" in bootstrap.what_is_missing("linux")


def test_without_java_nothing_is_created(tmp_path: Path) -> None:
    """Runs the script as a user would, in a minimal copy of the project."""
    tools = tmp_path / "harness" / "tools"
    tools.mkdir(parents=True)
    for file in FILE.parent.glob("*.py"):
        (tools / file.name).write_bytes(file.read_bytes())
    (tools.parent / "__init__.py").touch()
    package = tmp_path / "src" / "onceproof"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "harness").symlink_to(tools.parent)
    nowhere = (tools / "java.py").read_text().replace("/usr/", "/nowhere/").replace("/opt/", "/x/")
    (tools / "java.py").write_text(nowhere)
    done = subprocess.run(
        [sys.executable, tools / "bootstrap.py"],
        capture_output=True,
        text=True,
        env={"PATH": "/nowhere"},
    )
    assert done.returncode == 3
    assert done.stderr.startswith("onceproof: No Java was found")
    assert "Traceback" not in done.stderr
    assert not (tmp_path / ".venv").exists()
    assert not list(tmp_path.rglob("__pycache__"))
