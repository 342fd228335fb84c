"""Open a folder by its path or URI, on this machine or wherever Spark reads.

Opening a URI starts Spark. Judge inside the context to use the same one:

    settings = Settings(engine="spark", master="local[4]")
    with open_folder("s3a://bucket/run/history", settings) as folder:
        judgement = check(History.load(folder), claims, settings)
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from onceproof.checkers.bad_history import BadHistory
from onceproof.checkers.engines.settings import Settings
from onceproof.checkers.folders import Folder, is_uri
from onceproof.checkers.local_folder import LocalFolder


@contextmanager
def open_folder(place: str, settings: Settings) -> Iterator[Folder]:
    """Open a folder.

    Raises:
        BadHistory: the engine does not read such a place.
        SparkTrouble: Spark did not start, or failed inside the context.
    """
    if not is_uri(place):
        yield LocalFolder(Path(place))
        return
    if settings.engine != "spark":
        raise BadHistory(
            f"{place}: expected a local path, because DuckDB reads only local files here. Use "
            "--engine spark, or copy the folder and give the path of the copy."
        )
    from onceproof.checkers.engines.spark_folder import FAILURES, SparkFolder
    from onceproof.checkers.engines.spark_session import SparkTrouble, reason, spark_session

    with spark_session(settings) as session:
        try:
            yield SparkFolder.at(session, place)
        except FAILURES as error:
            raise SparkTrouble(
                f"{place}: Spark failed: {reason(error)}. Fix the setup of Spark, or restore the "
                "files that it could not read"
            ) from None
