"""Feed a pipeline that reads no topic: a user's command puts inputs where the pipeline reads them.

Inputs are still sent to a topic, because a trial is judged by its log. From there the command gets
them on standard input in small batches, one value per line, in log order. A failed batch is
repeated, so the command must tolerate receiving the same lines twice.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final

from psycopg.conninfo import make_conninfo

from onceproof.harness.context.pipeline import PipelineParts, PipelineTrouble
from onceproof.harness.context.run_context import addresses
from onceproof.harness.kafka.connecting.properties import without_credentials
from onceproof.harness.kafka.following import Followers
from onceproof.harness.kafka.log_reader import LogReader, UnreadableLog
from onceproof.harness.links.topology import AUDITOR
from onceproof.harness.processes.processes import MARKER
from onceproof.harness.stage.database_login import for_programs
from onceproof.harness.user_pipeline.database_url import database_url, jdbc_url
from onceproof.harness.user_pipeline.look import inputs_of
from onceproof.harness.user_pipeline.placeholders import fill
from onceproof.harness.user_pipeline.statements import APPLICATION
from onceproof.harness.wait import Interrupted, Stop

_EVERY_SECONDS: Final = 1.0
_RUN_SECONDS: Final = 60.0
_GIVE_UP_SECONDS: Final = 120.0
"""Longer than faults make the database unavailable."""
_OUTPUT_BYTES: Final = 400


@dataclass(kw_only=True)
class Feed:
    """The feed command, run in `folder`, and its progress.

    Attributes:
        marker: of the run.
        log: file that gets the command's output.
        topic: whose log is fed; `reader` reads it.
    """

    command: Sequence[str]
    marker: str
    environment: Mapping[str, str]
    folder: Path
    log: Path
    topic: str
    reader: Callable[[], AbstractContextManager[LogReader]]
    stop: Stop
    _next: dict[int, int] = field(default_factory=dict, init=False)
    """Partition → offset after the last input that the command has accepted."""
    _error: str | None = field(default=None, init=False)
    _over: threading.Event = field(default_factory=threading.Event, init=False)
    _thread: threading.Thread | None = field(default=None, init=False)

    def start(self) -> None:
        """Run the command once without inputs, to create its target; then start feeding.

        Raises:
            PipelineTrouble: the first run fails.
        """
        if self._thread is not None:
            return
        if (failed := self._run([])) is not None:
            raise PipelineTrouble(f"--feed failed in its first run, without inputs: {failed}")
        self._thread = threading.Thread(target=self._loop, daemon=True)
        self._thread.start()

    def check(self) -> None:
        if self._error is not None:
            raise PipelineTrouble(self._error)

    def close(self) -> None:
        self._over.set()
        if self._thread is not None:
            self._thread.join(10)

    def _loop(self) -> None:
        since = self.stop.monotonic()
        while not self._over.wait(_EVERY_SECONDS):
            failed = self._feed_new()
            if failed is None:
                since = self.stop.monotonic()
            elif self.stop.monotonic() - since > _GIVE_UP_SECONDS:
                self._error = f"--feed has failed for {_GIVE_UP_SECONDS:g} s; last error: {failed}"
                return

    def _feed_new(self) -> str | None:
        """Feed new inputs; return the reason if that failed."""
        try:
            with self.reader() as reader:
                logs = reader.read_topic(self.topic)
        except UnreadableLog as error:
            return str(error)
        lines, reached = [], dict(self._next)
        for log in logs:
            for entry in inputs_of(log):
                if entry.offset >= self._next.get(log.partition, 0):
                    lines.append(entry.value or b"")
                    reached[log.partition] = entry.offset + 1
        if not lines:
            return None
        failed = self._run(lines)
        if failed is None:
            self._next = reached
        return failed

    def _run(self, lines: Sequence[bytes]) -> str | None:
        """Run the command with some inputs; return the reason if it failed."""
        try:
            with self.log.open("ab") as out:
                process = subprocess.Popen(
                    self.command, stdin=subprocess.PIPE, stdout=out, stderr=out, cwd=self.folder,
                    env={
                        **without_credentials(os.environ), **self.environment, MARKER: self.marker
                    },
                    start_new_session=True,
                )  # fmt: skip
        except OSError as error:
            return f"{self.command[0]} cannot be started: {error.strerror}"
        with process:
            try:
                return self._wait(process, b"".join(line + b"\n" for line in lines))
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)

    def _wait(self, process: subprocess.Popen[bytes], lines: bytes) -> str | None:
        assert process.stdin is not None
        writing = threading.Thread(target=_write, args=(process.stdin, lines), daemon=True)
        writing.start()
        deadline = self.stop.monotonic() + _RUN_SECONDS
        with suppress(Interrupted):
            while process.poll() is None and not self._over.is_set():
                if self.stop.monotonic() > deadline:
                    return f"{self.command[0]} did not finish within {_RUN_SECONDS:g} s"
                self.stop.pause(0.02)
        if process.returncode == 0:
            return None
        code = process.returncode
        how = "was terminated" if code is None else f"exited with code {code}"
        last = self.log.read_bytes()[-_OUTPUT_BYTES:].decode(errors="replace").strip()
        return f"{self.command[0]} {how}; last output: {last or 'none'}"


def feed_of(
    command: Sequence[str], *, folder: Path, parts: PipelineParts, meanings: Mapping[str, str]
) -> Feed:
    """Return the feed of a run, whose database connection bypasses the proxies."""
    directly = make_conninfo(parts.stage.database(AUDITOR), application_name=APPLICATION)
    database, environment = for_programs(directly)
    own = {
        **meanings, "database": database, "database_url": database_url(database),
        "jdbc": jdbc_url(database),
    }  # fmt: skip
    return Feed(
        command=[fill(part, own) for part in command],
        marker=parts.processes.marker,
        environment={**environment, "PGAPPNAME": APPLICATION},
        folder=folder,
        log=parts.processes.logs / "feed.log",
        topic=parts.topic,
        reader=Followers(addresses(parts.stage)).reader,
        stop=parts.stop,
    )


def _write(pipe: IO[bytes], lines: bytes) -> None:
    with suppress(OSError), pipe:
        pipe.write(lines)
