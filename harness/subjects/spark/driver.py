"""Start a PySpark job as a process: its settings, its JVM options and its environment.

The machine's Spark home and configuration are hidden from it, so that runs do not depend on them.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import Final, Protocol

import pyspark

from onceproof.harness.processes.processes import Process, Processes
from onceproof.harness.tools.jvm import (
    ENVIRONMENT,
    OPTIONS,
    properties,
    quoted_for_environment,
    quoted_for_spark,
)
from onceproof.harness.tools.setup import Tools
from onceproof.harness.wait import Stop

# A driver lives for seconds only: half of its CPU time was spent on JIT compilation, and on
# garbage collectors with a thread per core.
JVM: Final = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
CONFIGURATION: Final = {
    "spark.master": "local[2]",
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.memory": "512m",
    "spark.driver.extraJavaOptions": " ".join(JVM),
    "spark.executor.extraJavaOptions": " ".join(JVM),
    "spark.sql.streaming.minBatchesToRetain": "1000",
}
"""Spark's settings, printed in the report. Batches are retained so that every offset log entry
still exists when the run is collected."""
HOME: Final = Path(pyspark.__file__).parent
"""Of the installed PySpark."""


class DriverParts(Protocol):
    """What a driver is started with: see `PipelineParts`."""

    @property
    def tools(self) -> Tools: ...
    @property
    def processes(self) -> Processes: ...
    @property
    def work(self) -> Path: ...
    @property
    def address(self) -> str: ...
    @property
    def stop(self) -> Stop: ...


def start_driver(
    parts: DriverParts,
    processes: Processes,
    command: Sequence[str],
    *,
    options: Sequence[str],
    jars: Sequence[Path] = (),
    name: str = "driver",
    environment: Mapping[str, str] | None = None,
) -> Process:
    """Start a job as a process called `name`, with more `environment` if given.

    `command` is its script and arguments, `jars` are additional ones.
    """
    local = parts.work / "spark-local"
    python = str(parts.tools.chosen.pythons.get("spark", sys.executable))
    local.mkdir(exist_ok=True)
    jvm = " ".join(map(quoted_for_spark, (*OPTIONS, *options)))
    settings = CONFIGURATION | {
        "spark.driver.extraJavaOptions": jvm,
        "spark.executor.extraJavaOptions": jvm,
        "spark.driver.host": parts.address,
        "spark.driver.bindAddress": parts.address,
        "spark.jars": ",".join(str(jar) for jar in jars),
        "spark.local.dir": str(local),
        "spark.sql.warehouse.dir": str(local / "warehouse"),
    }
    file = parts.work / "spark.properties"
    file.write_text(properties(settings))
    return processes.start(
        name,
        [python, *command],
        environment={
            **ENVIRONMENT,
            "PYSPARK_SUBMIT_ARGS": f"--properties-file {quote(str(file))} pyspark-shell",
            "SPARK_HOME": str(parts.tools.spark_home or HOME),
            # Configuration folders are on the class path, and a class archive fits one class path
            # only.
            "SPARK_CONF_DIR": "",
            "HADOOP_CONF_DIR": "",
            "YARN_CONF_DIR": "",
            "SPARK_LOCAL_IP": parts.address,
            "PYSPARK_PYTHON": python,
            "PYSPARK_DRIVER_PYTHON": python,
            "JAVA_HOME": str(parts.tools.java_home),
            "_JAVA_OPTIONS": quoted_for_environment(f"-Djava.io.tmpdir={local}"),
            **(environment or {}),
        },
        folder=parts.work,
    )
