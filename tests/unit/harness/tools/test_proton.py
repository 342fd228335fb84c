"""The AMQP client: where it is, and what is said where it cannot be built."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from onceproof.harness.tools import cache, pip
from onceproof.harness.tools import proton as module
from onceproof.harness.tools.error import SetupError
from onceproof.harness.tools.proton import LOCK, proton


@pytest.fixture
def absent(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path))


def test_one_that_is_installed_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_spec", lambda name: SimpleNamespace(name=name))
    assert proton() is None


def test_it_is_built_once_and_apart(absent: None, monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[list[str]] = []

    def install(python: Path, arguments: list[str], **_: Any) -> None:
        built.append(arguments)
        (Path(arguments[arguments.index("--target") + 1]) / "proton.py").touch()

    monkeypatch.setattr(pip, "install", install)
    first, second = proton(), proton()
    assert first == second
    assert first is not None
    assert (first / "proton.py").exists()
    (arguments,) = built
    assert "--require-hashes" in arguments


def test_what_it_takes_to_build_it_is_told(absent: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def install(python: Path, arguments: list[str], **_: Any) -> None:
        raise SetupError("Installing Python packages failed: no compiler.")

    monkeypatch.setattr(pip, "install", install)
    with pytest.raises(SetupError, match=r"no compiler\. It needs a C compiler, OpenSSL's headers"):
        proton()


def test_the_lock_names_no_place() -> None:
    text = LOCK.read_text()
    assert "python-qpid-proton==" in text
    assert "://" not in text
