"""The AMQP client: an installed one, or one that is built into the cache."""

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


def test_installed_client_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_spec", lambda name: SimpleNamespace(name=name))
    assert proton() is None


def test_client_is_built_once_into_its_own_folder(
    absent: None, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_failed_build_error_lists_the_requirements(
    absent: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def install(python: Path, arguments: list[str], **_: Any) -> None:
        raise SetupError("Installing Python packages failed: no compiler.")

    monkeypatch.setattr(pip, "install", install)
    with pytest.raises(SetupError, match=r"no compiler\. It needs a C compiler, OpenSSL's headers"):
        proton()


def test_lock_names_no_url() -> None:
    text = LOCK.read_text()
    assert "python-qpid-proton==" in text
    assert "://" not in text
