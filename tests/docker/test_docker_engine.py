"""Where no engine can be had: the sentence that says what is missing. Nothing is installed here."""

from __future__ import annotations

import os
import shutil

import pytest

from tests.docker import engine
from tests.docker.engine import NoEngine


@pytest.mark.parametrize(
    ("there", "said"),
    [
        (set(), "Docker is missing: install it, then try again."),
        ({"apt-get"}, "Docker is missing: install it, then try again."),
        ({"docker"}, "Docker is missing: install it, then try again."),
        ({"docker", "dockerd"}, "The Docker engine does not run: start it, then try again."),
    ],
)
def test_who_may_install_nothing_is_told_what_is_missing(
    there: set[str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(shutil, "which", lambda name: name if name in there else None)
    monkeypatch.setattr(engine, "run", lambda *command: "v2" if "compose" in command else None)
    with pytest.raises(NoEngine) as told, engine.engine():
        pass
    assert str(told.value) == said


def test_without_go_there_is_no_plugin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine.go, "in_path", lambda: None)
    with pytest.raises(NoEngine, match="The compose plugin is missing, and Go to build it"):
        engine.install_compose()


def test_what_fails_is_named() -> None:
    with pytest.raises(NoEngine, match="`false --now` ended with 1; see above"):
        engine.do("false", "--now")
