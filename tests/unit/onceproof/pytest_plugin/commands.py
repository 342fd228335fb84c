"""Fake commands instead of `onceproof`, and pytest in a separate project."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path


def python(code: str) -> list[str]:
    """The command that runs some lines of Python."""
    return [sys.executable, "-c", textwrap.dedent(code)]


def pytest_in(folder: Path, *arguments: str, **files: str) -> subprocess.CompletedProcess[str]:
    """Run pytest in a folder with these test files."""
    for name, text in files.items():
        (folder / f"{name}.py").write_text(textwrap.dedent(text))
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--rootdir", folder]
    return subprocess.run(
        [*command, *arguments], cwd=folder, capture_output=True, text=True, timeout=280, check=False
    )
