"""A Spark session for judging: in the running Spark, or in one that is started for it.

A Spark that is started here is stopped, with its JVM and files. One that was running keeps running
with its settings unchanged. The settings say where to start Spark, else its own configuration
(`SPARK_CONF_DIR`, `PYSPARK_SUBMIT_ARGS`).
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from pyspark.conf import SparkConf
from pyspark.core.context import SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from onceproof.checkers.engines.settings import Settings
from onceproof.checkers.engines.temporary import temporary_folder

_MIN_HEAP: Final = 512 * 2**20
"""Spark's JVM does not start with less."""
_STOP_SECONDS: Final = 20.0
"""Seconds that the JVM gets to exit."""
_LOOPBACK: Final = "127.0.0.1"


class SparkTrouble(OSError):
    """Spark did not start; the message says why."""


@contextmanager
def spark_session(settings: Settings) -> Iterator[SparkSession]:
    """Open a session with views and settings of its own.

    Raises:
        SparkTrouble: there is no Spark, and none could be started.
    """
    running = SparkContext._active_spark_context
    if running is not None:
        yield SparkSession(running).newSession()
        return
    with temporary_folder() as folder, _jvm(settings, folder) as conf:
        try:
            with _restored_sigint():
                session = SparkSession(SparkContext(conf=conf))
        except Exception as error:
            raise SparkTrouble(f"Spark did not start: {reason(error)}") from None
        try:
            yield session
        finally:
            session.stop()


def is_local(master: str) -> bool:
    """Whether all of Spark is one process on this machine."""
    return master.startswith("local")


def reason(error: Exception) -> str:
    """Return the line of an error that says what happened, without Java's stack trace."""
    lines = str(error).splitlines() or [repr(error)]
    causes = [line for line in lines if line.startswith(": ")]
    return (causes or lines)[0].removeprefix(": ")


@contextmanager
def _jvm(settings: Settings, folder: Path) -> Iterator[SparkConf]:
    """Configure Spark, and start a JVM if there is none yet."""
    conf = _configuration(settings, folder)
    if SparkContext._gateway is not None:
        yield _completed(conf, settings, folder)
        return
    output = folder / "output"
    try:
        with output.open("wb") as sink:
            # Keep its output out of ours, which is the judgement. It also creates a folder in its
            # working directory.
            gateway = launch_gateway(  # type: ignore[no-untyped-call]
                conf, {"stdout": sink, "stderr": sink, "cwd": folder}
            )
    except Exception as error:
        raise SparkTrouble(f"Spark did not start: {_error_line(output) or reason(error)}") from None
    SparkContext._gateway, SparkContext._jvm = gateway, gateway.jvm
    try:
        yield _completed(conf, settings, folder)
    finally:
        SparkContext._gateway = SparkContext._jvm = None
        gateway.shutdown()
        if gateway.proc is not None:
            _stop(gateway.proc)


def _configuration(settings: Settings, folder: Path) -> SparkConf:
    conf = SparkConf()
    conf.setAppName("onceproof-check")
    conf.set("spark.ui.enabled", "false")
    conf.set("spark.ui.showConsoleProgress", "false")
    conf.set("spark.sql.catalogImplementation", "in-memory")
    conf.set("spark.sql.warehouse.dir", (folder / "warehouse").as_uri())
    if settings.master is not None:
        conf.setMaster(settings.master)
    elif settings.threads is not None:
        conf.setMaster(f"local[{settings.threads}]")
    if settings.memory is not None:
        conf.set("spark.driver.memory", _heap(settings.memory))
    return conf


def _completed(conf: SparkConf, settings: Settings, folder: Path) -> SparkConf:
    """Add settings that depend on Spark's own configuration, which the JVM has read."""
    configured = SparkConf(_jvm=SparkContext._jvm)
    if not configured.contains("spark.local.dir"):
        conf.set("spark.local.dir", str(folder / "local"))
    master = conf.get("spark.master") or configured.get("spark.master", "local[*]")
    if is_local(master):
        for name in ("spark.driver.host", "spark.driver.bindAddress"):
            if not configured.contains(name):
                conf.set(name, _LOOPBACK)
    elif settings.memory is not None:
        conf.set("spark.executor.memory", _heap(settings.memory))
    return conf


def _heap(memory: int) -> str:
    return f"{max(memory, _MIN_HEAP) // 2**20}m"


def _stop(process: Any) -> None:
    """Stop a JVM of PySpark, which exits when its standard input is closed."""
    timer = threading.Timer(_STOP_SECONDS, process.kill)
    timer.start()
    process.stdin.close()
    process.wait()
    timer.cancel()


@contextmanager
def _restored_sigint() -> Iterator[None]:
    """Keep the previous SIGINT handler, which PySpark replaces."""
    in_main_thread = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGINT) if in_main_thread else None
    try:
        yield
    finally:
        if before is not None:
            signal.signal(signal.SIGINT, before)


def _error_line(output: Path) -> str:
    """Return the most useful line of the JVM's output: its first error, else its last line."""
    lines = [line for line in output.read_text(errors="replace").splitlines() if line.strip()]
    errors = [line for line in lines if "rror" in line or "xception" in line]
    return (errors or lines[-1:] or [""])[0].strip()
