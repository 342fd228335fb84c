"""The checksum of the code that makes and judges runs."""

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


def test_checksum_changes_with_each_edit_and_rename(source: Path) -> None:
    before = sum_of([source])
    assert sum_of([source]) == before
    (source / "faults" / "kill.py").write_text("b = 2\n")
    after = sum_of([source])
    assert after != before
    (source / "run.py").rename(source / "walk.py")
    assert sum_of([source]) not in (before, after)


def test_checksum_ignores_files_that_are_not_source(source: Path) -> None:
    before = sum_of([source])
    (source / "__pycache__").mkdir()
    (source / "__pycache__" / "run.cpython-311.pyc").write_bytes(b"x")
    (source / "README.md").write_text("words")
    assert sum_of([source]) == before


def test_versions_include_the_checksum_of_the_code() -> None:
    assert versions()["code"] == code()
    assert len(code()) == 12
