"""PySpark foreachBatch into PostgreSQL, one database transaction per micro-batch.

With `--guard query-and-batch-id` the transaction also records (query id, batch id), and a recorded
batch is skipped. `--guard batch-id` compares the batch id alone, and `--guard none` skips nothing.
With `--begin behind-ledger` a query without a checkpoint starts after the records in the ledger.
"""

import argparse
import json

import psycopg
from confluent_kafka.admin import AdminClient
from hook import Hook
from pyspark.sql import DataFrame, SparkSession
from session import ProgressLog, connecting_outside, payments, run_until_stopped

LEDGER = """
CREATE TABLE IF NOT EXISTS ledger (
    seq bigserial, record text, account text, amount_cents bigint, fee_cents bigint,
    source_partition int, source_offset bigint, query_id text, batch_id bigint);
CREATE TABLE IF NOT EXISTS batches_done (
    seq bigserial, query_id text, batch_id bigint, PRIMARY KEY (query_id, batch_id))
"""
COLUMNS = (
    "record, account, amount_cents, fee_cents, source_partition, source_offset, query_id, batch_id"
)
COPY = f"COPY ledger ({COLUMNS}) FROM STDIN"
GUARDS = {
    "query-and-batch-id": (
        "INSERT INTO batches_done (query_id, batch_id) VALUES (%(query)s, %(batch)s) "
        "ON CONFLICT DO NOTHING"
    ),
    "batch-id": (
        "INSERT INTO batches_done (query_id, batch_id) SELECT %(query)s, %(batch)s "
        "WHERE NOT EXISTS (SELECT FROM batches_done WHERE batch_id = %(batch)s)"
    ),
}
REACHED = "SELECT source_partition, max(source_offset) + 1 FROM ledger GROUP BY source_partition"
EARLIEST = -2
"""Spark's Kafka source uses this offset for the beginning of a partition."""
INSERT = f"INSERT INTO ledger ({COLUMNS}) VALUES (%s, %s, %s, %s, %s, %s, %s, %s)"


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--bootstrap", required=True)
    options.add_argument("--topic", required=True)
    options.add_argument("--database", required=True)
    options.add_argument("--checkpoint", required=True)
    options.add_argument("--progress", required=True)
    options.add_argument("--guard", choices=[*GUARDS, "none"], required=True)
    options.add_argument("--begin", choices=["earliest", "behind-ledger"], default="earliest")
    options.add_argument("--isolation", help="isolation level of the source (default: Spark's)")
    options.add_argument("--trigger", choices=["available-now"], help="trigger (default: Spark's)")
    given = options.parse_args()

    with psycopg.connect(given.database) as connection:
        connection.execute(LEDGER)

    spark = SparkSession.builder.getOrCreate()
    spark.streams.addListener(ProgressLog(given.progress))

    hook = Hook(given.checkpoint)

    def write(batch: DataFrame, batch_id: int) -> None:
        query_id = batch.sparkSession.sparkContext.getLocalProperty("sql.streaming.queryId")
        rows = batch.collect()
        with psycopg.connect(given.database) as connection, connection.cursor() as cursor:
            if given.guard in GUARDS:
                cursor.execute(GUARDS[given.guard], {"query": query_id, "batch": batch_id})
                if cursor.rowcount == 0:
                    return
            if hook.wanted() is not None:
                # Row by row: rows sent with COPY may stay in the client's buffer for a while.
                for row in hook.rows(batch_id, rows):
                    cursor.execute(INSERT, (*row, query_id, batch_id))
                return
            with cursor.copy(COPY) as copy:
                for row in rows:
                    copy.write_row((*row, query_id, batch_id))

    begin = "earliest"
    if given.begin == "behind-ledger":
        begin = behind_ledger(given.database, bootstrap=given.bootstrap, topic=given.topic)
    writer = (
        payments(
            spark,
            bootstrap=given.bootstrap,
            topic=given.topic,
            isolation=given.isolation,
            begin=begin,
        )
        .writeStream.foreachBatch(write)
        .option("checkpointLocation", given.checkpoint)
    )
    if given.trigger == "available-now":
        writer = writer.trigger(availableNow=True)
    run_until_stopped(writer.start())


def behind_ledger(database: str, *, bootstrap: str, topic: str) -> str:
    """Return `startingOffsets` that follow the records in the ledger."""
    with psycopg.connect(database) as connection:
        reached: dict[int, int] = dict(connection.execute(REACHED).fetchall())
    admin = AdminClient({**connecting_outside(), "bootstrap.servers": bootstrap})
    partitions = admin.list_topics(topic, timeout=60).topics[topic].partitions
    return json.dumps({topic: {str(p): reached.get(p, EARLIEST) for p in partitions}})


if __name__ == "__main__":
    main()
