"""Spark SQL through PySpark, with any master and any file system that Spark reads.

Small tables are held as literal rows of a plan, in one partition. They need no shuffle and no
second task, and Spark's optimizer drops what joins nothing: most relations of a good history are
empty, so every third query starts no job. Larger tables stay in Spark's cache, which spills to
disk, and are leaves of all plans above them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.storagelevel import StorageLevel

from onceproof.checkers.engines.settings import Settings
from onceproof.checkers.engines.spark_paths import literal_path
from onceproof.checkers.engines.spark_session import spark_session
from onceproof.checkers.engines.spark_sql import translated

_SMALL_ROWS: Final = 20_000
"""Maximum number of rows held as literals."""
_SMALL_BYTES: Final = 2**20
"""Maximum size of a file held as literals, in bytes."""
_BYTES_PER_TASK: Final = 2**24
"""Bytes of Parquet, which is compressed: a task holds about ten times as much."""
_WORD: Final = re.compile(r"\w+")
_COUNTED: Final = re.compile(r"SELECT COUNT\(\*\) AS (?P<name>\w+) FROM (?P<table>\w+)")
_SEMANTICS: Final[Mapping[str, str]] = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.caseSensitive": "false",
    "spark.sql.variable.substitute": "false",
}
"""Settings that affect the meaning of a query."""
_SMALL: Final[Mapping[str, str]] = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.leafNodeDefaultParallelism": "1",
    "spark.sql.shuffle.partitions": "1",
}
"""Settings that make a query of few rows cheapest: one task, without code generation."""


@dataclass(frozen=True, kw_only=True)
class _Frame:
    small: bool
    rows: int | None = None
    cached: DataFrame | None = None


class Spark:
    """A `Database` in Spark."""

    threads = 1

    def __init__(self, settings: Settings) -> None:
        """Start a session.

        Raises:
            SparkTrouble: Spark did not start.
        """
        self._frames: dict[str, _Frame] = {}
        self._exit_stack = ExitStack()
        self._session = self._exit_stack.enter_context(spark_session(settings))
        self._java: Any = self._session._jsparkSession
        for name, value in _SEMANTICS.items():
            self._session.conf.set(name, value)
        self._large = {name: self._session.conf.get(name, None) for name in _SMALL}
        self._attached = 0
        self._for_small: bool | None = None

    def put(self, name: str, table: pa.Table) -> None:
        # Spark trusts that a non-nullable column has no NULLs.
        schema = pa.schema([field.with_nullable(True) for field in table.schema])
        frame = self._session.createDataFrame(table.cast(schema))
        small = table.num_rows <= _SMALL_ROWS
        self._register(name, frame, _Frame(small=small, rows=table.num_rows))

    def attach(self, name: str, place: str, columns: str) -> None:
        self._session.read.parquet(literal_path(place)).createOrReplaceTempView(name)
        frame = self._session.sql(translated(f"SELECT {columns} FROM {name}"))
        size = int(self._optimized(frame).stats().sizeInBytes())
        if size <= _SMALL_BYTES:
            self._materialize(name, frame)
        else:
            self._attached += size
            self._register(name, frame, _Frame(small=False))

    def create(self, name: str, query: str, *, stored: bool) -> int | None:
        small = self._prepared(query)
        frame = self._session.sql(query)
        if not stored:
            self._view(name, frame, _Frame(small=small))
        elif small or self._optimized(frame).getClass().getSimpleName() == "LocalRelation":
            self._materialize(name, frame)
        else:
            self._cache(name, frame)
        return self._frames[name].rows

    def rows(self, query: str) -> list[dict[str, Any]]:
        counted = _COUNTED.fullmatch(query)
        if counted and (entry := self._frames.get(counted["table"])) and entry.rows is not None:
            return [{counted["name"]: entry.rows}]
        self._prepared(query)
        frame = self._session.sql(query)
        names = frame.columns
        return [dict(zip(names, row, strict=True)) for row in frame.collect()]

    def arrow(self, query: str) -> pa.Table:
        self._prepared(query)
        return self._session.sql(query).toArrow()

    def drop(self, names: Iterable[str]) -> None:
        for name in names:
            if entry := self._frames.pop(name, None):
                self._session.catalog.dropTempView(name)
                if entry.cached is not None:
                    entry.cached.unpersist()

    def translated(self, query: str) -> str:
        return translated(query)

    def interrupt(self) -> None:
        """See `Database`; there are no other threads."""

    def close(self) -> None:
        with self._exit_stack:
            self.drop(list(self._frames))

    def _prepared(self, query: str) -> bool:
        """Configure Spark for a query; return whether it reads only small tables."""
        sources = (self._frames[word] for word in _WORD.findall(query) if word in self._frames)
        small = all(source.small for source in sources)
        if small is not self._for_small:
            self._for_small = small
            for name, value in (_SMALL if small else self._for_large()).items():
                if value is None:
                    self._session.conf.unset(name)
                else:
                    self._session.conf.set(name, value)
        return small

    def _for_large(self) -> dict[str, str | None]:
        partitions = "spark.sql.shuffle.partitions"
        if self._session.sparkContext.getConf().contains(partitions):
            return self._large
        tasks = max(
            4 * self._session.sparkContext.defaultParallelism, self._attached // _BYTES_PER_TASK
        )
        return self._large | {partitions: str(tasks)}

    @staticmethod
    def _optimized(frame: DataFrame) -> Any:
        java: Any = frame._jdf
        return java.queryExecution().optimizedPlan()

    def _materialize(self, name: str, frame: DataFrame) -> None:
        """Compute a query now and hold its rows as literals."""
        java: Any = frame._jdf
        rows = java.collectAsList()
        literals = self._java.createDataFrame(rows, java.schema())
        self._register(
            name, DataFrame(literals, self._session), _Frame(small=True, rows=rows.size())
        )

    def _cache(self, name: str, frame: DataFrame) -> None:
        """Compute a query now and hold its rows in Spark's cache."""
        frame.persist(StorageLevel.MEMORY_AND_DISK)
        rows = frame.count()
        if rows <= _SMALL_ROWS:
            self._materialize(name, frame)
            frame.unpersist()
            return
        # Make the cached result a leaf, so that plans on top of it do not grow without limit.
        jvm: Any = self._session._jvm
        java: Any = frame._jdf
        classic = jvm.org.apache.spark.sql.classic.Dataset
        again = classic.ofRows(self._java, java.queryExecution().logical())
        leaf = classic.ofRows(self._java, again.queryExecution().withCachedData())
        self._register(
            name, DataFrame(leaf, self._session), _Frame(small=False, rows=rows, cached=frame)
        )

    def _register(self, name: str, frame: DataFrame, entry: _Frame) -> None:
        """Register a table; few rows go to one partition, which needs no shuffle."""
        self._view(name, frame.coalesce(1) if entry.small and entry.rows else frame, entry)

    def _view(self, name: str, frame: DataFrame, entry: _Frame) -> None:
        frame.createOrReplaceTempView(name)
        self._frames[name] = entry
