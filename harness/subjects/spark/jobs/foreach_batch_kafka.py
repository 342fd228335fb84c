"""PySpark foreachBatch into Kafka, one transaction per micro-batch.

With `--guard query-and-batch-id` the transaction also writes (query id, batch id) to a topic of
batches, and a batch that it has is skipped. `--guard none` skips nothing.
"""

import argparse
import json

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from hook import Hook
from pyspark.sql import DataFrame, SparkSession
from session import ProgressLog, connecting_outside, payments, run_until_stopped

PATIENCE = {"socket.timeout.ms": 3000, "reconnect.backoff.max.ms": 500}
SECONDS = 60.0
_PARTITION = 0
_BY_KEY = -1


class Outbox:
    """Writes a batch in one transaction."""

    def __init__(self, *, bootstrap: str, topic: str, batches: str, transactional_id: str) -> None:
        self._bootstrap = bootstrap
        self._topic = topic
        self._batches = batches
        self._producer = Producer(
            {
                **PATIENCE,
                **connecting_outside(),
                "bootstrap.servers": bootstrap,
                "transactional.id": transactional_id,
            }
        )
        # First: aborts the predecessor's open transaction, and fences it.
        self._producer.init_transactions(SECONDS)

    def newest(self, query_id: str) -> int:
        """Return the newest batch of a query in the topic of batches; -1 if there is none."""
        consumer = Consumer(
            {
                **PATIENCE,
                **connecting_outside(),
                "bootstrap.servers": self._bootstrap,
                "group.id": "none",  # required, although it never joins a group
                "isolation.level": "read_committed",
                "enable.partition.eof": True,
                "enable.auto.commit": False,
            }
        )
        newest = -1
        try:
            consumer.assign([TopicPartition(self._batches, _PARTITION, 0)])
            while True:
                message = consumer.poll(SECONDS)
                if message is None:
                    raise TimeoutError(f"waited {SECONDS} s for the next record of {self._batches}")
                if (error := message.error()) is None:
                    if message.key() == query_id.encode():
                        newest = max(newest, int(json.loads(message.value() or b"")["batch"]))
                elif error.code() == KafkaError._PARTITION_EOF:
                    return newest
                elif not error.retriable():
                    raise KafkaException(error)
        finally:
            consumer.close()

    def begin(self) -> None:
        self._producer.begin_transaction()

    def put(self, key: str, value: dict[str, object]) -> None:
        self._send(self._topic, key, value)

    def record(self, query_id: str, batch_id: int) -> None:
        """Add the batch's id to the transaction, where `newest` reads it."""
        self._send(self._batches, query_id, {"batch": batch_id}, partition=_PARTITION)

    def commit(self) -> None:
        """Commit; repeat while the outcome is unknown, as the client requires."""
        while True:
            try:
                self._producer.commit_transaction(SECONDS)
                return
            except KafkaException as error:
                if not error.args[0].retriable():
                    raise  # the query fails, and its next life begins with init_transactions

    def _send(
        self, topic: str, key: str, value: dict[str, object], partition: int = _BY_KEY
    ) -> None:
        self._producer.produce(topic, partition=partition, key=key, value=json.dumps(value))
        self._producer.poll(0)


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--bootstrap", required=True)
    options.add_argument("--topic", required=True)
    options.add_argument("--sink-bootstrap", required=True)
    options.add_argument("--sink-topic", required=True)
    options.add_argument("--batches-topic", required=True)
    options.add_argument("--transactional-id", required=True)
    options.add_argument("--checkpoint", required=True)
    options.add_argument("--progress", required=True)
    options.add_argument("--guard", choices=["query-and-batch-id", "none"], required=True)
    given = options.parse_args()

    spark = SparkSession.builder.getOrCreate()
    spark.streams.addListener(ProgressLog(given.progress))
    hook = Hook(given.checkpoint)
    outbox = Outbox(
        bootstrap=given.sink_bootstrap,
        topic=given.sink_topic,
        batches=given.batches_topic,
        transactional_id=given.transactional_id,
    )
    newest: dict[str, int] = {}

    def write(batch: DataFrame, batch_id: int) -> None:
        context = batch.sparkSession.sparkContext
        query_id = str(context.getLocalProperty("sql.streaming.queryId"))
        if given.guard == "query-and-batch-id":
            if query_id not in newest:
                newest[query_id] = outbox.newest(query_id)
            if batch_id <= newest[query_id]:
                return
        rows = batch.select("record", "account", "amount_cents", "fee_cents").collect()
        outbox.begin()
        for row in hook.rows(batch_id, rows):
            outbox.put(row["account"], row.asDict())
        if given.guard == "query-and-batch-id":
            outbox.record(query_id, batch_id)
        outbox.commit()
        newest[query_id] = batch_id

    query = (
        payments(spark, bootstrap=given.bootstrap, topic=given.topic)
        .writeStream.foreachBatch(write)
        .option("checkpointLocation", given.checkpoint)
        .start()
    )
    run_until_stopped(query)


if __name__ == "__main__":
    main()
