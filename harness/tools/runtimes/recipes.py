"""Which jars make up a version of a runtime: the roots that Ivy resolves, and what to leave out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from onceproof.harness.tools import jar_lock
from onceproof.harness.tools.error import SetupError
from onceproof.harness.tools.ivy import Coordinate
from onceproof.harness.tools.jar_lock import PySpark
from onceproof.harness.tools.runtimes.known import numbers

KAFKA, CLIENTS, CONNECT, FLINK = "kafka", "kafka-clients", "connect", "flink"
ARTEMIS: Final = "artemis"
JVM: Final = (KAFKA, CLIENTS, CONNECT, FLINK, ARTEMIS)
"""The runtimes that are jars."""
FLINK_CONNECTORS: Final[Mapping[str, str]] = {
    "1.20": "3.4.0-1.20",
    "2.0": "4.0.1-2.0",
    "2.1": "5.0.0-2.1",
    "2.2": "5.0.0-2.2",
}
"""Flink minor version → its newest Kafka connector."""
_NEVER_RELEASED: Final[Mapping[tuple[str, str], str]] = {
    ("connect-basic-auth-extension", "3.9.2"): "3.9.1",
}
"""Artifact and version → the version to use, since the registry does not have this one."""
_LOG4J_1: Final = frozenset({"log4j", "reload4j", "slf4j-log4j12", "slf4j-reload4j"})
"""Artifacts that `log4j-1.2-api` replaces: Log4j 2 with the interface of Log4j 1."""
_KAFKA: Final = "org.apache.kafka"
_LOG4J: Final = "org.apache.logging.log4j"


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How to get the jars of one version of a runtime.

    Attributes:
        roots: the jars to resolve with all that they need.
        left_out: artifacts that are not used.
    """

    runtime: str
    version: str
    roots: tuple[Coordinate, ...]
    left_out: frozenset[str] = frozenset()

    @property
    def title(self) -> str:
        return f"{self.runtime} {self.version}"


def recipe(runtime: str, version: str) -> Recipe:
    """Return the recipe for a version of a runtime of `JVM`.

    Raises:
        SetupError: no connector is known for this Flink.
    """
    if runtime == FLINK:
        return Recipe(runtime=runtime, version=version, roots=_flink(version))
    if runtime == ARTEMIS:
        roots = jar_lock.artemis_roots(version)
        return Recipe(runtime=runtime, version=version, roots=roots)
    names = {
        KAFKA: ("kafka_2.13",),
        CLIENTS: ("kafka-clients", "kafka-streams"),
        CONNECT: jar_lock.CONNECT_PARTS,
    }[runtime]
    own = tuple(
        Coordinate(
            group=_KAFKA, artifact=name, version=_NEVER_RELEASED.get((name, version), version)
        )
        for name in names
    )
    # Kafka before 4.0 calls Log4j 1 itself.
    old = runtime != CLIENTS and numbers(version) < numbers("4.0")
    return Recipe(
        runtime=runtime,
        version=version,
        roots=(*own, *_json(), *_logging(*(("log4j-1.2-api",) if old else ()))),
        left_out=_LOG4J_1,
    )


def of_spark(pyspark: PySpark) -> Recipe:
    """Return the recipe for what a PySpark needs besides its own jars, on this stage."""
    return Recipe(
        runtime="spark",
        version=pyspark.version,
        roots=jar_lock.spark_kafka_roots(pyspark),
        left_out=pyspark.bundled,
    )


def is_usual(runtime: str, version: str) -> bool:
    """Whether the lock file of this package has the jars."""
    if runtime == FLINK:
        return version in jar_lock.FLINK
    return version == (jar_lock.ARTEMIS if runtime == ARTEMIS else jar_lock.KAFKA)


def _flink(version: str) -> tuple[Coordinate, ...]:
    minor = ".".join(version.split(".")[:2])
    connector = FLINK_CONNECTORS.get(minor)
    if connector is None:
        raise SetupError(
            f"--with flink={version}: unsupported: no Kafka connector is known for Flink {minor}. "
            f"There is one for {', '.join(FLINK_CONNECTORS)}."
        )
    own = "org.apache.flink"
    return (
        Coordinate(group=own, artifact="flink-clients", version=version),
        Coordinate(group=own, artifact="flink-connector-base", version=version),
        Coordinate(group=own, artifact="flink-connector-kafka", version=connector),
        *_logging(),
    )


def _json() -> tuple[Coordinate, ...]:
    """Return what the programs in `harness/java` need; a newer version of a runtime prevails."""
    group = "com.fasterxml.jackson.core"
    return (Coordinate(group=group, artifact="jackson-databind", version=jar_lock.JACKSON),)


def _logging(*more: str) -> tuple[Coordinate, ...]:
    names = ("log4j-slf4j-impl", "log4j-core", "log4j-api", *more)
    return tuple(Coordinate(group=_LOG4J, artifact=n, version=jar_lock.LOG4J) for n in names)
