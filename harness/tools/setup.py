"""Get everything that a run needs and pip cannot install.

Tools in the cache are used offline; missing ones are downloaded in parallel. Tools of the local
stage are skipped for other backends.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from onceproof.harness.tools import cache, jar_lock, jars, java, postgres, toxiproxy
from onceproof.harness.tools.error import SetupError
from onceproof.harness.tools.ivy import Ivy
from onceproof.harness.tools.java import Java
from onceproof.harness.tools.postgres import Postgres
from onceproof.harness.tools.progress import Progress, one_at_a_time, silent
from onceproof.harness.tools.runtimes import jar_sets, postgresql, python_client, recipes
from onceproof.harness.tools.runtimes.chosen import Chosen
from onceproof.harness.tools.runtimes.known import OF_THE_STAGE, POSTGRESQL

__all__ = ["SetupError", "StageTools", "Tools", "ensure"]


@dataclass(frozen=True, kw_only=True)
class StageTools:
    """The tools of the local stage."""

    java: Path
    kafka_libs: Path
    """A folder; `<kafka_libs>/*` is a broker's class path."""
    toxiproxy: Path
    postgres: Postgres
    known_versions: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def kafka(self) -> str:
        """The brokers' version."""
        return self.known_versions.get("kafka", jar_lock.KAFKA)

    def versions(self) -> dict[str, str]:
        return dict(self.known_versions)


@dataclass(frozen=True, kw_only=True)
class Tools:
    """The tools for pipelines on every backend, and those of the local stage."""

    java_home: Path
    """JAVA_HOME for every PySpark process: Spark's launcher reads it first."""
    spark_kafka_jars: tuple[Path, ...]
    """The value of `spark.jars` for Kafka, Delta and Iceberg."""
    stage: StageTools | None
    """None if not requested."""
    spark_home: Path | None = None
    """The folder of the PySpark that drivers run; None: the installed one."""
    chosen: Chosen = field(default_factory=Chosen)
    """Runtimes in other versions than usual."""
    known_versions: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def usual(self) -> Tools:
        """The same tools without chosen versions of clients, for what is not on trial."""

        def kept(chosen: Mapping[str, Any]) -> dict[str, Any]:
            names = OF_THE_STAGE | {"artemis"}
            return {name: what for name, what in chosen.items() if name in names}

        versions, jars_of = map(kept, (self.chosen.versions, self.chosen.jars))
        return replace(self, chosen=Chosen(versions=versions, jars=jars_of))

    def versions(self) -> dict[str, str]:
        """Return versions by name for the run record, without the stage's."""
        return dict(self.known_versions)


def ensure(
    progress: Progress = silent,
    *,
    stage: bool = True,
    versions: Mapping[str, str] | None = None,
    cache_folder: Path | None = None,
    find_java: Callable[[Mapping[str, str]], Java] = java.find,
) -> Tools:
    """Find or download all tools; those of the local stage only if `stage`.

    `versions` are those of runtimes (`runtimes.known.asked`) that differ from the usual ones.

    Raises:
        SetupError: a version does not exist, or a tool is missing. After the search for Java and
            PySpark, all failures are collected into one error.
    """
    folder = cache_folder or cache.location(os.environ)
    versions = versions or {}
    progress = one_at_a_time(progress)
    runtime = find_java(os.environ)
    pyspark = jar_lock.installed_pyspark()
    connector = jar_lock.load("spark-kafka", pyspark.version)
    ivy = Ivy(java=runtime.program, jar=pyspark.ivy)
    get = partial(jars.with_ivy, ivy=ivy, cache_folder=folder, progress=progress)
    get_set = partial(jar_sets.folder, ivy=ivy, cache_folder=folder, progress=progress)
    kafka = versions.get("kafka", jar_lock.KAFKA)

    def get_postgres() -> Postgres:
        programs = None
        if (version := versions.get(POSTGRESQL)) is not None:
            programs = postgresql.ensure(version, ivy, cache_folder=folder, progress=progress)
        return postgres.ensure(programs=programs, cache_folder=folder, progress=progress)

    with ThreadPoolExecutor(3, thread_name_prefix="setup") as pool:
        stage_job = (
            pool.submit(
                _stage,
                runtime,
                kafka,
                get_set,
                get_postgres,
                cache_folder=folder,
                progress=progress,
            )
            if stage
            else None
        )
        spark_jars = pool.submit(get, connector)
        chosen_jars = pool.submit(jar_sets.chosen, versions, get_set)
        chosen_pythons = pool.submit(
            python_client.chosen, versions, cache_folder=folder, progress=progress
        )
    _raise_all(*([stage_job] if stage_job else []), spark_jars, chosen_jars, chosen_pythons)
    jars_of_spark = spark_jars.result()
    spark_home = pyspark.jars.parent
    if (python := chosen_pythons.result().get("spark")) is not None:
        pyspark = python_client.pyspark(python)
        spark_home = pyspark.jars.parent
        wanted = recipes.of_spark(pyspark)
        jars_of_spark = jar_sets.of_recipe(wanted, ivy, cache_folder=folder, progress=progress)
    return Tools(
        java_home=runtime.home,
        spark_home=spark_home,
        spark_kafka_jars=tuple(sorted(jars_of_spark.glob("*.jar"))),
        stage=stage_job.result() if stage_job else None,
        chosen=Chosen(
            versions=dict(versions), jars=chosen_jars.result(), pythons=chosen_pythons.result()
        ),
        known_versions={
            "java": runtime.version,
            "pyspark": pyspark.version,
            "spark-kafka": pyspark.version,
        },
    )


def _stage(
    runtime: Java,
    kafka: str,
    get_set: Callable[[str, str], Path],
    get_postgres: Callable[[], Postgres],
    *,
    cache_folder: Path,
    progress: Progress,
) -> StageTools:
    """Get the tools of the local stage, with brokers of the version `kafka`."""
    with ThreadPoolExecutor(3, thread_name_prefix="setup-stage") as pool:
        proxy = pool.submit(toxiproxy.ensure, cache_folder=cache_folder, progress=progress)
        broker_jars = pool.submit(get_set, "kafka", kafka)
        database = pool.submit(get_postgres)
    _raise_all(proxy, broker_jars, database)
    return StageTools(
        java=runtime.program,
        kafka_libs=broker_jars.result(),
        toxiproxy=proxy.result(),
        postgres=database.result(),
        known_versions={
            "kafka": kafka,
            "toxiproxy": toxiproxy.VERSION,
            "postgresql": database.result().version,
        },
    )


def _raise_all(*jobs: Future[Any]) -> None:
    """Raise all `SetupError`s as one, or first any other exception, which is a bug."""
    errors = [error for job in jobs if (error := job.exception()) is not None]
    for error in errors:
        if not isinstance(error, SetupError):
            raise error
    if errors:
        lines = (line for error in errors for line in str(error).splitlines())
        raise SetupError("\n".join(dict.fromkeys(lines))) from errors[0]
