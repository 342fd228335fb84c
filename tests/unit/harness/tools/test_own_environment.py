"""The harness's own environment: shared packages, and a link to each installation of onceproof."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from onceproof.harness.tools import cache, own_environment, virtualenv
from onceproof.harness.tools.error import SetupError

ROOT = Path(__file__).parents[4]
PROBE = """
import heavy, importlib.metadata, json, onceproof, sys
print(json.dumps([heavy.__file__, onceproof.__file__, importlib.metadata.version("onceproof"),
                  [entry for entry in sys.path if "elsewhere" in entry]]))
"""


@pytest.fixture
def installs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Path]:
    """A cache of its own, and an installer of one module; return what was installed."""
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "the cache"))
    made, create = [], virtualenv.create

    def install(python: Path, lock: Path, **_: Any) -> None:
        assert lock == own_environment.LOCK
        (site,) = python.parents[1].glob("lib/*/site-packages")
        (site / "heavy.py").touch()
        made.append(python)

    monkeypatch.setattr(virtualenv, "create", lambda folder, *_: create(folder, "--without-pip"))
    monkeypatch.setattr(virtualenv, "install_locked", install)
    monkeypatch.setattr(virtualenv, "check_disk", lambda _: None)
    monkeypatch.setattr(virtualenv, "not_installed", lambda *_: [])
    return made


def probe(python: Path, **environ: str) -> list[Any]:
    answer = subprocess.check_output(
        [python, "-P", "-c", PROBE], env={**os.environ, **environ}, text=True, timeout=60
    )
    found: list[Any] = json.loads(answer)
    return found


def test_packages_and_the_installed_code_can_be_imported(installs: list[Path]) -> None:
    said: list[str] = []
    python = own_environment.ensure(said.append).python
    heavy, code, version, _ = probe(python)
    assert Path(heavy).parents[3].name.startswith("packages-")
    assert Path(code).resolve().parent == (ROOT / "src" / "onceproof").resolve()
    assert version == "0.1.0"
    assert len(said) == len(installs) == 1
    assert "once" in said[0]
    assert own_environment.ensure(said.append).python == python
    assert len(said) == len(installs) == 1


def test_command_has_its_usual_name(installs: list[Path]) -> None:
    command = own_environment.ensure(lambda _: None).command
    done = subprocess.run([*command, "x"], capture_output=True, text=True, timeout=60, check=False)
    # It lacks packages here, since the environment is that of the test.
    assert "python -m" not in done.stdout + done.stderr
    assert Path(command[-1]).name == "onceproof"


def test_pythonpath_is_for_the_users_programs(installs: list[Path], tmp_path: Path) -> None:
    for name in ("heavy", "onceproof"):
        (tmp_path / "elsewhere" / name).mkdir(parents=True)
        (tmp_path / "elsewhere" / name / "__init__.py").touch()
    python = own_environment.ensure(lambda _: None).python
    found = probe(python, PYTHONPATH=f"{tmp_path / 'elsewhere'}{os.pathsep}{tmp_path}")
    assert "elsewhere" not in found[0] + found[1]
    assert found[3] == []


def test_installations_share_the_packages(
    installs: list[Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    first = own_environment.ensure(lambda _: None).python
    about = tmp_path / "onceproof-0.1.0.dist-info"
    shutil.copytree(own_environment.places().about or "", about)
    monkeypatch.setattr(own_environment, "_metadata", lambda: about)
    second = own_environment.ensure(lambda _: None).python
    assert first != second
    assert len(installs) == 1
    assert probe(second)[0] == probe(first)[0]


@pytest.mark.parametrize("part", ["packages", "linked"])
def test_removed_part_is_created_again(installs: list[Path], part: str) -> None:
    python = own_environment.ensure(lambda _: None).python
    assert own_environment.places().complete
    shutil.rmtree(getattr(own_environment.places(), part))
    assert not own_environment.places().complete
    assert own_environment.ensure(lambda _: None).python == python
    assert probe(python)
    assert len(installs) == (2 if part == "packages" else 1)


def test_failed_installation_leaves_nothing(
    installs: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise SetupError("the Python package registry cannot be reached")

    monkeypatch.setattr(virtualenv, "install_locked", fail)
    with pytest.raises(SetupError, match="cannot be reached"):
        own_environment.ensure(lambda _: None)
    folder = own_environment.places().packages.parent
    assert [path.name for path in folder.iterdir() if path.is_dir()] == []


def test_packages_that_pip_left_out_are_told(
    installs: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(virtualenv, "not_installed", lambda *_: ["pyspark==4.0.0"])
    with pytest.raises(SetupError, match=r"pip did not install pyspark==4\.0\.0"):
        own_environment.ensure(lambda _: None)
    assert not own_environment.places().complete


def test_lock_has_the_versions_that_are_tested() -> None:
    own = own_environment.LOCK.read_text()
    tested = set(virtualenv.pinned((ROOT / "requirements.txt").read_text()))
    found = virtualenv.pinned(own)
    assert set(found) <= tested
    assert {"pyspark", "duckdb", "setuptools", "wheel"} <= {each.split("==")[0] for each in found}
    assert not re.search(r"https?://|--(index|find)", own)
