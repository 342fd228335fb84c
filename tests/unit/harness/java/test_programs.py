"""Java programs: compiled once, and what is said where they cannot be."""

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


def test_a_program_is_compiled_when_it_has_changed(
    sources: Path, libs: Path, tmp_path: Path
) -> None:
    java, kept = find(os.environ).program, tmp_path / "cache"
    programs = compiled(java, libs, cache_folder=kept, sources=[sources])
    said = subprocess.run(
        [str(part) for part in programs.command("Hello", "there")], capture_output=True, text=True
    )
    assert (said.stdout, said.returncode) == ("hi there", 0), said.stderr
    assert compiled(java, libs, cache_folder=kept, sources=[sources]) == programs
    (sources / "Hello.java").write_text(SOURCE.replace("hi", "ho"))
    changed = compiled(java, libs, cache_folder=kept, sources=[sources])
    assert changed.class_path != programs.class_path
    assert len([entry for entry in (kept / "java").iterdir() if entry.is_dir()]) == 2


@pytest.mark.parametrize(
    ("source", "said"),
    [("class Hello { int x = y; }", "cannot find symbol"), ("class", "do not compile")],
)
def test_what_does_not_compile_is_told(
    source: str, said: str, sources: Path, libs: Path, tmp_path: Path
) -> None:
    (sources / "Hello.java").write_text(source)
    with pytest.raises(SetupError, match=said):
        compiled(find(os.environ).program, libs, cache_folder=tmp_path / "cache", sources=[sources])
    assert not [e for e in (tmp_path / "cache" / "java").iterdir() if e.is_dir()]


def test_a_java_without_compiler_is_told(sources: Path, libs: Path, tmp_path: Path) -> None:
    java = tmp_path / "java"
    java.write_text("#!/bin/sh\necho 'Module jdk.compiler not found' >&2; exit 1\n")
    java.chmod(0o755)
    with pytest.raises(SetupError, match="has no Java compiler"):
        compiled(java, libs, cache_folder=tmp_path / "cache", sources=[sources])


def test_without_a_local_stage_the_jars_are_had_all_the_same(
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
def test_settings_that_the_client_accepts(sender: Java, transactional: bool) -> None:
    """It refuses to start with less patience than one request needs."""
    settings = sender.settings(transactional=transactional)
    least = settings["linger.ms"] + settings["request.timeout.ms"]
    assert settings["delivery.timeout.ms"] >= least > settings["linger.ms"]
    assert ("transaction.timeout.ms" in settings) is transactional
