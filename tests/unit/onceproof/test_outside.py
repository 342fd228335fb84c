"""Packages of the environment in which the user started onceproof."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from onceproof.checkers.extensions import named_extensions
from onceproof.outside import CALLER_PATH, entry_points


def distribution(folder: Path, name: str, value: str) -> Path:
    about = folder / f"{name}-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[onceproof.trials]\n{name} = {value}\n")
    (folder / f"{value}.py").write_text("")
    return folder


@pytest.fixture
def both(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """`shared` is in this environment and in the user's, `theirs` in the user's only."""
    here = distribution(tmp_path / "here", "shared", "shared_here")
    there = distribution(tmp_path / "there", "shared", "shared_there")
    distribution(there, "theirs", "only_theirs")
    monkeypatch.setattr(sys, "path", [*sys.path, str(here)])
    monkeypatch.setenv(CALLER_PATH, os.pathsep.join(["", str(there)]))


@pytest.mark.usefixtures("both")
def test_packages_of_both_environments_extend_onceproof() -> None:
    points = {point.name: point.value for point in entry_points("onceproof.trials")}
    assert points == {"shared": "shared_here", "theirs": "only_theirs"}
    found = {module.__name__ for _, module in named_extensions("trials")}
    assert found == {"shared_here", "only_theirs"}


def test_without_another_environment_there_are_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(CALLER_PATH, raising=False)
    assert entry_points("onceproof.no-such-group") == []
