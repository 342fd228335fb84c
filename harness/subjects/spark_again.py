"""A PySpark pipeline whose driver ends when all input is worked off, and is started again.

A driver that ends by itself and in good order is nothing to be surprised
at: somebody starts it again, as a scheduler does. One that a fault has killed waits for its
healing, and one that fails is the pipeline's end.
"""

from __future__ import annotations

import threading
from typing import Any, Final

from onceproof.harness.recording.tables import Recorded
from onceproof.harness.recording.writer import HistoryWriter
from onceproof.harness.sinks.base import Sink
from onceproof.harness.subjects.counted import counted
from onceproof.harness.subjects.pipeline import PipelineTrouble
from onceproof.harness.subjects.spark import SparkPipeline

WORKED_OFF: Final = "worked-off"
"""The driver ended, having worked off what there was, and was started again."""
_LOOK_EVERY: Final = 0.1


class SparkPipelineAgain(SparkPipeline):
    """The driver of one run, from its first life to its last."""

    def __init__(self, **parts: Any) -> None:
        """See `SparkPipeline`."""
        super().__init__(**parts)
        self._ends = 0
        self._trouble: str | None = None
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._keeper = threading.Thread(target=self._keep, daemon=True)

    def start(self) -> None:
        """Start a life of the driver, and see to the next ones from now on."""
        with self._lock:
            super().start()
        if not self._keeper.is_alive():
            self._keeper.start()

    def check(self) -> None:
        """Raise `PipelineTrouble` if the driver failed.

        Raises:
            WatchTrouble: its checkpoint cannot be watched.
        """
        self.check_watch()
        if self._trouble is not None:
            raise PipelineTrouble(self._trouble)

    def collect(self, writer: HistoryWriter, told: Recorded, sink: Sink) -> None:
        """As every driver, and how often it was started again; from now on it is not."""
        self._let_be()
        super().collect(writer, told, sink)
        words = "times the driver ended by itself, with its input worked off, and was started again"
        writer.write_all("hazards", counted((WORKED_OFF, self._ends, words)))

    def close(self) -> None:
        """Start nothing any more, and end the watch."""
        self._let_be()
        super().close()

    def _let_be(self) -> None:
        self._over.set()
        if self._keeper.is_alive():
            self._keeper.join(5)

    def _keep(self) -> None:
        while not self._over.wait(_LOOK_EVERY) and not self._stop.is_set():
            process = self.process
            if process is None or process.ending or process.leader_alive():
                continue
            process.note_exit()
            if process.ended_at is None:
                continue  # something of it still runs
            if process.popen.returncode != 0:
                self._trouble = (
                    f"{process.instance} failed, it {process.how}; it said last: {process.tail()}"
                )
                return
            with self._lock:
                if self.process is process and not self._over.is_set():
                    self._ends += 1
                    super().start()
