"""Account balances in the job's own files: a state store that is never rolled back.

The layout is that of Spark's store. But a batch starts from the *newest* version, not from the
previous batch's: if it runs again it finds its own payments in the balances, and adds them twice.
"""

import argparse
import json
from pathlib import Path
from zlib import crc32

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.functions import count
from pyspark.sql.functions import sum as total
from session import ProgressLog, connecting, payments, run_until_stopped

PARTITIONS = 2


class Store:
    """One partition's balances: account → [balance, payments]."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def newest(self) -> dict[str, list[int]]:
        """Return the newest version; this is the bug."""
        versions = sorted(self._folder.glob("*.delta"), key=lambda path: int(path.stem))
        return dict(json.loads(versions[-1].read_text())) if versions else {}

    def commit(self, version: int, balances: dict[str, list[int]]) -> None:
        draft = self._folder / f".{version}.delta.tmp"
        draft.write_text(json.dumps(balances))
        draft.rename(self._folder / f"{version}.delta")


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--bootstrap", required=True)
    options.add_argument("--topic", required=True)
    options.add_argument("--sink-bootstrap", required=True)
    options.add_argument("--sink-topic", required=True)
    options.add_argument("--checkpoint", required=True)
    options.add_argument("--progress", required=True)
    given = options.parse_args()

    spark = SparkSession.builder.getOrCreate()
    spark.streams.addListener(ProgressLog(given.progress))
    state = Path(given.checkpoint) / "state" / "0"
    stores = [Store(state / str(partition)) for partition in range(PARTITIONS)]

    def update(batch: DataFrame, batch_id: int) -> None:
        added = batch.groupBy("account").agg(total("amount_cents"), count("*")).collect()
        for partition, store in enumerate(stores):
            balances = store.newest()
            mine = [row for row in added if crc32(row[0].encode()) % PARTITIONS == partition]
            for account, amount, payments_of_it in mine:
                balance, so_far = balances.get(account, (0, 0))
                balances[account] = [balance + amount, so_far + payments_of_it]
            store.commit(batch_id + 1, balances)
            write(batch.sparkSession, {row[0]: balances[row[0]] for row in mine})

    def write(session: SparkSession, balances: dict[str, list[int]]) -> None:
        rows = [
            Row(key=account, value=json.dumps({"balance": balance, "payments": so_far}))
            for account, (balance, so_far) in balances.items()
        ]
        session.createDataFrame(rows, "key STRING, value STRING").write.format("kafka").option(
            "kafka.bootstrap.servers", given.sink_bootstrap
        ).options(**connecting()).option("topic", given.sink_topic).save()

    query = (
        payments(spark, bootstrap=given.bootstrap, topic=given.topic)
        .writeStream.foreachBatch(update)
        .option("checkpointLocation", given.checkpoint)
        .start()
    )
    run_until_stopped(query)


if __name__ == "__main__":
    main()
