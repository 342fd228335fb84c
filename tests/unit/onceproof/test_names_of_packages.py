"""A project may have packages named like folders of this repository."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

NAMES = ("harness", "checkers", "reports", "scenarios")


def python(folder: Path, *words: str) -> str:
    """Run Python with the project first on its path, and return the output."""
    done = subprocess.run(
        [sys.executable, *words],
        capture_output=True, text=True, cwd=folder, timeout=120,
        env={**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_bare_names_are_not_importable(tmp_path: Path) -> None:
    probe = f"from importlib.util import find_spec; print([n for n in {NAMES} if find_spec(n)])"
    assert python(tmp_path, "-P", "-c", probe) == "[]"


def test_project_and_command_import_their_own_packages(tmp_path: Path) -> None:
    for name in NAMES:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text('WHOSE = "theirs"\n')
    probe = f"import {', '.join(NAMES)}, onceproof.reports; print(reports.WHOSE)"
    assert python(tmp_path, "-c", probe) == "theirs"
    assert "late-commit-java-1" in python(tmp_path, "-m", "onceproof", "list", "late-commit")
