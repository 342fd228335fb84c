"""Programs in JavaScript, installed when they are needed."""

from __future__ import annotations

from pathlib import Path

import pytest

from onceproof.harness.node import programs
from onceproof.harness.tools import node
from onceproof.harness.tools.error import SetupError
from onceproof.harness.tools.progress import Step
from onceproof.harness.workload.senders.kafkajs import KAFKAJS


def put(folder: Path, name: str, script: str) -> Path:
    program = folder / name
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return program


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file to which the npm in PATH writes each of its calls."""
    put(tmp_path / "bin", "node", "echo v20.20.2")
    calls = tmp_path / "calls"
    put(tmp_path / "bin", "npm", f'echo "$@" >> {calls}; mkdir node_modules')
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    return calls


def test_programs_are_installed_once_and_no_package_runs_a_script(
    tmp_path: Path, calls: Path
) -> None:
    steps: list[Step] = []
    for _ in range(2):
        found = programs.command(
            "kafkajs", "task.json", cache_folder=tmp_path / "cache", progress=steps.append
        )
        assert found[0] == tmp_path / "bin" / "node"
        assert Path(found[1]).read_text() == (programs.SOURCES / "kafkajs.mjs").read_text()
        assert found[2] == "task.json"
    (call,) = calls.read_text().splitlines()
    assert call.startswith("ci --ignore-scripts")
    assert [step.message for step in steps] == ["installing packages"]


def test_wheel_is_downloaded_if_node_is_missing_or_too_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "bin", "node", "echo v16.1.0")
    put(tmp_path / "bin", "npm", "exit 1")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    asked: list[str] = []

    def refuse(folder: Path) -> None:
        raise SetupError("no network.")

    monkeypatch.setattr(node, "_from_wheel", refuse)
    with pytest.raises(SetupError, match="no network"):
        node.node(tmp_path / "cache", asked.append)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SetupError, match="no network"):
        node.node(tmp_path / "cache", asked.append)
    assert asked == ["Node.js 16 is too old", "no node and npm in PATH"]


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("npm error code ENOSPC", "disk is full"),
        ("npm error network request failed, reason: getaddrinfo ENOTFOUND", "cannot be reached"),
        ("npm error code EINTEGRITY", "does not match its checksum"),
        ("npm error one\nnpm error two\n", "npm error two"),
        ("", "npm gave no reason"),
    ],
)
def test_failed_installation_names_the_cause(output: str, message: str) -> None:
    assert message in node.explain(output)


def test_lock_has_checksums_and_no_addresses() -> None:
    text = (programs.SOURCES / "package-lock.json").read_text()
    assert "resolved" not in text
    assert "://" not in text
    assert text.count('"integrity"') == text.count('"node_modules/')
    lock = node.WHEEL_LOCK.read_text()
    assert lock.count("--hash=sha256:") == 2


def test_report_has_the_version_that_the_lock_pins() -> None:
    assert KAFKAJS.versions() == {"kafkajs": "2.2.4"}
