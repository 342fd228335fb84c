"""What PySpark subjects with a state store in RocksDB, and PostgreSQL behind them, have in common.

Spark promises that each record counts once in the state, whatever runs
again; what is written of it is up to the sink. So a guard by (query id, batch id), or a write that
may be done again, is a part of what is on trial.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.subjects.spark.subject import JOBS, JobPlace, SparkSubject

Guard = Literal["query-and-batch-id", "none"]

PATIENT_MS: Final = 1_200_000
"""A watermark that waits for every payment that is out of order by up to twenty minutes."""
PER_BATCH: Final = 500
"""At most so many records of a topic in a micro-batch. Spark drops a record for being late only by
the watermark that the batch before had, so that in large batches nothing is ever late.
"""
_ROCKSDB: Final = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


@dataclass(frozen=True, kw_only=True)
class SparkStateSubject(SparkSubject):
    """A query with state, written to PostgreSQL by foreachBatch."""

    family = "spark-state"
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
        """A job with the arguments that each of these takes, and more.

        Raises:
            StageTrouble: the stage has no database.
        """
        if not place.database:
            raise StageTrouble(
                f"{self.name} writes to PostgreSQL, and the stage has none: add "
                '`database = "host=… dbname=…"` to the cluster\'s file, or try spark-balances'
            )
        return [
            str(JOBS / script),
            *("--bootstrap", place.source_bootstrap, "--topic", place.topic),
            *("--database", place.database, "--checkpoint", str(place.checkpoint)),
            *("--progress", str(place.progress), "--provider", _ROCKSDB),
            *("--per-batch", str(PER_BATCH)),
            *more,
        ]
