"""Account balances in Spark's state store, written to a topic as they change."""

import argparse

from pyspark.sql import SparkSession
from pyspark.sql.functions import col, count, struct, to_json
from pyspark.sql.functions import sum as total
from session import ProgressLog, connecting, payments, run_until_stopped


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--bootstrap", required=True)
    options.add_argument("--topic", required=True)
    options.add_argument("--sink-bootstrap", required=True)
    options.add_argument("--sink-topic", required=True)
    options.add_argument("--checkpoint", required=True)
    options.add_argument("--progress", required=True)
    options.add_argument("--provider", help="class of the state store provider", required=True)
    given = options.parse_args()

    spark = SparkSession.builder.getOrCreate()
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", given.provider)
    spark.streams.addListener(ProgressLog(given.progress))
    query = (
        payments(spark, bootstrap=given.bootstrap, topic=given.topic)
        .groupBy("account")
        .agg(total("amount_cents").alias("balance"), count("*").alias("payments"))
        .select(
            col("account").alias("key"),
            to_json(struct("balance", "payments")).alias("value"),
        )
        .writeStream.format("kafka")
        .outputMode("update")
        .option("kafka.bootstrap.servers", given.sink_bootstrap)
        .options(**connecting())
        .option("topic", given.sink_topic)
        .option("checkpointLocation", given.checkpoint)
        .start()
    )
    run_until_stopped(query)


if __name__ == "__main__":
    main()
