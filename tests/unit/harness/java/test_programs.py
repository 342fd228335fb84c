"""Compiling Java programs, and the errors if that fails."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from onceproof.harness.java import programs as programs_module
from onceproof.harness.java.programs import compiled, programs_for
from onceproof.harness.tools import jars
from onceproof.harness.tools.error import SetupError
from onceproof.harness.tools.java import find
from onceproof.harness.tools.setup import Tools
from onceproof.harness.workload.senders.java import JAVA, Java

SOURCE = 'class Hello { public static void main(String[] a) { System.out.print("hi " + a[0]); } }'


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    folder = tmp_path / "sources"
    folder.mkdir()
    (folder / "Hello.java").write_text(SOURCE)
    return folder


@pytest.fixture
def libs(tmp_path: Path) -> Path:
    folder = tmp_path / "libs"
    folder.mkdir()
    return folder


def test_changed_program_is_recompiled(sources: Path, libs: Path, tmp_path: Path) -> None:
    java, cache = find(os.environ).program, tmp_path / "cache"
    programs = compiled(java, libs, cache_folder=cache, sources=[sources])
    done = subprocess.run(
        [str(part) for part in programs.command("Hello", "there")], capture_output=True, text=True
    )
    assert (done.stdout, done.returncode) == ("hi there", 0), done.stderr
    assert compiled(java, libs, cache_folder=cache, sources=[sources]) == programs
    (sources / "Hello.java").write_text(SOURCE.replace("hi", "ho"))
    changed = compiled(java, libs, cache_folder=cache, sources=[sources])
    assert changed.class_path != programs.class_path
    assert len([entry for entry in (cache / "java").iterdir() if entry.is_dir()]) == 2


@pytest.mark.parametrize(
    ("source", "message"),
    [("class Hello { int x = y; }", "cannot find symbol"), ("class", "do not compile")],
)
def test_compile_error_is_reported(
    source: str, message: str, sources: Path, libs: Path, tmp_path: Path
) -> None:
    (sources / "Hello.java").write_text(source)
    with pytest.raises(SetupError, match=message):
        compiled(find(os.environ).program, libs, cache_folder=tmp_path / "cache", sources=[sources])
    assert not [e for e in (tmp_path / "cache" / "java").iterdir() if e.is_dir()]


def test_java_without_compiler_is_refused(sources: Path, libs: Path, tmp_path: Path) -> None:
    java = tmp_path / "java"
    java.write_text("#!/bin/sh\necho 'Module jdk.compiler not found' >&2; exit 1\n")
    java.chmod(0o755)
    with pytest.raises(SetupError, match="has no Java compiler"):
        compiled(java, libs, cache_folder=tmp_path / "cache", sources=[sources])


def test_kafka_jars_are_fetched_without_local_stage(
    libs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def ensure(wanted: object, **_: object) -> Path:
        asked.append(getattr(wanted, "name", ""))
        return libs

    monkeypatch.setattr(jars, "ensure", ensure)
    monkeypatch.setattr(programs_module, "compiled", lambda java, libs: (java, libs))
    tools = Tools(java_home=Path("/jdk"), spark_kafka_jars=(), stage=None)
    assert programs_for(tools) == (Path("/jdk/bin/java"), libs)
    assert asked == ["kafka"]


@pytest.mark.parametrize("sender", [JAVA, Java(resend_seconds=0.5), Java(idempotent=False)])
@pytest.mark.parametrize("transactional", [False, True])
def test_delivery_timeout_covers_linger_and_one_request(sender: Java, transactional: bool) -> None:
    """The client refuses to start with a shorter delivery timeout."""
    settings = sender.settings(transactional=transactional)
    least = settings["linger.ms"] + settings["request.timeout.ms"]
    assert settings["delivery.timeout.ms"] >= least > settings["linger.ms"]
    assert ("transaction.timeout.ms" in settings) is transactional
