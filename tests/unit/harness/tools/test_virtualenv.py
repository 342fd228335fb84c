"""The virtual environment: made once, repaired when broken, and left alone otherwise."""

from __future__ import annotations

import shutil
import sys
import threading
from collections.abc import Callable
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
    """A project with a lock, below a folder with a space in its name."""
    root = tmp_path / "some project"
    root.mkdir()
    (root / "requirements.txt").write_text(LOCK)
    (root / "pyproject.toml").write_text("[project]\n")
    monkeypatch.setattr(virtualenv, "_create", create_quickly)
    return Environment(root=root)


def create_quickly(environment: Environment) -> None:
    """What `python -m venv` does, in a thousandth of the time."""
    site = environment.folder / "lib" / f"python3.{sys.version_info[1]}" / "site-packages"
    site.mkdir(parents=True)
    environment.python.parent.mkdir()
    environment.python.symlink_to(sys.executable)
    base = Path(sys.base_prefix) / "bin"
    (environment.folder / "pyvenv.cfg").write_text(f"home = {base}\n")
    (site / "pip.py").touch()


class FakeInstaller:
    """Installs the names of the lock as metadata only."""

    def __init__(self, *, until: Callable[[], object] = lambda: None, fails: bool = False) -> None:
        self.calls = 0
        self.until = until
        self.fails = fails

    def __call__(self, environment: Environment, say: Say) -> None:
        self.calls += 1
        self.until()
        (site,) = environment.folder.glob("lib/*/site-packages")
        for name in ("demo-1.0", "other_thing-2.5"):
            folder = site / f"{name}.dist-info"
            folder.mkdir(exist_ok=True)
            title, version = name.split("-")
            (folder / "METADATA").write_text(f"Name: {title}\nVersion: {version}\n")
        if self.fails:
            raise SetupError("no network")
        environment.command.touch()


def quiet(message: str) -> None:
    """Nothing is said."""


def test_the_second_time_nothing_is_done(environment: Environment) -> None:
    install = FakeInstaller()
    assert virtualenv.ensure(environment, quiet, install=install)
    assert not virtualenv.ensure(environment, quiet, install=install)
    assert install.calls == 1


@pytest.mark.parametrize("file", ["requirements.txt", "pyproject.toml"])
def test_a_change_of_the_lock_or_the_project_installs_again(
    environment: Environment, file: str
) -> None:
    install = FakeInstaller()
    virtualenv.ensure(environment, quiet, install=install)
    with (environment.root / file).open("a") as text:
        text.write("# changed\n")
    keeps = environment.folder / "keeps"
    keeps.touch()
    assert virtualenv.ensure(environment, quiet, install=install)
    assert install.calls == 2
    assert keeps.exists()


def test_another_python_or_place_counts_too(environment: Environment) -> None:
    one = virtualenv.fingerprint(environment, python="3.11.7")
    assert virtualenv.fingerprint(environment, python="3.12.1") != one
    moved = environment.root.with_name("moved")
    shutil.copytree(environment.root, moved)
    assert virtualenv.fingerprint(Environment(root=moved), python="3.11.7") != one


def test_what_was_begun_and_not_finished_is_made_anew(environment: Environment) -> None:
    with pytest.raises(SetupError, match="no network"):
        virtualenv.ensure(environment, quiet, install=FakeInstaller(fails=True))
    stray = environment.folder / "stray"
    stray.touch()
    said: list[str] = []
    virtualenv.ensure(environment, said.append, install=FakeInstaller())
    assert not stray.exists()
    assert "removing a broken or incomplete .venv" in said


def test_a_missing_package_is_noticed(environment: Environment) -> None:
    install = FakeInstaller()
    virtualenv.ensure(environment, quiet, install=install)
    (found,) = environment.folder.glob("lib/*/site-packages/other_thing-2.5.dist-info")
    shutil.rmtree(found)
    assert virtualenv.missing(environment) == ["other-thing==2.5"]
    virtualenv.ensure(environment, quiet, install=install)
    assert virtualenv.missing(environment) == []


def test_a_python_that_does_not_run_is_replaced(environment: Environment) -> None:
    install = FakeInstaller()
    virtualenv.ensure(environment, quiet, install=install)
    environment.python.unlink()
    environment.python.symlink_to("/nowhere/python")
    assert virtualenv.ensure(environment, quiet, install=install)
    assert virtualenv.missing(environment) == []


def test_an_environment_made_by_hand_is_filled_not_thrown_away(environment: Environment) -> None:
    create_quickly(environment)
    by_hand = environment.folder / "by-hand"
    by_hand.touch()
    virtualenv.ensure(environment, quiet, install=FakeInstaller())
    assert by_hand.exists()


def test_one_whose_pip_is_broken_is_replaced_without_a_traceback(
    environment: Environment, capfd: pytest.CaptureFixture[str]
) -> None:
    create_quickly(environment)
    (module,) = environment.folder.glob("lib/*/site-packages/pip.py")
    module.write_text("raise ImportError")
    virtualenv.ensure(environment, quiet, install=FakeInstaller())
    assert module.read_text() == ""
    assert capfd.readouterr().err == ""


def test_two_at_once_install_once(environment: Environment) -> None:
    said: list[str] = []
    waiting = "waiting for another set-up to finish"
    install = FakeInstaller(
        until=lambda: wait_until(lambda: said.count(waiting) == 2, what="two to wait", seconds=60)
    )

    def go() -> None:
        virtualenv.ensure(environment, said.append, install=install)

    threads = [threading.Thread(target=go) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert install.calls == 1
    assert said.count(waiting) == 2


def test_a_full_disk_is_met_before_anything_is_made(
    environment: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(virtualenv, "NEEDED_DISK", 1 << 60)
    with pytest.raises(SetupError, match="Free space"):
        virtualenv.ensure(environment, quiet, install=FakeInstaller())
    assert not environment.folder.exists()


def test_one_requirement_is_cut_out_with_its_hashes() -> None:
    entry = virtualenv.requirement(LOCK, "demo")
    assert entry.startswith("demo==1.0 \\\n    --hash=sha256:aa")
    assert "sha256:bb" in entry
    assert "other-thing" not in entry
    assert virtualenv.requirement(LOCK, "absent") == ""


@pytest.mark.parametrize(
    ("output", "says"),
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
def test_what_pip_says_becomes_a_sentence(output: str, says: str) -> None:
    assert says in pip.explain(output, log=Path("/x/log"))


def pip_that(does: str, folder: Path) -> Path:
    """An interpreter that is called as `python -m pip install`."""
    python = folder / "python"
    python.write_text(f"#!/bin/sh\necho progress\n{does}\n")
    python.chmod(0o755)
    return python


@pytest.mark.parametrize("logged", [True, False])
def test_pip_shows_its_progress_where_it_has_a_log(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], logged: bool
) -> None:
    log = tmp_path / "log" if logged else None
    pip.install(pip_that("echo WARNING: slow >&2", tmp_path), [], log=log)
    absent = "echo ERROR: No matching distribution found for demo==1 >&2; exit 1"
    broken = pip_that(absent, tmp_path)
    with pytest.raises(SetupError, match="has no demo==1 that fits"):
        pip.install(broken, [], log=log)
    assert capfd.readouterr().out == ("progress\nprogress\n" if logged else "")
    assert log is None or ("slow" in log.read_text() and "demo==1" in log.read_text())
