"""Which folder of Kafka's jars a program gets, by the run's chosen versions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from onceproof.harness.subjects.connect.worker import connect_program
from onceproof.harness.subjects.flink import programs
from onceproof.harness.tools import jar_lock, jars_for
from onceproof.harness.tools.postgres import Postgres
from onceproof.harness.tools.runtimes.chosen import Chosen
from onceproof.harness.tools.setup import StageTools, Tools

USUAL, BROKERS = Path("/usual"), Path("/brokers")


@pytest.fixture(autouse=True)
def locked_sets(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Fake the sets that are downloaded on first use."""
    (tmp_path / "ivy-2.5.3.jar").touch()
    monkeypatch.setattr(
        jar_lock, "installed_pyspark", lambda: jar_lock.PySpark(version="4.0.0", jars=tmp_path)
    )
    monkeypatch.setattr(
        jars_for.jars, "with_ivy", lambda wanted, *_, **__: USUAL / wanted.folder_name.split("-")[0]
    )


def tools(versions: Mapping[str, str], **folders: str) -> Tools:
    return Tools(
        java_home=Path("/jdk"),
        spark_kafka_jars=(),
        stage=StageTools(
            java=Path("/jdk/bin/java"),
            kafka_libs=BROKERS,
            toxiproxy=Path("/toxiproxy"),
            postgres=Postgres(bin=Path("/pg"), version="18"),
        ),
        chosen=Chosen(
            versions=versions,
            jars={name.replace("_", "-"): Path(folder) for name, folder in folders.items()},
        ),
    )


@pytest.mark.parametrize(
    ("having", "expected"),
    [
        (tools({}), BROKERS),
        (tools({"kafka": jar_lock.KAFKA}), BROKERS),
        (tools({"kafka": "3.9.2"}), USUAL / "kafka"),
        (tools({"kafka-clients": "3.0.0"}, kafka_clients="/3.0.0"), Path("/3.0.0")),
        (
            tools({"kafka": "3.9.2", "kafka-clients": "3.0.0"}, kafka_clients="/3.0.0"),
            Path("/3.0.0"),
        ),
    ],
)
def test_java_clients_do_not_follow_the_brokers_version(having: Tools, expected: Path) -> None:
    assert jars_for.kafka_jars(having) == expected


def test_connect_has_kafkas_jars_of_its_own_version() -> None:
    clients = {"kafka-clients": "3.0.0"}
    usual = connect_program(tools(clients, kafka_clients="/3.0.0"))
    assert usual.class_path == f"{USUAL}/kafka/*:{BROKERS}/*"
    chosen = connect_program(tools({"connect": "3.9.2"}, connect="/connect-3.9.2"))
    assert chosen.class_path == "/connect-3.9.2/*"


def test_chosen_flink_prevails(monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[Path] = []

    def compiled(java: Path, libs: Path, **_: object) -> programs.FlinkProgram:
        used.append(libs)
        return programs.FlinkProgram(java=java, class_path="")

    monkeypatch.setattr(programs, "compiled", compiled)
    programs.program_for(tools({}), "1.20.1")
    programs.program_for(tools({"flink": "2.1.0"}, flink="/flink-2.1.0"), "1.20.1")
    assert used == [USUAL / "flink", Path("/flink-2.1.0")]
