"""Get everything that a run needs and Python cannot install: `ensure`.

Whatever is in the cache already is used without asking the network, and
whatever is missing is fetched at the same time as the rest. What only the local stage is made of is
left out for other backends.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from onceproof.harness.tools import cache, jar_lock, jars, java, postgres, toxiproxy
from onceproof.harness.tools.error import SetupError
from onceproof.harness.tools.ivy import Ivy
from onceproof.harness.tools.java import Java
from onceproof.harness.tools.postgres import Postgres
from onceproof.harness.tools.progress import Progress, one_at_a_time, silent

__all__ = ["SetupError", "StageTools", "Tools", "ensure"]


@dataclass(frozen=True, kw_only=True)
class StageTools:
    """What the local stage is made of."""

    java: Path
    kafka_libs: Path
    """A folder: `<kafka_libs>/*` is a broker's class path."""
    toxiproxy: Path
    postgres: Postgres
    known_versions: Mapping[str, str] = field(default_factory=dict, repr=False)

    def versions(self) -> dict[str, str]:
        """What was found, by name, for the run record."""
        return dict(self.known_versions)


@dataclass(frozen=True, kw_only=True)
class Tools:
    """What a pipeline is started with, on every backend, and what the local stage is made of."""

    java_home: Path
    """Spark's launcher looks at JAVA_HOME first: set it to this for every PySpark process."""
    spark_kafka_jars: tuple[Path, ...]
    """What `spark.jars` needs to talk to Kafka and to write Delta and Iceberg tables."""
    stage: StageTools | None
    """None where it was not asked for."""
    known_versions: Mapping[str, str] = field(default_factory=dict, repr=False)

    def versions(self) -> dict[str, str]:
        """What was found, by name, for the run record; the stage's tools have their own."""
        return dict(self.known_versions)


def ensure(
    progress: Progress = silent,
    *,
    stage: bool = True,
    cache_folder: Path | None = None,
    find_java: Callable[[Mapping[str, str]], Java] = java.find,
) -> Tools:
    """Find or fetch all tools; those of the local stage only if `stage`.

    Raises:
        SetupError: something is missing; raised after everything else has been tried too.
    """
    folder = cache_folder or cache.location(os.environ)
    progress = one_at_a_time(progress)
    runtime = find_java(os.environ)
    pyspark = jar_lock.installed_pyspark()
    connector = jar_lock.load("spark-kafka", pyspark.version)
    ivy = Ivy(java=runtime.program, jar=pyspark.ivy)
    get = partial(jars.with_ivy, ivy=ivy, cache_folder=folder, progress=progress)
    with ThreadPoolExecutor(2, thread_name_prefix="setup") as pool:
        of_stage = (
            pool.submit(_stage, runtime, get, cache_folder=folder, progress=progress)
            if stage
            else None
        )
        spark_jars = pool.submit(get, connector)
    _raise_all(*([of_stage] if of_stage else []), spark_jars)
    return Tools(
        java_home=runtime.home,
        spark_kafka_jars=tuple(sorted(spark_jars.result().glob("*.jar"))),
        stage=of_stage.result() if of_stage else None,
        known_versions={
            "java": runtime.version,
            "pyspark": pyspark.version,
            "spark-kafka": connector.version,
        },
    )


def _stage(
    runtime: Java, get: Callable[[jar_lock.JarSet], Path], *, cache_folder: Path, progress: Progress
) -> StageTools:
    kafka = jar_lock.load("kafka", jar_lock.KAFKA)
    with ThreadPoolExecutor(3, thread_name_prefix="setup-stage") as pool:
        proxy = pool.submit(toxiproxy.ensure, cache_folder=cache_folder, progress=progress)
        broker_jars = pool.submit(get, kafka)
        database = pool.submit(postgres.ensure, cache_folder=cache_folder, progress=progress)
    _raise_all(proxy, broker_jars, database)
    return StageTools(
        java=runtime.program,
        kafka_libs=broker_jars.result(),
        toxiproxy=proxy.result(),
        postgres=database.result(),
        known_versions={
            "kafka": kafka.version,
            "toxiproxy": toxiproxy.VERSION,
            "postgresql": database.result().version,
        },
    )


def _raise_all(*jobs: Future[Any]) -> None:
    """Raise what went wrong, all of it, once each. Bugs come first, as they are."""
    errors = [error for job in jobs if (error := job.exception()) is not None]
    for error in errors:
        if not isinstance(error, SetupError):
            raise error
    if errors:
        lines = (line for error in errors for line in str(error).splitlines())
        raise SetupError("\n".join(dict.fromkeys(lines))) from errors[0]
