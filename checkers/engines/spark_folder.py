"""A folder in any file system that Spark reads, listed with Hadoop's FileSystem.

No local path is involved. Schemes and credentials are Spark's own configuration
(`spark.hadoop.fs.…`, `--packages`), on the driver for listing and on the executors for rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Final

import pyarrow as pa
from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from onceproof.checkers.bad_history import BadHistory
from onceproof.checkers.engines.spark_paths import literal_path
from onceproof.checkers.engines.spark_session import reason

FAILURES: Final = (PySparkException, Py4JJavaError)
"""Errors that Spark raises."""
_COPIED: Final = 2**16
"""Buffer size in bytes."""


class SparkFolder:
    """A `Folder` that Spark reads."""

    def __init__(self, session: SparkSession, path: Any, files: Any) -> None:
        self._session = session
        self._path = path
        self._files = files

    @classmethod
    def at(cls, session: SparkSession, place: str) -> SparkFolder:
        """Create the folder of a URI, without checking that it exists.

        Raises:
            BadHistory: it is not a URI, or this Spark does not know its scheme.
        """
        jvm: Any = session._jvm
        java: Any = session._jsparkSession
        try:
            path = jvm.org.apache.hadoop.fs.Path(place)
            files = path.getFileSystem(java.sessionState().newHadoopConf())
        except Py4JJavaError as error:
            raise BadHistory(
                f"{place}: expected a URI of a file system that this Spark can read: "
                f"{reason(error)}. Check the spelling; other schemes need their JARs and settings, "
                "e.g. PYSPARK_SUBMIT_ARGS='--packages org.apache.hadoop:hadoop-aws:… "
                "pyspark-shell'."
            ) from None
        return cls(session, path, files)

    @property
    def place(self) -> str:
        return str(self._path.toString())

    def names(self) -> frozenset[str]:
        try:
            if not self._files.getFileStatus(self._path).isDirectory():
                raise BadHistory(
                    f"{self.place}: expected a folder, found a file. Give the folder that contains "
                    "it."
                )
            return frozenset(
                str(status.getPath().getName()) for status in self._files.listStatus(self._path)
            )
        except Py4JJavaError as error:
            if "FileNotFoundException" in _class(error):
                raise BadHistory(
                    f"{self.place}: there is no such folder. Give a run folder, or a folder with "
                    "sends.parquet, log.parquet, …"
                ) from None
            raise BadHistory(
                f"{self.place}: Spark could not list it: {reason(error)}. Check the URI, and the "
                "JARs and settings that Spark needs to read it."
            ) from None

    def text(self, name: str) -> str:
        path = self._below(name)
        try:
            stream = self._files.open(path)
            try:
                return bytes(stream.readAllBytes()).decode()
            finally:
                stream.close()
        except (Py4JJavaError, UnicodeDecodeError) as error:
            raise BadHistory(f"{path.toString()}: expected a text file: {reason(error)}.") from None

    def size(self, name: str) -> int:
        """See `Folder`; -1 for a folder of files, which is never sealed."""
        path = self._below(name)
        try:
            status = self._files.getFileStatus(path)
            return -1 if status.isDirectory() else int(status.getLen())
        except Py4JJavaError as error:
            raise BadHistory(f"{path.toString()} cannot be read: {reason(error)}.") from None

    def sha256(self, name: str) -> str:
        jvm: Any = self._session._jvm
        path = self._below(name)
        digest = jvm.java.security.MessageDigest.getInstance("SHA-256")
        nowhere = jvm.java.io.OutputStream.nullOutputStream()
        summed = jvm.java.security.DigestOutputStream(nowhere, digest)
        try:
            opened = self._files.open(path)
            jvm.org.apache.hadoop.io.IOUtils.copyBytes(opened, summed, _COPIED, True)
        except Py4JJavaError as error:
            raise BadHistory(f"{path.toString()} cannot be read: {reason(error)}.") from None
        return bytes(digest.digest()).hex()

    def parquet(self, name: str) -> SparkParquet:
        return SparkParquet(self._session, str(self._below(name).toString()))

    def folder(self, name: str) -> SparkFolder:
        return SparkFolder(self._session, self._below(name), self._files)

    def _below(self, name: str) -> Any:
        jvm: Any = self._session._jvm
        return jvm.org.apache.hadoop.fs.Path(self._path, name)


class SparkParquet:
    """A `Parquet` that Spark reads: a file, or a folder of files as Spark writes them."""

    def __init__(self, session: SparkSession, place: str) -> None:
        """Read the footer.

        Raises:
            BadHistory: it is not Parquet.
        """
        self._place = place
        try:
            self._frame: DataFrame = session.read.parquet(literal_path(place))
        except FAILURES as error:
            raise self._bad(error) from None

    @property
    def place(self) -> str:
        return self._place

    @property
    def schema(self) -> pa.Schema:
        from pyspark.sql.pandas.types import to_arrow_schema

        return to_arrow_schema(self._frame.schema)

    @cached_property
    def rows(self) -> int:
        try:
            return self._frame.count()
        except FAILURES as error:
            raise self._bad(error) from None

    @property
    def full(self) -> frozenset[str]:
        """See `Parquet`; empty, since Spark does not tell, so the contents are checked."""
        return frozenset()

    def table(self) -> pa.Table:
        try:
            return self._frame.toArrow()
        except FAILURES as error:
            raise self._bad(error) from None

    def check(self) -> None:
        """See `Parquet`; nothing to do, since Spark itself names a file that it cannot read."""

    def distinct(
        self, columns: Sequence[str], where_known: str | None
    ) -> set[tuple[Any, ...]] | None:
        """See `Parquet`; computed by Spark."""
        if not {*columns, *([where_known] if where_known else [])} <= set(self._frame.columns):
            return None
        rows = self._frame
        if where_known:
            rows = rows.where(rows[where_known].isNotNull())
        try:
            return {tuple(row) for row in rows.select(*columns).distinct().collect()}
        except FAILURES as error:
            raise self._bad(error) from None

    def _bad(self, error: Exception) -> BadHistory:
        return BadHistory(
            f"{self._place}: expected Parquet data: {reason(error)}. Restore it or run again."
        )


def _class(error: Py4JJavaError) -> str:
    return str(error.java_exception.getClass().getName())
