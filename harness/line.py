"""One fault while it is at work: it waits for its trigger, acts, waits for its end, heals.

The one thing to know: whatever goes wrong is recorded with the fault, and it is healed all the
same. A schedule's conductor runs lines, and so does a lab, whose user is trigger and end in one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from harness.bench import Aftermath, Bench
from harness.clock import clock_id, now
from harness.faults.base import Injection
from harness.recording.writer import HistoryNotWritten
from harness.scenario import At
from harness.wait import Interrupted, Overdue, wait_until


class Line:
    """One line of a schedule.

    Attributes:
        at: what it does.
        state: planned, armed, lying in wait, injected, bit, healed or failed.
        detail: what there is to say of that state.
        target: the target as resolved, once it is.
        fatal: what ends the whole run: the history cannot be written.
        over: set when nothing more comes.
    """

    def __init__(self, at: At, bench: Bench) -> None:
        self.at = at
        self.state = "planned"
        self.detail = at.do.describe()
        self.target: str | None = None
        self.over = threading.Event()
        self.fatal: HistoryNotWritten | None = None
        self._ended = threading.Event()
        self._bench = bench
        self._injection: Injection | None = None
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
        self.state, self.detail = state, detail

    def run(self, wait_trigger: Callable[[], None]) -> None:
        """Wait, act, wait, heal."""
        try:
            wait_trigger()
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

    def end(self) -> None:
        """Let it be healed now, whether or not it has bitten."""
        self._ended.set()

    def aftermath(self, known: Aftermath) -> None:
        """Let the fault record the hazards that show only now."""
        if self._injection is not None:
            self._injection.aftermath(known)

    def _disturb(self) -> None:
        bench, until = self._bench, self.at.until
        begun = until.begin(bench)
        injection = self.at.do.inject(bench, self.at.name)
        self._injection = injection
        try:
            self.target = injection.target
            self.record(
                "injected" if injection.at is not None else "lying in wait",
                injection.target,
                injected_at=injection.at,
                target=injection.target,
            )
            try:
                self._wait_evidence(injection)
            except Overdue:
                self.record("failed", f"no evidence within {self.at.seconds:g} s")
                return
            wait_until(
                lambda: self._ended.is_set() or until.reached(bench, begun),
                what=f"the end of «{self.at.name}»: {until.describe()}",
                seconds=self.at.seconds,
                stop=bench.stop,
                seen=injection.evidence,
            )
            self._note_evidence(injection)
        finally:
            if not bench.stop.is_set():
                injection.heal()
                self.record("healed", injection.target, healed_at=now())

    def _wait_evidence(self, injection: Injection) -> None:
        wait_until(
            lambda: self._ended.is_set() or injection.evidence(),
            what=f"«{self.at.name}» to bite",
            seconds=self.at.seconds,
            stop=self._bench.stop,
        )
        self._note_evidence(injection)

    def _note_evidence(self, injection: Injection) -> None:
        """What proves it by now; told once, and written down again where it grew."""
        proof = injection.evidence()
        if proof is None or proof == self._row["evidence"]:
            return
        self.target = injection.target
        self.record(
            "bit",
            proof,
            quiet=self._row["bit"],
            bit=True,
            evidence=proof,
            injected_at=injection.at,
            target=injection.target,
        )

    def _give_up(self, error: HistoryNotWritten) -> None:
        """Without a history there is nothing to go on for: end the whole run."""
        self.fatal = error
        self._bench.stop.set("the history cannot be written")

    def _failed(self, error: Exception) -> None:
        words = f"{type(error).__name__}: {error}"
        self.record("failed", words, error=words)
