"""Execute one fault: wait for its trigger, inject it, wait for its end, heal it.

An error is recorded with the fault, which is healed all the same. Executions are run by a
schedule's conductor or by a lab, whose user decides when a fault starts and ends. A lab can also
retry a failed heal; the history keeps the outcome of each try.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from onceproof.harness.clock import clock_id, now
from onceproof.harness.context.run_context import Collected, RunContext
from onceproof.harness.faults.base import AfterCollect, HoldsMessages, Injection, NoEffect
from onceproof.harness.faults.messages.message import AtGates, met
from onceproof.harness.faults.messages.so_far import TransactionWatch
from onceproof.harness.faults.program.programs import NoProgress, life, wait_went_on
from onceproof.harness.history.writer import HistoryNotWritten
from onceproof.harness.links.gate.client import Event
from onceproof.harness.schedule.scenario import ScheduledFault
from onceproof.harness.user_pipeline.hung import start_if_hung
from onceproof.harness.wait import Interrupted, Overdue, wait_until


class NotHealed(Exception):
    """A fault could not be healed; the text says what was observed."""


class FaultExecution:
    """The execution of one fault of a schedule.

    Attributes:
        state: planned, due (its trigger has come), armed (it waits for its window), injected,
            took effect, healed or failed.
        fatal: the error that ends the whole run: the history cannot be written.
        over: set when the execution has ended.
        stood_still: whether the pipeline was found, or left, without writing anything more.
    """

    def __init__(self, at: ScheduledFault, context: RunContext) -> None:
        self.at = at
        self.state = "planned"
        self.detail = at.do.describe()
        self.target: str | None = None
        self.over = threading.Event()
        self.stood_still = False
        self.fatal: HistoryNotWritten | None = None
        self._ended = threading.Event()
        self._context = context
        self._injection: Injection | None = None
        self._row: dict[str, Any] = {
            "fault": at.name,
            "kind": at.do.kind,
            "description": at.do.describe(),
            "target": None,
            "required": at.required,
            "one_of": at.one_of,
            "armed_at": None,
            "injected_at": None,
            "healed_at": None,
            "took_effect": False,
            "evidence": None,
            "error": None,
            "clock": clock_id(),
        }

    def record(self, state: str, detail: str, *, quiet: bool = False, **changes: Any) -> None:
        self._row |= changes
        if quiet:
            self._context.recorder.history.write("faults", **self._row)
        else:
            self._context.recorder.fault(self._row, state, detail)
        self.state, self.detail = state, detail

    def run(self, wait_trigger: Callable[[], None], tries: Callable[[], int] | None = None) -> None:
        """Execute the fault, again and again until its hazard has occurred.

        Args:
            wait_trigger: blocks until the trigger.
            tries: returns the maximum number of tries, called after the trigger; None: as the
                schedule says.
        """
        with self._recording_errors():
            wait_trigger()
            for left in reversed(range(tries() if tries else self.at.tries)):
                self.record("due", self.at.do.describe(), armed_at=now())
                waits = self.at.hazard is not None and not self._context.producers.finished
                if waits and start_if_hung(self._context):
                    # While it starts, it writes nothing that the fault could affect.
                    wait_went_on(self._context, life(self._context))
                before, alive = self._hazards(), life(self._context)
                try:
                    self._inject_and_heal()
                    if self.at.hazard is not None:
                        wait_went_on(self._context, alive)
                except (NotHealed, HistoryNotWritten):
                    raise
                except Exception as error:
                    self.stood_still = isinstance(error, NoProgress)
                    if not left or self.stood_still:
                        raise
                    self.record("failed", f"{_describe_error(error)}; retrying")
                if self.at.hazard is None or self._hazards() > before:
                    return
                self._injection = None

    def _hazards(self) -> int:
        return self._context.recorder.met(self.at.hazard) if self.at.hazard else 0

    def heal_again(self) -> None:
        with self._recording_errors():
            self._heal()

    def messages(self) -> Sequence[Event]:
        """Return the messages that the fault has met, if it acts on single messages."""
        return self._injection.messages() if isinstance(self._injection, HoldsMessages) else ()

    @property
    def holding(self) -> bool:
        """Whether the fault holds messages now."""
        return isinstance(self._injection, HoldsMessages) and self._injection.holding

    def decide(self, *, drop: bool = False, error: str | None = None) -> bool:
        """Decide on held messages; return whether there are any. See `HoldsMessages`."""
        return isinstance(self._injection, HoldsMessages) and self._injection.decide(
            drop=drop, error=error
        )

    @property
    def active(self) -> bool:
        """Whether it can be healed: it has not ended, or was not healed when it ended."""
        return self.unhealed or not self.over.is_set()

    @property
    def took_effect(self) -> bool:
        return bool(self._row["took_effect"])

    @property
    def evidence(self) -> str | None:
        """The latest proof that it took effect."""
        found: str | None = self._row["evidence"]
        return found

    @property
    def missed(self) -> bool:
        """Whether it is over and its required hazard has never occurred in the run."""
        return self.over.is_set() and self.at.hazard is not None and not self._hazards()

    @property
    def unhealed(self) -> bool:
        """Whether it is over and was injected but not healed."""
        acted = self._injection is not None
        return self.over.is_set() and acted and self._row["healed_at"] is None

    def end(self) -> None:
        """Have it healed now, whether or not it has taken effect."""
        self._ended.set()

    def after_collect(self, known: Collected) -> None:
        if isinstance(self._injection, AfterCollect):
            self._injection.after_collect(known)

    def _inject_and_heal(self) -> None:
        context, until = self._context, self.at.until
        begun = until.begin(context)
        ran = context.pipeline.alive()
        try:
            try:
                with self._message_held():
                    injection = self.at.do.inject(context, self.at.name)
                    self._injection = injection
            except Exception:
                # It may have ended the pipeline before it failed, and would not be healed.
                if ran and not context.pipeline.alive():
                    context.pipeline.start()
                raise
            self.target = injection.target
            self.record(
                "injected" if injection.at is not None else "armed",
                injection.target,
                injected_at=injection.at,
                target=injection.target,
            )
            try:
                self._wait_evidence(injection)
            except Overdue:
                self.record("failed", f"no evidence within {self.at.seconds:g} s")
                return
            except NoEffect as error:
                self.record("failed", f"no effect: {error}")
                return
            wait_until(
                lambda: self._ended.is_set() or until.reached(context, begun),
                what=f"the end of «{self.at.name}»: {until.describe()}",
                seconds=self.at.seconds,
                stop=context.stop,
                seen=injection.evidence,
            )
            self._note_evidence(injection)
        finally:
            if self._injection is not None:
                self._heal()

    @contextmanager
    def _message_held(self) -> Iterator[None]:
        """Wait for the message of `during`, if any; hold it for the block, or drop it."""
        if (message := self.at.during) is None:
            yield
            return
        lost, behind = self.at.lost, self.at.behind
        rule = message.rule("drop", times=None) if lost else message.rule("hold")
        with ExitStack() as placed:
            so_far = None if behind is None else TransactionWatch(self._context, behind)
            if so_far is not None:
                placed.callback(so_far.remove)
            gates = AtGates(self._context, message.source, rule)
            placed.callback(gates.remove)

            def hit() -> Sequence[Event]:
                fired = gates.fired()
                if fired and so_far is not None and not so_far.passed(fired[0]):
                    gates.put_anew()
                    return ()
                return fired

            fired = wait_until(
                hit,
                what=f"{self.at.moment()}, which triggers «{self.at.name}»",
                seconds=self.at.seconds,
                stop=self._context.stop,
            )
            self.record("due", f"{'lost' if lost else 'held'}: {met(fired[0])}")
            yield

    def _heal(self) -> None:
        """Heal the fault, unless the run is stopping: then everything ends at once."""
        assert self._injection is not None, "a fault must be injected before it is healed"
        if self._context.stop.is_set():
            return
        try:
            self._injection.heal()
        except HistoryNotWritten:
            raise
        except Exception as error:
            self.stood_still = isinstance(error, NoProgress)
            raise NotHealed(f"not healed: {_describe_error(error)}") from error
        self.record("healed", self._injection.target, healed_at=now())

    def _wait_evidence(self, injection: Injection) -> None:
        wait_until(
            lambda: self._ended.is_set() or injection.evidence(),
            what=f"«{self.at.name}» to take effect",
            seconds=self.at.seconds,
            stop=self._context.stop,
        )
        self._note_evidence(injection)

    def _note_evidence(self, injection: Injection) -> None:
        """Report the first evidence; record later changes quietly."""
        proof = injection.evidence()
        if proof is None or proof == self._row["evidence"]:
            return
        self.target = injection.target
        if self.at.hazard is not None and not self.at.tells and not self._row["took_effect"]:
            self._context.recorder.hazard(
                self.at.hazard, hop="process", fault=self.at.name, at=injection.at, detail=proof
            )
        self.record(
            "took effect",
            proof,
            quiet=self._row["took_effect"],
            took_effect=True,
            evidence=proof,
            injected_at=injection.at,
            target=injection.target,
        )

    @contextmanager
    def _recording_errors(self) -> Iterator[None]:
        """Record how the block ends, and set `over`."""
        try:
            yield
        except Interrupted:
            return
        except HistoryNotWritten as error:
            self._stop_run(error)
        except Exception as error:
            try:
                self._record_failure(error)
            except HistoryNotWritten as worse:
                self._stop_run(worse)
        finally:
            self.over.set()

    def _stop_run(self, error: HistoryNotWritten) -> None:
        """End the whole run: without a history there is no use in continuing."""
        self.fatal = error
        self._context.stop.set("the history cannot be written")

    def _record_failure(self, error: Exception) -> None:
        text = str(error) if isinstance(error, NotHealed) else _describe_error(error)
        earlier = self._row["error"]
        self.record("failed", text, error=text if earlier is None else f"{earlier}; {text}")


def _describe_error(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
