"""Carrying out a schedule: each line waits for its trigger, acts, waits for its end, heals.

The one thing to know: lines run side by side, each on a thread of its own, and are ordered only by
what their triggers say. A line that fails is recorded with its error, which makes the run invalid;
it is healed all the same, and the others go on.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from harness.bench import Aftermath, Bench
from harness.clock import clock_id, now
from harness.faults.base import Injection
from harness.recording.writer import HistoryNotWritten
from harness.scenario import At
from harness.wait import Interrupted, Overdue, wait_until

TRIGGER_SECONDS = 300.0


class Conductor:
    """The schedule of one run."""

    def __init__(self, schedule: Sequence[At], bench: Bench) -> None:
        self._bench = bench
        self._lines = [_Line(at, bench) for at in schedule]
        self._by_name = {line.at.name: line for line in self._lines}

    def announce(self) -> None:
        """Record every line before anything is done, so that one never reached is not forgotten."""
        for line in self._lines:
            line.record("planned", line.at.do.describe(), quiet=True)

    def carry_out(self) -> None:
        """Carry out the whole schedule; returns when every line is over.

        Raises:
            Interrupted: the run was asked to stop.
            HistoryNotWritten: the history cannot be written.
        """
        threads = [
            threading.Thread(target=line.run, args=(self._by_name,), daemon=True)
            for line in self._lines
        ]
        self._bench.producers.keep_for(len(self._lines))
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive() and not self._bench.stop.is_set():
                thread.join(0.1)
                self._bench.producers.keep_for(sum(not line.over.is_set() for line in self._lines))
        for line in self._lines:
            if line.fatal is not None:
                raise line.fatal
        self._bench.stop.check()

    def aftermath(self, known: Aftermath) -> None:
        """Let every fault record the hazards that show only now."""
        for line in self._lines:
            if line.injection is not None:
                line.injection.aftermath(known)


class _Line:
    """One line of the schedule while it is carried out."""

    def __init__(self, at: At, bench: Bench) -> None:
        self.at = at
        self.injection: Injection | None = None
        self.over = threading.Event()
        self.fatal: HistoryNotWritten | None = None
        self._bench = bench
        self._row: dict[str, Any] = {
            "fault": at.name,
            "kind": at.do.kind,
            "description": at.do.describe(),
            "target": None,
            "required": at.required,
            "armed_at": None,
            "injected_at": None,
            "healed_at": None,
            "bit": False,
            "evidence": None,
            "error": None,
            "clock": clock_id(),
        }

    def record(self, state: str, detail: str, *, quiet: bool = False, **changes: Any) -> None:
        """Note a new state of the fault."""
        self._row |= changes
        if quiet:
            self._bench.recorder.history.write("faults", **self._row)
        else:
            self._bench.recorder.fault(self._row, state, detail)

    def run(self, lines: dict[str, _Line]) -> None:
        """Wait, act, wait, heal."""
        try:
            self._wait_trigger(lines)
            self.record("armed", self.at.do.describe(), armed_at=now())
            self._disturb()
        except Interrupted:
            return
        except HistoryNotWritten as error:
            self._give_up(error)
        except Exception as error:
            try:
                self._failed(error)
            except HistoryNotWritten as worse:
                self._give_up(worse)
        finally:
            self.over.set()

    def _wait_trigger(self, lines: dict[str, _Line]) -> None:
        def come() -> bool:
            return (
                all(lines[name].over.is_set() for name in self.at.after)
                and self._bench.producers.progress >= self.at.progress
            )

        wait_until(
            come,
            what=f"the trigger of «{self.at.name}»: {self.at.when()}",
            seconds=TRIGGER_SECONDS,
            stop=self._bench.stop,
            seen=lambda: f"progress {self._bench.producers.progress:.0%}",
        )

    def _disturb(self) -> None:
        bench, until = self._bench, self.at.until
        begun = until.begin(bench)
        injection = self.at.do.inject(bench, self.at.name)
        self.injection = injection
        try:
            self.record(
                "injected" if injection.at is not None else "lying in wait",
                injection.target,
                injected_at=injection.at,
                target=injection.target,
            )
            try:
                wait_until(
                    lambda: injection.evidence() and until.reached(bench, begun),
                    what=f"«{self.at.name}» to bite, and until {until.describe()}",
                    seconds=self.at.seconds,
                    stop=bench.stop,
                    seen=lambda: injection.evidence() or "no evidence",
                )
            except Overdue:
                if injection.evidence() is None:
                    self.record("failed", f"no evidence within {self.at.seconds:g} s")
                else:
                    raise
            if (proof := injection.evidence()) is not None:
                self.record(
                    "bit",
                    proof,
                    bit=True,
                    evidence=proof,
                    injected_at=injection.at,
                    target=injection.target,
                )
        finally:
            if not bench.stop.is_set():
                injection.heal()
                self.record("healed", injection.target, healed_at=now())

    def _give_up(self, error: HistoryNotWritten) -> None:
        """Without a history there is nothing to go on for: end the whole run."""
        self.fatal = error
        self._bench.stop.set("the history cannot be written")

    def _failed(self, error: Exception) -> None:
        words = f"{type(error).__name__}: {error}"
        self.record("failed", words, error=words)
