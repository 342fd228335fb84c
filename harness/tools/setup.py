"""Get everything that a run needs and Python cannot install: `ensure`.

The one thing to know: whatever is in the cache already is used without asking the network, and
whatever is missing is fetched at the same time as the rest.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from harness.tools import cache, jar_lock, jars, java, postgres, toxiproxy
from harness.tools.error import SetupError
from harness.tools.ivy import Ivy
from harness.tools.java import Java
from harness.tools.postgres import Postgres
from harness.tools.progress import Progress, one_at_a_time, silent

__all__ = ["SetupError", "Tools", "ensure"]


@dataclass(frozen=True, kw_only=True)
class Tools:
    """Where everything is."""

    java: Path
    java_home: Path
    """Spark's launcher looks at JAVA_HOME first: set it to this for every PySpark process."""
    kafka_libs: Path
    """A folder: `<kafka_libs>/*` is a broker's class path."""
    spark_kafka_jars: tuple[Path, ...]
    """What `spark.jars` needs so that PySpark can talk to Kafka."""
    toxiproxy: Path
    postgres: Postgres
    known_versions: Mapping[str, str] = field(default_factory=dict, repr=False)

    def versions(self) -> dict[str, str]:
        """What was found, by name, for the run record."""
        return dict(self.known_versions)


def ensure(
    progress: Progress = silent,
    *,
    cache_folder: Path | None = None,
    environ: Mapping[str, str] = os.environ,
    find_java: Callable[[Mapping[str, str]], Java] = java.find,
) -> Tools:
    """Find or fetch all tools. Raises SetupError, after everything else has been tried too."""
    folder = cache_folder or cache.location(environ)
    progress = one_at_a_time(progress)
    runtime = find_java(environ)
    pyspark = jar_lock.installed_pyspark()
    ivy = Ivy(java=runtime.program, jar=pyspark.ivy)
    kafka = jar_lock.load("kafka", jar_lock.KAFKA)
    connector = jar_lock.load("spark-kafka", pyspark.version)

    def get(wanted: jar_lock.JarSet) -> Path:
        fetch = jars.with_ivy(ivy, wanted.title)
        return jars.ensure(wanted, cache_folder=folder, fetch=fetch, progress=progress)

    with ThreadPoolExecutor(4, thread_name_prefix="setup") as pool:
        proxy = pool.submit(toxiproxy.ensure, cache_folder=folder, progress=progress)
        broker_jars = pool.submit(get, kafka)
        spark_jars = pool.submit(get, connector)
        database = pool.submit(postgres.ensure, cache_folder=folder, progress=progress)
    _raise_all(proxy, broker_jars, spark_jars, database)
    return Tools(
        java=runtime.program,
        java_home=runtime.home,
        kafka_libs=broker_jars.result(),
        spark_kafka_jars=tuple(sorted(spark_jars.result().glob("*.jar"))),
        toxiproxy=proxy.result(),
        postgres=database.result(),
        known_versions={
            "java": runtime.version,
            "kafka": kafka.version,
            "pyspark": pyspark.version,
            "spark-kafka": connector.version,
            "toxiproxy": toxiproxy.VERSION,
            "postgresql": database.result().version,
        },
    )


def _raise_all(*jobs: Future[Path] | Future[Postgres]) -> None:
    """Raise what went wrong, all of it, once each. Bugs come first, as they are."""
    errors = [error for job in jobs if (error := job.exception()) is not None]
    for error in errors:
        if not isinstance(error, SetupError):
            raise error
    if errors:
        raise SetupError("\n".join(dict.fromkeys(map(str, errors)))) from errors[0]
