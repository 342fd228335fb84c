"""Write the harness's part of the history and emit the same as events, so that both agree."""

from __future__ import annotations

import shutil
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from onceproof.harness.clock import clock_id, now
from onceproof.harness.history import events
from onceproof.harness.history.writer import HistoryWriter
from onceproof.harness.processes.life import Life
from onceproof.harness.wait import Interrupted

_LOW_SPACE = 16 * 2**20
"""Free bytes on the run folder's disk below which a failure is attributed to a full disk."""


class Stalled(Exception):
    """The subject made no more progress: its failure, not the harness's."""


class MayStillWrite(Exception):
    """The subject is idle, but may still write the missing effects."""


class Recorder:
    """Writes phases, faults, hazards and instances, and emits events. Thread-safe."""

    def __init__(self, history: Path, handlers: Sequence[events.Handler]) -> None:
        self.history = HistoryWriter(history, "harness")
        self._handlers = tuple(handlers)
        self._lock = threading.RLock()
        self._hazards: Counter[str] = Counter()

    def emit(self, event: events.Event) -> None:
        """Pass an event to every handler; remove one with `OSError`, such as a closed terminal."""
        with self._lock:
            for handler in tuple(self._handlers):
                try:
                    handler(event)
                except OSError:
                    self._handlers = tuple(h for h in self._handlers if h is not handler)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Record a phase; the type of an exception determines its outcome."""
        started = now()
        self.history.write("phases", phase=name, started_at=started, clock=clock_id())
        self.emit(events.PhaseStarted(at=started, phase=name))
        outcome, detail = "ok", None
        try:
            yield
        except (Interrupted, KeyboardInterrupt) as reason:
            outcome, detail = "interrupted", str(reason) or "interrupted"
            raise
        except Stalled as reason:
            outcome, detail = "stalled", str(reason)
            raise
        except MayStillWrite as reason:
            outcome, detail = "held-back", str(reason)
            raise
        except BaseException as reason:
            outcome, detail = "failed", f"{type(reason).__name__}: {reason}{self._full_disk()}"
            raise
        finally:
            ended = now()
            self.history.write(
                "phases",
                phase=name,
                started_at=started,
                ended_at=ended,
                outcome=outcome,
                detail=detail,
                clock=clock_id(),
            )
            self.emit(
                events.PhaseEnded(
                    at=ended,
                    phase=name,
                    outcome=outcome,
                    detail=detail,
                    seconds=(ended - started) / 1e9,
                )
            )

    def _full_disk(self) -> str:
        """Return a hint if the disk is full, because most errors that follow do not mention it."""
        free = shutil.disk_usage(self.history.path.parent).free
        if free > _LOW_SPACE:
            return ""
        return (
            f" (only {free // 2**20} MiB are free on the disk of the run folder: free space, or "
            "choose another folder with --out)"
        )

    def process(self, process: Life) -> None:
        self.history.write(
            "instances",
            subject=process.name,
            instance=process.instance,
            started_at=process.started_at,
            ended_at=process.ended_at,
            how=process.how,
            clock=clock_id(),
        )
        state = f"ended: {process.how}" if process.ended_at else "started"
        self.emit(events.InstanceChanged(at=now(), instance=process.instance, state=state))

    def fault(self, row: dict[str, Any], state: str, detail: str) -> None:
        self.history.write("faults", **row)
        self.emit(
            events.FaultChanged(
                at=now(), fault=row["fault"], kind=row["kind"], state=state, detail=detail
            )
        )

    def hazard(
        self,
        hazard: str,
        *,
        hop: str,
        detail: str,
        at: int | None = None,
        fault: str | None = None,
        owner: str | None = None,
        batch: int | None = None,
        attempts: Sequence[str | None] = (None,),
    ) -> None:
        """Record a hazard, one row for each attempt; `at` defaults to now."""
        at = now() if at is None else at
        self._hazards[hazard] += 1
        self.history.write_all(
            "hazards",
            [
                {
                    "hazard": hazard,
                    "hop": hop,
                    "at": at,
                    "clock": clock_id(),
                    "fault": fault,
                    "detail": detail,
                    "owner": owner,
                    "batch": batch,
                    "attempt": attempt,
                }
                for attempt in attempts
            ],
        )
        self.emit(events.HazardObserved(at=now(), hazard=hazard, detail=detail))

    def met(self, hazard: str) -> int:
        return self._hazards[hazard]

    def close(self) -> None:
        self.history.close()
