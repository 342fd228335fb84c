"""Go programs, built when they are needed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from onceproof.harness.go import programs
from onceproof.harness.tools import go
from onceproof.harness.tools.error import SetupError
from onceproof.harness.tools.progress import Step
from onceproof.harness.workload.senders.franz_go import FRANZ_GO
from onceproof.harness.workload.senders.sarama import SARAMA

_GO = """#!/bin/sh
case $1 in
  version) echo go version go{version} linux/amd64 ;;
  build) echo build >> {calls}
         for word; do [ "$last" = -o ] && into=$word; last=$word; done
         for name in {names}; do printf x > "$into$name"; chmod +x "$into$name"; done ;;
esac
"""


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file to which the Go in PATH writes each of its builds."""
    return put_go(tmp_path, monkeypatch, "1.99.0")


def put_go(folder: Path, monkeypatch: pytest.MonkeyPatch, version: str) -> Path:
    program, calls = folder / "bin" / "go", folder / "calls"
    program.parent.mkdir()
    program.write_text(
        _GO.format(version=version, calls=calls, names=" ".join(programs.programs()))
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    return calls


def test_programs_are_built_once_and_together(tmp_path: Path, calls: Path) -> None:
    steps: list[Step] = []
    for name in programs.programs():
        found = programs.program(name, cache_folder=tmp_path / "cache", progress=steps.append)
        assert os.access(found, os.X_OK)
    assert {"franz", "sarama"} <= set(programs.programs())
    assert calls.read_text() == "build\n"
    assert [step.message for step in steps] == ["building"]
    (folder,) = (each for each in (tmp_path / "cache" / "go").iterdir() if each.is_dir())
    assert {file.name for file in folder.iterdir()} == set(programs.programs()), (
        "no caches are left"
    )


def test_toolchain_is_downloaded_if_go_is_older_than_the_modules_need(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_go(tmp_path, monkeypatch, "1.19")

    def refuse(folder: Path) -> Path:
        raise SetupError("no network.")

    monkeypatch.setattr(go, "from_wheel", refuse)
    oldest = ".".join(map(str, programs.minimum()))
    with pytest.raises(SetupError, match=f"no network.*PATH has Go {oldest} or newer"):
        programs.program("franz", cache_folder=tmp_path / "cache")


@pytest.mark.parametrize("sender", [FRANZ_GO, SARAMA], ids=lambda sender: sender.name)
def test_report_has_the_version_that_go_mod_pins(sender: object) -> None:
    assert isinstance(sender, type(FRANZ_GO) | type(SARAMA))
    ((name, version),) = sender.versions().items()
    assert name == sender.name
    assert all(part.isdigit() for part in version.split("."))
