"""Programs in JavaScript, installed when they are needed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from onceproof.harness.node import programs
from onceproof.harness.tools import node
from onceproof.harness.tools.error import SetupError
from onceproof.harness.tools.progress import Progress, Step, silent
from onceproof.harness.workload.senders.confluent_javascript import CONFLUENT_JAVASCRIPT
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
    put(tmp_path / "bin", "npm", f'echo "$@" >> {calls}; mkdir -p node_modules')
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    return calls


def test_programs_are_installed_once_and_no_package_runs_a_script(
    tmp_path: Path, calls: Path
) -> None:
    steps: list[Step] = []
    for _ in range(2):
        found = programs.command(
            "kafkajs", "member", "task.json", cache_folder=tmp_path / "cache", progress=steps.append
        )
        assert found[0] == tmp_path / "bin" / "node"
        source = programs.SOURCES / "kafkajs" / "member.mjs"
        assert Path(found[1]).read_text() == source.read_text()
        assert (Path(found[1]).parent.parent / "contract.mjs").is_file()
        assert found[2] == "task.json"
    (call,) = calls.read_text().splitlines()
    assert call.startswith("ci --ignore-scripts")
    assert [step.message for step in steps] == ["installing packages"]


def test_changed_program_needs_no_new_packages(
    tmp_path: Path, calls: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = tmp_path / "sources"
    shutil.copytree(programs.SOURCES, sources)
    monkeypatch.setattr(programs, "SOURCES", sources)
    monkeypatch.setattr(programs, "_SHARED", sources / "contract.mjs")
    found = [programs.command("kafkajs", "member", cache_folder=tmp_path / "cache")[1]]
    with (sources / "contract.mjs").open("a") as contract:
        contract.write("// changed\n")
    found.append(programs.command("kafkajs", "member", cache_folder=tmp_path / "cache")[1])
    assert len(set(found)) == 2
    assert len(calls.read_text().splitlines()) == 1
    # Node.js looks for packages in the folders above a program.
    assert all((Path(each).parents[2] / "node_modules").is_dir() for each in found)


def test_client_with_parts_in_c_plus_plus_is_built(
    tmp_path: Path, calls: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def install(progress: Progress) -> list[str | Path]:
        at = tmp_path / "cache"
        return programs.command("confluent", "producer", cache_folder=at, progress=progress)

    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(SetupError, match="there is no no-such-compiler in PATH"):
        install(silent)
    put(tmp_path / "bin", "c-plus-plus", "exit 0")
    monkeypatch.setenv("CXX", "c-plus-plus")
    steps: list[Step] = []
    found = install(steps.append)
    assert [call.split()[0] for call in calls.read_text().splitlines()] == ["ci", "ci", "run"]
    assert "this takes some minutes" in steps[-1].message
    # Another Node.js cannot load what was built for this one.
    put(tmp_path / "bin", "node", "echo v22.1.0")
    assert install(silent)[1] != found[1]


def test_failed_build_keeps_its_output(
    tmp_path: Path, calls: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "bin", "npm", 'test "$1" = ci || { echo no header; exit 1; }')
    monkeypatch.setenv("CXX", "sh")
    with pytest.raises(SetupError, match="could not be compiled: see the end of") as failed:
        programs.command("confluent", "producer", cache_folder=tmp_path / "cache")
    log = tmp_path / "cache" / "node" / "build-failed.log"
    assert str(log) in str(failed.value)
    assert log.read_text() == "no header\n"


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


@pytest.mark.parametrize("client", ["kafkajs", "confluent"])
def test_lock_has_checksums_and_no_addresses_of_packages(client: str) -> None:
    text = (programs.SOURCES / client / "package-lock.json").read_text()
    assert "resolved" not in text
    assert text.count('"integrity"') == text.count('"node_modules/')


def test_lock_of_the_wheel_has_checksums() -> None:
    lock = node.WHEEL_LOCK.read_text()
    assert lock.count("--hash=sha256:") == 2


def test_report_has_the_version_that_the_lock_pins() -> None:
    assert KAFKAJS.versions() == {"kafkajs": "2.2.4"}
    assert CONFLUENT_JAVASCRIPT.versions() == {"confluent-javascript": "1.10.1"}
