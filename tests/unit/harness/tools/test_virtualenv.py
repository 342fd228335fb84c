"""The virtual environment: created once, and repaired when broken."""

from __future__ import annotations

import shutil
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from onceproof.harness.tools import pip, virtualenv
from onceproof.harness.tools.error import SetupError
from onceproof.harness.tools.virtualenv import Environment, Say
from onceproof.harness.wait import wait_until

LOCK = """\
demo==1.0 \\
    --hash=sha256:aa \\
    --hash=sha256:bb
    # via onceproof (pyproject.toml)
other-thing==2.5 \\
    --hash=sha256:cc
pywin32==3 ; sys_platform == 'win32' \\
    --hash=sha256:dd
"""


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Environment:
    """A project with a lock file, in a folder whose name has a space."""
    root = tmp_path / "some project"
    root.mkdir()
    (root / "requirements.txt").write_text(LOCK)
    (root / "pyproject.toml").write_text("[project]\n")
    monkeypatch.setattr(virtualenv, "_create", create_quickly)
    return Environment(root=root)


def create_quickly(environment: Environment) -> None:
    """A fast stand-in for `python -m venv`."""
    site = environment.folder / "lib" / f"python3.{sys.version_info[1]}" / "site-packages"
    site.mkdir(parents=True)
    environment.python.parent.mkdir()
    environment.python.symlink_to(sys.executable)
    base = Path(sys.base_prefix) / "bin"
    (environment.folder / "pyvenv.cfg").write_text(f"home = {base}\n")
    (site / "pip.py").touch()


class FakeInstaller:
    """Installs the packages of the lock as metadata only."""

    def __init__(self, *, wait: Callable[[], object] = lambda: None, fails: bool = False) -> None:
        self.calls = 0
        self.wait = wait
        self.fails = fails

    def __call__(self, environment: Environment, say: Say) -> None:
        self.calls += 1
        self.wait()
        (site,) = environment.folder.glob("lib/*/site-packages")
        for name in ("demo-1.0", "other_thing-2.5"):
            folder = site / f"{name}.dist-info"
            folder.mkdir(exist_ok=True)
            title, version = name.split("-")
            (folder / "METADATA").write_text(f"Name: {title}\nVersion: {version}\n")
        if self.fails:
            raise SetupError("no network")
        environment.command.touch()


def ignore(message: str) -> None:
    """Discard a message."""


def test_second_ensure_does_nothing(environment: Environment) -> None:
    install = FakeInstaller()
    assert virtualenv.ensure(environment, ignore, install=install)
    assert not virtualenv.ensure(environment, ignore, install=install)
    assert install.calls == 1


@pytest.mark.parametrize("file", ["requirements.txt", "pyproject.toml"])
def test_change_of_lock_or_project_reinstalls(environment: Environment, file: str) -> None:
    install = FakeInstaller()
    virtualenv.ensure(environment, ignore, install=install)
    with (environment.root / file).open("a") as text:
        text.write("# changed\n")
    unrelated = environment.folder / "keeps"
    unrelated.touch()
    assert virtualenv.ensure(environment, ignore, install=install)
    assert install.calls == 2
    assert unrelated.exists()


def test_environment_for_runs_grows_into_one_for_development_and_not_back(
    environment: Environment,
) -> None:
    lean = replace(environment, development=False)
    lean.lock.parent.mkdir(parents=True)
    lean.lock.write_text(LOCK.replace("other-thing==2.5", "pywin32==3 ; sys_platform == 'win32'"))
    messages: list[str] = []
    assert virtualenv.ensure(lean, messages.append, install=FakeInstaller())
    assert not virtualenv.ensure(lean, messages.append, install=FakeInstaller())
    assert virtualenv.ensure(environment, messages.append, install=FakeInstaller())
    assert not virtualenv.ensure(lean, messages.append, install=FakeInstaller())
    assert messages == ["creating .venv"]


def test_fingerprint_depends_on_python_and_location(environment: Environment) -> None:
    one = virtualenv.fingerprint(environment, python="3.11.7")
    assert virtualenv.fingerprint(environment, python="3.12.1") != one
    moved = environment.root.with_name("moved")
    shutil.copytree(environment.root, moved)
    assert virtualenv.fingerprint(Environment(root=moved), python="3.11.7") != one


def test_incomplete_environment_is_recreated(environment: Environment) -> None:
    with pytest.raises(SetupError, match="no network"):
        virtualenv.ensure(environment, ignore, install=FakeInstaller(fails=True))
    stray = environment.folder / "stray"
    stray.touch()
    messages: list[str] = []
    virtualenv.ensure(environment, messages.append, install=FakeInstaller())
    assert not stray.exists()
    assert "removing a broken or incomplete .venv" in messages


def test_missing_package_is_reinstalled(environment: Environment) -> None:
    install = FakeInstaller()
    virtualenv.ensure(environment, ignore, install=install)
    (found,) = environment.folder.glob("lib/*/site-packages/other_thing-2.5.dist-info")
    shutil.rmtree(found)
    assert virtualenv.missing(environment) == ["other-thing==2.5"]
    virtualenv.ensure(environment, ignore, install=install)
    assert virtualenv.missing(environment) == []


def test_environment_with_broken_python_is_replaced(environment: Environment) -> None:
    install = FakeInstaller()
    virtualenv.ensure(environment, ignore, install=install)
    environment.python.unlink()
    environment.python.symlink_to("/nowhere/python")
    assert virtualenv.ensure(environment, ignore, install=install)
    assert virtualenv.missing(environment) == []


def test_environment_made_by_hand_is_kept(environment: Environment) -> None:
    create_quickly(environment)
    by_hand = environment.folder / "by-hand"
    by_hand.touch()
    virtualenv.ensure(environment, ignore, install=FakeInstaller())
    assert by_hand.exists()


def test_environment_with_broken_pip_is_replaced_silently(
    environment: Environment, capfd: pytest.CaptureFixture[str]
) -> None:
    create_quickly(environment)
    (module,) = environment.folder.glob("lib/*/site-packages/pip.py")
    module.write_text("raise ImportError")
    virtualenv.ensure(environment, ignore, install=FakeInstaller())
    assert module.read_text() == ""
    assert capfd.readouterr().err == ""


def test_concurrent_ensure_installs_once(environment: Environment) -> None:
    messages: list[str] = []
    waiting = "waiting for another set-up to finish"
    install = FakeInstaller(
        wait=lambda: wait_until(
            lambda: messages.count(waiting) == 2, what="two to wait", seconds=60
        )
    )

    def ensure() -> None:
        virtualenv.ensure(environment, messages.append, install=install)

    threads = [threading.Thread(target=ensure) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert install.calls == 1
    assert messages.count(waiting) == 2


def test_full_disk_fails_before_anything_is_created(
    environment: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(virtualenv, "NEEDED_DISK", 1 << 60)
    with pytest.raises(SetupError, match="Free space"):
        virtualenv.ensure(environment, ignore, install=FakeInstaller())
    assert not environment.folder.exists()


def test_requirement_returns_one_entry_with_its_hashes() -> None:
    entry = virtualenv.requirement(LOCK, "demo")
    assert entry.startswith("demo==1.0 \\\n    --hash=sha256:aa")
    assert "sha256:bb" in entry
    assert "other-thing" not in entry
    assert virtualenv.requirement(LOCK, "absent") == ""


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("ERROR: Could not install: [Errno 28] No space left on device", "disk is full"),
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM", "does not match the hash"),
        (
            "NewConnectionError('...')\nERROR: No matching distribution found for demo==1.0",
            "the Python package registry cannot be reached",
        ),
        ("ERROR: No matching distribution found for demo==1.0", "has no demo==1.0 that fits"),
        ("ERROR: odd thing.\n", "failed: odd thing. See /x/log."),
        ("", "pip gave no reason"),
    ],
)
def test_explain_turns_pip_output_into_a_message(output: str, message: str) -> None:
    assert message in pip.explain(output, log=Path("/x/log"))


def make_pip(script: str, folder: Path) -> Path:
    """Write a Python interpreter whose `-m pip install` runs a shell script."""
    python = folder / "python"
    python.write_text(f"#!/bin/sh\necho progress\n{script}\n")
    python.chmod(0o755)
    return python


def test_pip_does_not_count_packages_of_the_users_variables(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    lock, said = tmp_path / "lock", tmp_path / "said"
    lock.write_text(LOCK)
    python = make_pip(f'echo "${{PYTHONPATH-none}} ${{PYTHONHOME-none}}" >> {said}', tmp_path)
    monkeypatch.setenv("PYTHONPATH", "/opt/spark/python")
    monkeypatch.setenv("PYTHONHOME", "/opt/python")
    virtualenv.install_locked(python, lock, work=tmp_path)
    assert set(said.read_text().splitlines()) == {"none none"}


def test_pip_prints_errors_where_it_prints_progress(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with pytest.raises(SetupError, match="odd thing"):
        pip.install(make_pip("echo error: odd thing >&2; exit 1", tmp_path), [], to=2)
    found = capfd.readouterr()
    assert (found.out, found.err) == ("", "progress\nerror: odd thing\n")


@pytest.mark.parametrize("logged", [True, False])
def test_pip_shows_progress_only_with_a_log(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], logged: bool
) -> None:
    log = tmp_path / "log" if logged else None
    pip.install(make_pip("echo WARNING: slow >&2", tmp_path), [], log=log)
    absent = "echo ERROR: No matching distribution found for demo==1 >&2; exit 1"
    broken = make_pip(absent, tmp_path)
    with pytest.raises(SetupError, match="has no demo==1 that fits"):
        pip.install(broken, [], log=log)
    assert capfd.readouterr().out == ("progress\nprogress\n" if logged else "")
    assert log is None or ("slow" in log.read_text() and "demo==1" in log.read_text())
