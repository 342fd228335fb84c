"""The values of a command's placeholders in a run."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final

from onceproof.harness.context.pipeline import PipelineParts
from onceproof.harness.kafka.connecting.connection import JAVA, LIBRDKAFKA, client_file
from onceproof.harness.stage.database_login import for_programs
from onceproof.harness.tools.jars_for import artemis_jars, kafka_jars
from onceproof.harness.user_pipeline.database_url import database_url, jdbc_url

WORDS: Final[Mapping[str, str]] = {
    "bootstrap": "the brokers, as host:port,…, through proxies that faults disturb",
    "input": "the input topic, or the first of several; {input:TOPIC} names each",
    "output": "the first output, such as its topic",
    "group": "the name of a consumer group, of its own for each trial of --explore",
    "client_id": "a client id, of its own for each process; not for a transactional.id",
    "instance": "the number of an instance, from 0; see --instances",
    "checkpoint": "a folder for the Spark checkpoint, which onceproof watches",
    "work": "a folder of the run for everything that the pipeline writes to disk",
    "database": "the run's PostgreSQL, as a libpq connection string",
    "jdbc": "the same as a JDBC URL",
    "database_url": "the same as a postgresql:// URL",
    "spark_jars": "Spark's Kafka connector, for spark.jars",
    "queues": "the queue broker, as host:port, through a proxy, if an output is a queue",
    "http": "the HTTP service, as http://host:port, through a proxy, if an output is HTTP",
    "queue_jars": "the Artemis JMS client, as a class path for java -cp",
    "kafka_jars": "Kafka's Java clients and Kafka Streams, as a class path for java -cp",
    "client_properties": "a file of connection settings for Java clients, as for --command-config",
    "librdkafka_properties": "the same with librdkafka's names",
}
"""Placeholders of a command → meaning."""
CLIENT_FILES: Final = {"client_properties": JAVA, "librdkafka_properties": LIBRDKAFKA}
DATABASE: Final = frozenset({"database", "database_url", "jdbc"})


def meanings_of(parts: PipelineParts, checkpoint: Path, asked: Collection[str]) -> dict[str, str]:
    """Return the values of placeholders; of those not available in every run, only `asked` ones."""
    database, _ = for_programs(parts.stage.database("pipeline"))
    meanings = {
        "bootstrap": parts.stage.bootstrap("pipeline"),
        "input": parts.topic,
        "checkpoint": str(checkpoint),
        "work": str(parts.work),
        "database": database,
        "spark_jars": ",".join(str(jar) for jar in parts.tools.spark_kafka_jars),
    }
    for word, name in CLIENT_FILES.items():
        if word in asked:
            meanings[word] = str(client_file(name, otherwise=parts.work))
    if "jdbc" in asked:
        meanings["jdbc"] = jdbc_url(database)
    if "database_url" in asked:
        meanings["database_url"] = database_url(database)
    if "queues" in asked:
        meanings["queues"] = parts.stage.queue_broker("pipeline")
    if "http" in asked:
        meanings["http"] = f"http://{parts.stage.http_address}"
    if "queue_jars" in asked:
        meanings["queue_jars"] = f"{artemis_jars(parts.tools)}/*"
    if "kafka_jars" in asked:
        meanings["kafka_jars"] = f"{kafka_jars(parts.tools)}/*"
    return meanings
