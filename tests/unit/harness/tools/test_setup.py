"""`setup.ensure` and the doctor, with fakes for everything slow."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import ModuleType

import psutil
import pytest

from onceproof.commands import setup as preparing
from onceproof.harness.stage import backends
from onceproof.harness.tools import __main__ as command
from onceproof.harness.tools import doctor, jar_lock, jars, postgres, setup, toxiproxy
from onceproof.harness.tools.doctor import Status
from onceproof.harness.tools.error import SetupError
from onceproof.harness.tools.java import Java
from onceproof.harness.tools.postgres import Postgres
from onceproof.harness.tools.progress import Step
from onceproof.harness.tools.runtimes import jar_sets, python_client
from onceproof.harness.wait import wait_until


def some_java(environ: Mapping[str, str]) -> Java:
    return Java(program=Path("/jdk/bin/java"), home=Path("/jdk"), version="17.0.15")


@pytest.fixture
def fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[ModuleType, Exception]:
    """Fake all tools; a tool that is a key here fails with the given error."""
    pyspark = tmp_path / "pyspark-jars"
    pyspark.mkdir()
    (pyspark / "ivy-2.5.3.jar").touch()
    monkeypatch.setattr(
        jar_lock, "installed_pyspark", lambda: jar_lock.PySpark(version="4.0.0", jars=pyspark)
    )

    def jar_folder(wanted: jar_lock.JarSet, *, cache_folder: Path, **rest: object) -> Path:
        folder = cache_folder / wanted.name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "b.jar").touch()
        (folder / "a.jar").touch()
        return folder

    found: dict[ModuleType, Callable[..., object]] = {
        jars: jar_folder,
        toxiproxy: lambda **rest: Path("/cache/toxiproxy-server"),
        postgres: lambda **rest: Postgres(bin=Path("/pg/bin"), version="18.4"),
    }
    failing: dict[ModuleType, Exception] = {}

    def ensure(tool: ModuleType, *what: object, **rest: object) -> object:
        if tool in failing:
            raise failing[tool]
        return found[tool](*what, **rest)

    for tool in found:
        monkeypatch.setattr(tool, "ensure", partial(ensure, tool))
    return failing


@pytest.mark.usefixtures("fails")
def test_ensure_returns_all_tools(tmp_path: Path) -> None:
    tools = setup.ensure(cache_folder=tmp_path, find_java=some_java)
    assert tools.java_home == Path("/jdk")
    assert [jar.name for jar in tools.spark_kafka_jars] == ["a.jar", "b.jar"]
    assert tools.versions() == {"java": "17.0.15", "pyspark": "4.0.0", "spark-kafka": "4.0.0"}
    stage = tools.stage
    assert stage is not None
    assert stage.java == Path("/jdk/bin/java")
    assert stage.kafka_libs == tmp_path / "kafka"
    assert stage.toxiproxy == Path("/cache/toxiproxy-server")
    assert stage.postgres.bin == Path("/pg/bin")
    assert stage.versions() == {
        "kafka": jar_lock.KAFKA,
        "toxiproxy": toxiproxy.VERSION,
        "postgresql": "18.4",
    }


def test_tools_of_the_local_stage_can_be_left_out(
    tmp_path: Path, fails: dict[ModuleType, Exception]
) -> None:
    fails[toxiproxy] = fails[postgres] = AssertionError("nobody wants it")
    tools = setup.ensure(stage=False, cache_folder=tmp_path, find_java=some_java)
    assert tools.stage is None
    assert [jar.name for jar in tools.spark_kafka_jars] == ["a.jar", "b.jar"]
    assert not (tmp_path / "kafka").exists()


@pytest.mark.usefixtures("fails")
def test_chosen_versions_have_their_own_jars(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        jar_sets, "folder", lambda runtime, version, **_: Path(f"/{runtime}-{version}")
    )
    monkeypatch.setattr(
        python_client, "ensure", lambda name, version, **_: Path(f"/{name}-{version}/python")
    )
    versions = {"kafka": "3.9.2", "kafka-clients": "3.0.0", "librdkafka": "2.1.0"}
    tools = setup.ensure(versions=versions, cache_folder=tmp_path, find_java=some_java)
    assert tools.chosen.versions == versions
    assert tools.chosen.jars == {"kafka-clients": Path("/kafka-clients-3.0.0")}
    assert tools.chosen.pythons == {"librdkafka": Path("/librdkafka-2.1.0/python")}
    assert tools.stage is not None
    assert tools.stage.kafka_libs == Path("/kafka-3.9.2")
    assert tools.stage.kafka == tools.stage.versions()["kafka"] == "3.9.2"


@pytest.mark.parametrize(
    ("backend", "stage"), [("local", True), ("docker", False), ("external:x", False)]
)
def test_stage_tools_are_prepared_for_the_local_backend_only(
    backend: str, stage: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    requested: list[object] = []
    monkeypatch.setattr(backends, "prepare", lambda *_: [])
    monkeypatch.setattr(preparing, "ensure", lambda progress, **what: requested.append(what))
    preparing.prepared(backend)
    assert requested == [{"stage": stage, "versions": None}]


_PREPARED = """
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from onceproof.harness.stage import backends
from onceproof.harness.tools.ivy import Coordinate, Ivy
from onceproof.commands import setup

jars = [Coordinate(group="g", artifact=f"a{n}", version="1") for n in range(20)]
ivy = Ivy(java=Path(sys.argv[1]), jar=Path("ivy.jar"))

def ensure(progress, **what):
    with ThreadPoolExecutor(2) as pool:  # as tools are got: side by side, each in its thread
        for name in ("one", "other"):
            folder = Path(sys.argv[2], name)
            pool.submit(ivy.fetch, jars, folder, name=name, count=print)

backends.prepare = lambda *_: []
setup.ensure = ensure
setup.prepared()
"""


def test_downloads_end_when_the_command_is_terminated(tmp_path: Path) -> None:
    java, pids = tmp_path / "java", tmp_path / "pids"
    java.write_text(f"#!/bin/sh\necho $$ >> '{pids}'\nexec sleep 600\n")
    java.chmod(0o755)
    command = [sys.executable, "-c", _PREPARED, java, tmp_path / "jars"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as preparing_:
        wait_until(
            lambda: pids.exists() and len(pids.read_text().split()) == 4,
            what="four downloads to begin", seconds=60,
        )  # fmt: skip
        preparing_.send_signal(signal.SIGTERM)
        assert preparing_.wait(60) == 130
        assert preparing_.stderr is not None
        assert "interrupted during set-up" in preparing_.stderr.read()
    started = [int(pid) for pid in pids.read_text().split()]
    assert len(started) == 4, "none of them is tried again"
    assert not any(map(runs, started))


def runs(pid: int) -> bool:
    """Whether a process is running; an orphan may stay as a zombie, which does not count."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_each_failure_is_reported_once(tmp_path: Path, fails: dict[ModuleType, Exception]) -> None:
    fails[jars], fails[toxiproxy] = SetupError("No network."), SetupError("Disk full.")
    with pytest.raises(SetupError) as caught:
        setup.ensure(cache_folder=tmp_path, find_java=some_java)
    assert str(caught.value) == "Disk full.\nNo network."


def test_unexpected_error_is_not_wrapped(
    tmp_path: Path, fails: dict[ModuleType, Exception]
) -> None:
    fails[toxiproxy] = KeyError("oops")
    with pytest.raises(KeyError):
        setup.ensure(cache_folder=tmp_path, find_java=some_java)


def test_command_prints_the_setup_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(progress: object) -> None:
        raise SetupError("Java is missing.")

    monkeypatch.setattr(setup, "ensure", fail)
    assert command.main(["setup"]) == 3
    assert capsys.readouterr().err == "onceproof: Java is missing.\n"


def test_progress_is_printed_in_quarters(capsys: pytest.CaptureFixture[str]) -> None:
    show = command._printer(0.0)
    for done in range(41):
        show(Step(tool="kafka", message="downloading jars", done=done, total=40))
    show(Step(tool="kafka", message="kafka 4.2.0 is ready", finished=True))
    printed = capsys.readouterr().out
    assert [line.split("(")[1] for line in printed.splitlines()] == [
        f"{n} of 40)" for n in (0, 10, 20, 30, 40)
    ]


def test_doctor_checks_everything_and_never_raises(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def not_installed() -> jar_lock.PySpark:
        raise SetupError("PySpark is not installed.")

    monkeypatch.setattr(jar_lock, "installed_pyspark", not_installed)
    found = {
        f.name: f
        for f in doctor.examine(
            cache_folder=tmp_path / "absent",
            runs=tmp_path,
            environ={"PATH": ""},
            leftovers=lambda: ["broker 4711"],
        )
    }
    assert found["Spark connector"].detail == "PySpark is not installed."
    assert found["Spark connector"].status is Status.PROBLEM
    assert found["toxiproxy"].status is Status.NOTE
    assert found["Go"].status is Status.NOTE
    assert found["leftovers"].detail == "broker 4711"
    assert not (tmp_path / "absent").exists()


def test_doctor_reports_missing_jars(tmp_path: Path) -> None:
    wanted = jar_lock.load("kafka", jar_lock.KAFKA)
    folder = jars.folder_of(wanted, tmp_path)
    folder.mkdir(parents=True)
    (folder / jars.SIZES).write_text("{}")
    finding = doctor.check_jars("kafka", jar_lock.KAFKA, tmp_path)
    assert finding.status is Status.PROBLEM
    assert f"kafka-clients-{jar_lock.KAFKA}.jar is missing" in finding.detail
    assert str(folder) in finding.advice


def test_doctor_notes_low_memory_and_disk(tmp_path: Path) -> None:
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal: 2000000 kB\nMemAvailable: 1048576 kB\n")
    assert doctor.check_memory(meminfo).status is Status.NOTE
    assert doctor.check_memory(meminfo).detail == "1.0 GiB available"
    assert doctor.check_disk([tmp_path / "not" / "yet"], needed=1 << 60).status is Status.NOTE


def test_doctor_reports_broken_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object, **rest: object) -> socket.socket:
        raise OSError("Cannot assign requested address")

    assert doctor.check_loopback().status is Status.OK
    monkeypatch.setattr(socket, "create_server", refuse)
    assert doctor.check_loopback().status is Status.PROBLEM
