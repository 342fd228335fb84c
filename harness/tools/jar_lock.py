"""The lock of jars: sets of Maven coordinates with the sha256 of every jar.

Users download exactly these. Only `make lock-jars` resolves dependencies and rewrites the lock.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from onceproof.harness.tools.error import SetupError
from onceproof.harness.tools.ivy import Coordinate

LOCK = Path(__file__).with_name("jars.lock.json")
KAFKA = "4.2.0"
DELTA: Mapping[str, str] = {"4.0": "4.0.0", "3.5": "3.3.2"}
"""Spark minor version → Delta Lake. With other Sparks, subjects that need it do not start."""
ICEBERG: Mapping[str, str] = {"4.0": "1.11.0", "3.5": "1.11.0"}
"""Spark minor version → Apache Iceberg, likewise."""
ICEBERG_RUNTIME = "iceberg-spark-runtime"
"""Prefix of its jar, which bundles all dependencies (50 MB)."""
FLINK: Mapping[str, str] = {"2.2.0": "5.0.0-2.2", "1.20.1": "3.4.0-1.20"}
"""Flink version → its Kafka connector. They are downloaded when a run needs them."""
CONNECT_PARTS = (
    "connect-runtime",
    "connect-basic-auth-extension",
    "connect-file",
    "connect-mirror",
    "connect-mirror-client",
)
"""The artifacts of Kafka Connect, all in Kafka's version."""
ARTEMIS = "2.55.0"
JMS = "3.1.0"
"""Explicit, because Artemis' client needs Jakarta and the resolver would choose the older API."""
SPRING_KAFKA = "4.1.0"
HUDI = "1.2.0"
"""In the bundle for Spark 3.5, which contains all dependencies (80 MB)."""
PAIMON = "0.9.0"
"""In the bundle for Spark 3.5, likewise (40 MB)."""
JACKSON = "2.19.2"
"""The version of Kafka."""
LOG4J = "2.25.3"
"""Kafka declares no logging backend; this is the version of its other dependencies."""


@dataclass(frozen=True, kw_only=True)
class PySpark:
    """A PySpark, inspected without importing it."""

    version: str
    jars: Path

    @property
    def scala(self) -> str:
        """The Scala version of its jars, e.g. 2.13, which is part of the connector's name."""
        library = self._one("scala-library-*.jar")
        return ".".join(library.stem.removeprefix("scala-library-").split(".")[:2])

    @property
    def ivy(self) -> Path:
        return self._one("ivy-*.jar")

    def bundles(self, artifact: str) -> bool:
        return artifact in self.bundled

    @property
    def bundled(self) -> frozenset[str]:
        """The artifacts that it has, without their versions."""
        return frozenset(re.sub(r"-\d.*", "", jar.stem) for jar in self.jars.glob("*.jar"))

    def _one(self, pattern: str) -> Path:
        found = sorted(self.jars.glob(pattern))
        if not found:
            raise SetupError(
                f"The installed PySpark lacks {pattern} in {self.jars}. "
                "Remove the folder .venv, then install it again with `make setup`."
            )
        return found[0]


def installed_pyspark() -> PySpark:
    spec = find_spec("pyspark")
    if spec is None or not spec.submodule_search_locations:
        raise SetupError("PySpark is not installed in this environment: run `make setup`.")
    folder = Path(spec.submodule_search_locations[0])
    return PySpark(version=version("pyspark"), jars=folder / "jars")


@dataclass(frozen=True, kw_only=True)
class JarSet:
    """Jars that are used together, with their sha256 sums."""

    name: str
    version: str
    sums: Mapping[Coordinate, str]

    @property
    def folder_name(self) -> str:
        """Folder name with a hash of the lock, so that an outdated folder is never used."""
        text = "\n".join(f"{jar} {digest}" for jar, digest in sorted(self.sums.items()))
        return f"{self.name}-{self.version}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"

    @property
    def title(self) -> str:
        return f"{self.name} {self.version}"


def kafka_roots() -> tuple[Coordinate, ...]:
    log4j = "org.apache.logging.log4j"
    return (
        Coordinate(group="org.apache.kafka", artifact="kafka_2.13", version=KAFKA),
        Coordinate(group="org.apache.kafka", artifact="kafka-streams", version=KAFKA),
        Coordinate(group=log4j, artifact="log4j-slf4j-impl", version=LOG4J),
        Coordinate(group=log4j, artifact="log4j-core", version=LOG4J),
    )


def connect_roots() -> tuple[Coordinate, ...]:
    return tuple(
        Coordinate(group="org.apache.kafka", artifact=name, version=KAFKA) for name in CONNECT_PARTS
    )


def spark_kafka_roots(pyspark: PySpark) -> tuple[Coordinate, ...]:
    """Return Spark's Kafka connector in Spark's exact version, Delta Lake and Iceberg."""
    connector = f"spark-sql-kafka-0-10_{pyspark.scala}"
    line = ".".join(pyspark.version.split(".")[:2])
    found = [Coordinate(group="org.apache.spark", artifact=connector, version=pyspark.version)]
    if delta := DELTA.get(line):
        name = f"delta-spark_{pyspark.scala}"
        found.append(Coordinate(group="io.delta", artifact=name, version=delta))
    if iceberg := ICEBERG.get(line):
        name = f"{ICEBERG_RUNTIME}-{line}_{pyspark.scala}"
        found.append(Coordinate(group="org.apache.iceberg", artifact=name, version=iceberg))
    return tuple(found)


def flink_roots(flink: str) -> tuple[Coordinate, ...]:
    own, log4j = "org.apache.flink", "org.apache.logging.log4j"
    return (
        Coordinate(group=own, artifact="flink-clients", version=flink),
        Coordinate(group=own, artifact="flink-connector-base", version=flink),
        Coordinate(group=own, artifact="flink-connector-kafka", version=FLINK[flink]),
        Coordinate(group=log4j, artifact="log4j-slf4j-impl", version=LOG4J),
        Coordinate(group=log4j, artifact="log4j-core", version=LOG4J),
        Coordinate(group=log4j, artifact="log4j-api", version=LOG4J),
    )


def artemis_roots(version: str = ARTEMIS) -> tuple[Coordinate, ...]:
    # It left ActiveMQ with 2.50; its packages did not change.
    new = int(version.split(".")[1]) >= 50
    own = "org.apache.artemis" if new else "org.apache.activemq"
    names = ("artemis-server", "artemis-amqp-protocol", "artemis-jakarta-client")
    return (
        *(Coordinate(group=own, artifact=name, version=version) for name in names),
        Coordinate(group="jakarta.jms", artifact="jakarta.jms-api", version=JMS),
        *_json_and_logging(),
    )


def spring_kafka_roots() -> tuple[Coordinate, ...]:
    own = "org.springframework.kafka"
    return (
        Coordinate(group=own, artifact="spring-kafka", version=SPRING_KAFKA),
        *_json_and_logging(),
    )


def hudi_roots() -> tuple[Coordinate, ...]:
    bundle = "hudi-spark3.5-bundle_2.12"
    return (Coordinate(group="org.apache.hudi", artifact=bundle, version=HUDI),)


def paimon_roots() -> tuple[Coordinate, ...]:
    return (Coordinate(group="org.apache.paimon", artifact="paimon-spark-3.5", version=PAIMON),)


def _json_and_logging() -> tuple[Coordinate, ...]:
    """Return what our Java programs need besides a library that logs by SLF4J 2."""
    jackson, log4j = "com.fasterxml.jackson.core", "org.apache.logging.log4j"
    return (
        Coordinate(group=jackson, artifact="jackson-databind", version=JACKSON),
        *(
            Coordinate(group=log4j, artifact=name, version=LOG4J)
            for name in ("log4j-slf4j2-impl", "log4j-core", "log4j-api")
        ),
    )


def load(name: str, set_version: str, *, lock: Path = LOCK) -> JarSet:
    try:
        sets = json.loads(lock.read_text())
        jars = sets.get(f"{name} {set_version}")
        sums = None if jars is None else {Coordinate.parse(jar): s for jar, s in jars.items()}
    except (OSError, ValueError, AttributeError) as error:
        raise SetupError(
            f"The jar lock file {lock} cannot be read: {error}. "
            "Restore it from the repository, or create it again with `make lock-jars`."
        ) from error
    if not sums:
        raise SetupError(
            f"The jar lock file has no checksums for {name} {set_version}. If you changed the "
            "version, update the file with `make lock-jars`."
        )
    return JarSet(name=name, version=set_version, sums=sums)


def save(sets: list[JarSet], *, lock: Path = LOCK) -> None:
    content = {s.title: {str(jar): s.sums[jar] for jar in sorted(s.sums)} for s in sets}
    lock.write_text(json.dumps(content, indent=2) + "\n")


def digest(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
