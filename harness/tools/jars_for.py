"""Get sets of jars that only some subjects need, such as Kafka Connect or Flink, on first use."""

from __future__ import annotations

from pathlib import Path

from onceproof.harness.tools import cache, jar_lock, jars
from onceproof.harness.tools.ivy import Ivy
from onceproof.harness.tools.setup import Tools


def jars_for(tools: Tools, name: str, version: str = jar_lock.KAFKA) -> Path:
    """Return the folder of a locked set, downloading it with the run's Java if necessary.

    Raises:
        SetupError: a jar cannot be downloaded.
    """
    wanted = jar_lock.load(name, version)
    ivy = Ivy(java=tools.java_home / "bin" / "java", jar=jar_lock.installed_pyspark().ivy)
    return jars.with_ivy(wanted, ivy, cache_folder=cache.location())


def artemis_jars(tools: Tools) -> Path:
    """Return the folder of the queue broker's and its clients' jars; raises as `jars_for`."""
    return tools.chosen.jars.get("artemis") or jars_for(tools, "artemis", jar_lock.ARTEMIS)


def kafka_jars(tools: Tools) -> Path:
    """Return the folder of the Java clients' jars in the run's version; raises as `jars_for`."""
    return tools.chosen.jars.get("kafka-clients") or usual_kafka_jars(tools)


def usual_kafka_jars(tools: Tools) -> Path:
    """Return the folder of Kafka's jars in the usual version; raises as `jars_for`."""
    if tools.stage is None or tools.chosen.versions.get("kafka", jar_lock.KAFKA) != jar_lock.KAFKA:
        return jars_for(tools, "kafka")
    return tools.stage.kafka_libs
