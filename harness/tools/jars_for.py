"""A set of jars for whoever starts a Java program of a run: fetched when it is first needed.

`setup` gets what every run needs. What only some subjects need, such as
Kafka Connect or Flink, nobody else has to wait for.
"""

from __future__ import annotations

from pathlib import Path

from onceproof.harness.tools import cache, jar_lock, jars
from onceproof.harness.tools.ivy import Ivy
from onceproof.harness.tools.setup import Tools


def jars_for(tools: Tools, name: str, version: str = jar_lock.KAFKA) -> Path:
    """The folder of a set of the lock, with the Java of a run on whatever backend.

    Raises:
        SetupError: a jar cannot be had.
    """
    wanted = jar_lock.load(name, version)
    ivy = Ivy(java=tools.java_home / "bin" / "java", jar=jar_lock.installed_pyspark().ivy)
    return jars.with_ivy(wanted, ivy, cache_folder=cache.location())


def artemis_jars(tools: Tools) -> Path:
    """The folder of the jars of the queue broker and its clients.

    Raises:
        SetupError: a jar cannot be had.
    """
    return jars_for(tools, "artemis", jar_lock.ARTEMIS)


def kafka_jars(tools: Tools) -> Path:
    """The folder of Kafka's own jars: those of the stage's brokers, where it has any.

    Raises:
        SetupError: a jar cannot be had.
    """
    return jars_for(tools, "kafka") if tools.stage is None else tools.stage.kafka_libs
