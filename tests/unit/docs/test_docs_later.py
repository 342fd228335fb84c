"""Tests that are too slow for every build are run by `make test-faults`."""

from __future__ import annotations

import ast
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[3]
MARKS = {"LATER", "MINUTES"}
"""Marks of such tests, in `tests/end_to_end/catalogue.py`."""


def test_every_file_with_slow_tests_is_tried_by_make_test_faults() -> None:
    command = ["make", "--dry-run", "--always-make", "test-faults"]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    tried = {word for word in said.split() if word.startswith("tests/")}
    marked = {
        str(file.relative_to(ROOT))
        for file in (ROOT / "tests").rglob("test_*.py")
        if imports_marks(file)
    }
    assert "tests/integration/test_cost.py" in marked
    assert marked <= tried, sorted(marked - tried)


def imports_marks(file: Path) -> bool:
    return any(
        isinstance(node, ast.ImportFrom) and MARKS & {name.name for name in node.names}
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
    )
