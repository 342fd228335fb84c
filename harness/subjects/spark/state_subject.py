"""Common parts of PySpark subjects with RocksDB state and a PostgreSQL sink.

Spark guarantees that each record counts once in the state; the output depends on the sink. So a
guard by (query id, batch id), or an idempotent write, is part of what is under test.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal

from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.subjects.spark.subject import JOBS, JobPlace, SparkSubject

Guard = Literal["query-and-batch-id", "none"]

PATIENT_MS: Final = 1_200_000
"""A watermark delay that covers payments out of order by up to twenty minutes."""
PER_BATCH: Final = 500
"""Maximum records of a topic per micro-batch. Spark compares records with the previous batch's
watermark, so in large batches nothing would ever be late."""
_ROCKSDB: Final = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


@dataclass(frozen=True, kw_only=True)
class SparkStateSubject(SparkSubject):
    """A stateful query, written to PostgreSQL by foreachBatch."""

    family = "spark-state"
    in_postgres: ClassVar[bool] = True
    view = "table"
    output_topic = None

    @property
    def name(self) -> str:
        raise NotImplementedError

    def configuration(self) -> Mapping[str, Any]:
        return {
            **super().configuration(),
            "state": {"provider": _ROCKSDB, "maxOffsetsPerTrigger": PER_BATCH},
        }

    def job(self, script: str, place: JobPlace, *more: str) -> list[str]:
        """Return a job's command with the common arguments, and `more`.

        Raises:
            StageTrouble: the stage has no database.
        """
        if not place.database:
            raise StageTrouble(
                f"{self.name} writes to PostgreSQL, but the stage has none: add "
                '`database = "host=… dbname=…"` to the cluster\'s file, or use spark-balances'
            )
        return [
            str(JOBS / script),
            *("--bootstrap", place.source_bootstrap, "--topic", place.topic),
            *("--database", place.database, "--checkpoint", str(place.checkpoint)),
            *("--progress", str(place.progress), "--provider", _ROCKSDB),
            *("--per-batch", str(PER_BATCH)),
            *more,
        ]
