"""A project with folders that are called like packages of ours."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

NAMES = ("harness", "checkers", "reports", "scenarios")


def python(folder: Path, *words: str) -> str:
    """What a Python of the project says, whose folder comes first on its path."""
    done = subprocess.run(
        [sys.executable, *words],
        capture_output=True, text=True, cwd=folder, timeout=120,
        env={**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("name", NAMES)
def test_a_folder_that_is_no_package_is_found_beside_ours(name: str, tmp_path: Path) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / "of_the_project.py").write_text('WHOSE = "theirs"\n')
    probe = f"from {name}.of_the_project import WHOSE; import {name}; print(WHOSE, {name}.__file__)"
    whose, where = python(tmp_path, "-c", probe).split(maxsplit=1)
    assert whose == "theirs"
    assert not where.startswith(str(tmp_path))


@pytest.mark.parametrize("name", NAMES)
def test_a_package_of_the_project_is_theirs(name: str, tmp_path: Path) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / "__init__.py").write_text("")
    where = python(tmp_path, "-c", f"import {name}; print({name}.__file__)")
    assert where.startswith(str(tmp_path))


def test_the_command_takes_nothing_of_theirs(tmp_path: Path) -> None:
    for name in NAMES:
        (tmp_path / name).mkdir()
        (tmp_path / name / "odd.py").write_text('raise SystemExit("not ours")\n')
    (tmp_path / "reports" / "console.py").write_text('raise SystemExit("not ours")\n')
    assert "late-commit-java-1" in python(tmp_path, "-m", "onceproof", "list", "late-commit")
