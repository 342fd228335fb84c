"""The runtimes that a run can choose a version of, and which versions work."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from onceproof.harness.tools.error import SetupError

FOLDER: Final = "runtimes"
"""In the cache."""
CHOSEN: Final = "runtimes"
"""In a run's configuration: the runtimes whose version was chosen."""
POSTGRESQL: Final = "postgresql"
OF_THE_STAGE: Final = frozenset({"kafka", POSTGRESQL})
"""Runtimes of the stage, which says their versions itself; other backends bring their own."""
_VERSION: Final = re.compile(r"\d+(\.\d+){1,3}")


@dataclass(frozen=True, kw_only=True)
class Runtime:
    """Software that a run can use in another version.

    Attributes:
        name: as in `--with NAME=VERSION`.
        what: what it is, for messages and the reference.
        oldest: the oldest version that works here.
        reason: why older ones do not.
    """

    name: str
    what: str
    oldest: str
    reason: str


RUNTIMES: Final[Mapping[str, Runtime]] = {
    each.name: each
    for each in (
        Runtime(
            name="kafka",
            what="Kafka's brokers (kafka_2.13)",
            oldest="3.7.0",
            reason="the local stage uses KRaft as it is since 3.7",
        ),
        Runtime(
            name="kafka-clients",
            what="Kafka's Java clients and Kafka Streams",
            oldest="3.0.0",
            reason="older releases were not tried",
        ),
        Runtime(
            name="connect",
            what="Kafka Connect (connect-runtime)",
            oldest="3.6.0",
            reason="in 3.5 another worker takes over an exactly-once task after 90 s only",
        ),
        Runtime(
            name="librdkafka",
            what="librdkafka, through confluent-kafka",
            oldest="1.5.0",
            reason="the binding calls functions that 1.4 does not have",
        ),
        Runtime(
            name="aiokafka",
            what="aiokafka",
            oldest="0.9.0",
            reason="older releases need a kafka-python that the harness does not work with",
        ),
        Runtime(
            name="kafka-python",
            what="kafka-python",
            oldest="2.2.0",
            reason="transactions came with 2.2",
        ),
        Runtime(
            name="spark",
            what="Apache Spark: PySpark and its Kafka connector, Delta Lake and Iceberg",
            oldest="3.5.0",
            reason="older releases do not run on this Python",
        ),
        Runtime(
            name="flink",
            what="Apache Flink and its Kafka connector",
            oldest="1.20.0",
            reason="the job uses the sink API of 1.20",
        ),
        Runtime(
            name="artemis",
            what="Apache ActiveMQ Artemis: the queue broker and its JMS client",
            oldest="2.40.0",
            reason="older releases were not tried",
        ),
        Runtime(
            name=POSTGRESQL,
            what="PostgreSQL (embedded-postgres-binaries)",
            oldest="15.0",
            reason="the local stage uses GRANT … ON PARAMETER, which is new in 15",
        ),
    )
}
"""By name."""


def asked(words: Iterable[str], *backends: str) -> dict[str, str]:
    """Read `NAME=VERSION` words for runs on these backends.

    Raises:
        SetupError: a name is unknown or given twice, a version is malformed or too old, or a
            backend has that runtime in a version of its own.
    """
    found: dict[str, str] = {}
    for word in words:
        name, sign, version = word.partition("=")
        version = version.lstrip("=")
        if name == POSTGRESQL:
            version = ".".join(version.split(".")[:2])  # its jar is called 16.4.0
        if not sign or not _VERSION.fullmatch(version):
            raise SetupError(
                f"--with {word}: expected NAME=VERSION, such as --with kafka=3.9.2. "
                f"Names: {', '.join(RUNTIMES)}."
            )
        if name not in RUNTIMES:
            near = difflib.get_close_matches(name, RUNTIMES, n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise SetupError(
                f"--with {word}: there is no runtime {name}.{hint} Names: {', '.join(RUNTIMES)}."
            )
        if found.get(name, version) != version:
            raise SetupError(f"--with {word}: {name}={found[name]} is given too; choose one.")
        runtime = RUNTIMES[name]
        if numbers(version) < numbers(runtime.oldest):
            raise SetupError(
                f"--with {word}: unsupported: {runtime.reason}. The oldest version is "
                f"{runtime.oldest}."
            )
        for backend in backends:
            if name in OF_THE_STAGE and not backend.startswith("local"):
                raise SetupError(
                    f"--with {word}: unsupported on the backend {backend}, whose {name} has its "
                    "own version. Use --backend local."
                )
        found[name] = version
    return found


def check_used(versions: Iterable[str], used: Collection[str], what: str) -> None:
    """Check that what is on trial uses each chosen runtime.

    Raises:
        SetupError: it does not; another version would change nothing.
    """
    for name in versions:
        if name not in used:
            raise SetupError(
                f"--with {name}: unsupported: {what} does not use {name}, but only "
                f"{', '.join(sorted(used))}."
            )


def words(versions: Mapping[str, str]) -> list[str]:
    """Return the options that choose these versions."""
    return [word for item in versions.items() for word in ("--with", "=".join(item))]


def numbers(version: str) -> tuple[int, ...]:
    """Return a version's numbers, for comparisons; missing ones are 0."""
    found = tuple(map(int, version.split(".")))
    return found + (0,) * (4 - len(found))
