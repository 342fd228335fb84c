"""Jars that PySpark subjects start their driver with."""

from __future__ import annotations

from onceproof.harness.subjects.spark.delta import SparkDelta
from onceproof.harness.subjects.spark.iceberg import SparkIceberg
from onceproof.harness.tools import jar_lock
from onceproof.harness.tools.jar_lock import PySpark, spark_kafka_roots


def test_only_iceberg_subjects_need_the_iceberg_jar(tmp_path):
    (tmp_path / "scala-library-2.13.16.jar").touch()
    roots = spark_kafka_roots(PySpark(version="4.0.0", jars=tmp_path))
    names = {root.file_name for root in roots}
    assert all(SparkIceberg().needs_jar(name) for name in names)
    (left_out,) = (name for name in names if not SparkDelta().needs_jar(name))
    assert left_out == f"iceberg-spark-runtime-4.0_2.13-{jar_lock.ICEBERG['4.0']}.jar"
