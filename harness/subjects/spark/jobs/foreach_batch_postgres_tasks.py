"""PySpark foreachBatch into PostgreSQL, written by the tasks, each in its own transaction.

The guard (query id, batch id) is checked before a batch and recorded after it, but no longer in the
batch's transaction: if only some tasks have written, the whole batch is written again.
"""

import argparse
from collections.abc import Iterable

import psycopg
from foreach_batch_postgres import COPY, LEDGER
from pyspark.sql import DataFrame, Row, SparkSession
from session import ProgressLog, payments, run_until_stopped


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--bootstrap", required=True)
    options.add_argument("--topic", required=True)
    options.add_argument("--database", required=True)
    options.add_argument("--checkpoint", required=True)
    options.add_argument("--progress", required=True)
    given = options.parse_args()

    database, statement = given.database, COPY  # captured by the tasks' closure
    with psycopg.connect(database) as connection:
        connection.execute(LEDGER)

    spark = SparkSession.builder.getOrCreate()
    spark.streams.addListener(ProgressLog(given.progress))

    def write(batch: DataFrame, batch_id: int) -> None:
        query_id = batch.sparkSession.sparkContext.getLocalProperty("sql.streaming.queryId")
        name = (query_id, batch_id)

        def write_partition(rows: Iterable[Row]) -> None:
            with (
                psycopg.connect(database) as connection,
                connection.cursor() as cursor,
                cursor.copy(statement) as copy,
            ):
                for row in rows:
                    copy.write_row((*row, *name))

        with psycopg.connect(database) as connection:
            done = connection.execute(
                "SELECT 1 FROM batches_done WHERE query_id = %s AND batch_id = %s", name
            ).fetchone()
        if done:
            return
        batch.foreachPartition(write_partition)
        with psycopg.connect(database) as connection:
            connection.execute(
                "INSERT INTO batches_done (query_id, batch_id) VALUES (%s, %s)", name
            )

    query = (
        payments(spark, bootstrap=given.bootstrap, topic=given.topic)
        .writeStream.foreachBatch(write)
        .option("checkpointLocation", given.checkpoint)
        .start()
    )
    run_until_stopped(query)


if __name__ == "__main__":
    main()
