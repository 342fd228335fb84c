"""Error messages where no engine can be installed. Nothing is installed here."""

from __future__ import annotations

import os
import shutil

import pytest

from tests.docker import engine
from tests.docker.engine import NoEngine


@pytest.mark.parametrize(
    ("installed", "message"),
    [
        (set(), "Docker is missing: install it, then try again."),
        ({"apt-get"}, "Docker is missing: install it, then try again."),
        ({"docker"}, "Docker is missing: install it, then try again."),
        ({"docker", "dockerd"}, "The Docker engine does not run: start it, then try again."),
    ],
)
def test_engine_names_missing_software_without_root(
    installed: set[str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(shutil, "which", lambda name: name if name in installed else None)
    monkeypatch.setattr(engine, "run", lambda *command: "v2" if "compose" in command else None)
    with pytest.raises(NoEngine) as caught, engine.engine():
        pass
    assert str(caught.value) == message


def test_install_compose_requires_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine.go, "in_path", lambda: None)
    with pytest.raises(NoEngine, match="The compose plugin is missing, and Go to build it"):
        engine.install_compose()


def test_do_names_failed_command() -> None:
    with pytest.raises(NoEngine, match="`false --now` ended with 1; see above"):
        engine.do("false", "--now")
