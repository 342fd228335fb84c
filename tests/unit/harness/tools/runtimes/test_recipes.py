"""Recipes: the roots of each runtime, by version."""

from __future__ import annotations

import pytest

from onceproof.harness.tools import jar_lock
from onceproof.harness.tools.error import SetupError
from onceproof.harness.tools.runtimes.recipes import JVM, is_usual, recipe


def roots(runtime: str, version: str) -> dict[str, str]:
    return {root.artifact: root.version for root in recipe(runtime, version).roots}


@pytest.mark.parametrize(
    ("runtime", "version", "main"),
    [
        ("kafka", "3.9.2", "kafka_2.13"),
        ("kafka-clients", "3.0.0", "kafka-streams"),
        ("connect", "3.9.2", "connect-runtime"),
        ("flink", "2.1.0", "flink-clients"),
    ],
)
def test_runtime_has_its_version_and_a_logging_backend(
    runtime: str, version: str, main: str
) -> None:
    found = roots(runtime, version)
    assert found[main] == version
    assert found["log4j-core"] == found["log4j-slf4j-impl"] == jar_lock.LOG4J


@pytest.mark.parametrize("runtime", ["kafka", "connect"])
def test_kafka_before_4_gets_the_interface_of_log4j_1(runtime: str) -> None:
    assert "log4j-1.2-api" in roots(runtime, "3.9.2")
    assert "log4j-1.2-api" not in roots(runtime, "4.0.0")
    assert "reload4j" in recipe(runtime, "3.9.2").left_out


def test_java_programs_can_read_their_task() -> None:
    assert roots("kafka-clients", "3.0.0")["jackson-databind"] == jar_lock.JACKSON


@pytest.mark.parametrize("flink", jar_lock.FLINK)
def test_locked_flink_has_the_connector_of_the_table(flink: str) -> None:
    assert roots("flink", flink)["flink-connector-kafka"] == jar_lock.FLINK[flink]


def test_flink_without_a_connector_is_refused() -> None:
    with pytest.raises(SetupError, match=r"--with flink=2.9.0: unsupported: .* 1.20, 2.0"):
        recipe("flink", "2.9.0")


def test_usual_versions() -> None:
    of_kafka = set(JVM) - {"flink", "artemis"}
    assert {runtime for runtime in JVM if is_usual(runtime, jar_lock.KAFKA)} == of_kafka
    assert is_usual("artemis", jar_lock.ARTEMIS)
    assert str(recipe("artemis", "2.44.0").roots[0]).startswith("org.apache.activemq:")
    assert str(recipe("artemis", "2.50.0").roots[0]).startswith("org.apache.artemis:")
    assert is_usual("flink", "1.20.1")
    assert not is_usual("kafka", "3.9.2")
