"""PySpark's own Kafka sink: payments with their fee, as JSON, to another topic."""

import argparse

from pyspark.sql.functions import col, struct, to_json
from session import ProgressLog, connecting, payments, run_until_stopped, started


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--bootstrap", required=True)
    options.add_argument("--topic", required=True)
    options.add_argument("--sink-bootstrap", required=True)
    options.add_argument("--sink-topic", required=True)
    options.add_argument("--checkpoint", required=True)
    options.add_argument("--progress", required=True)
    options.add_argument("--master", help="Spark master (default: from the settings)")
    given = options.parse_args()

    spark = started(given.master, beside=given.checkpoint)
    spark.streams.addListener(ProgressLog(given.progress))
    query = (
        payments(spark, bootstrap=given.bootstrap, topic=given.topic)
        .select(
            col("account").alias("key"),
            to_json(struct("record", "account", "amount_cents", "fee_cents")).alias("value"),
        )
        .writeStream.format("kafka")
        .option("kafka.bootstrap.servers", given.sink_bootstrap)
        .options(**connecting())
        .option("topic", given.sink_topic)
        .option("checkpointLocation", given.checkpoint)
        .start()
    )
    run_until_stopped(query)


if __name__ == "__main__":
    main()
