"""The sum of our code: of what makes and judges a run, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from onceproof.harness.tools.versions import code, sum_of, versions


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "harness"
    (folder / "faults").mkdir(parents=True)
    (folder / "run.py").write_text("a = 1\n")
    (folder / "faults" / "kill.py").write_text("b = 1\n")
    return folder


def test_every_edit_of_a_source_shows(source: Path) -> None:
    before = sum_of([source])
    assert sum_of([source]) == before
    (source / "faults" / "kill.py").write_text("b = 2\n")
    after = sum_of([source])
    assert after != before
    (source / "run.py").rename(source / "walk.py")
    assert sum_of([source]) not in (before, after)


def test_what_is_no_source_does_not_show(source: Path) -> None:
    before = sum_of([source])
    (source / "__pycache__").mkdir()
    (source / "__pycache__" / "run.cpython-311.pyc").write_bytes(b"x")
    (source / "README.md").write_text("words")
    assert sum_of([source]) == before


def test_a_run_says_by_which_code_it_was_made() -> None:
    assert versions()["code"] == code()
    assert len(code()) == 12
