"""Inject and heal faults at the user's command while a run stays up.

`ByHand` replaces a schedule's conductor. Its faults are recorded, have evidence and are healed like
scheduled ones, but the user decides when they start and end. A fault that failed to heal stays
active, so that healing can be retried.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass

from confluent_kafka import KafkaException

from onceproof.harness.context.run_context import Collected, RunContext
from onceproof.harness.faults.base import Fault
from onceproof.harness.kafka.topic import Topic
from onceproof.harness.kafka.topics import create_topics
from onceproof.harness.links.topology import AUDITOR
from onceproof.harness.schedule.fault_execution import FaultExecution
from onceproof.harness.schedule.scenario import ScheduledFault
from onceproof.harness.schedule.supported_faults import is_supported
from onceproof.harness.wait import Interrupted, wait_until

ACT_SECONDS = 60.0
"""Time limit from the request of a fault to its injection."""
HEAL_SECONDS = 240.0


class NoSuchFault(LookupError):
    """No fault of this name is active; the text lists the active ones."""


class NotOffered(RuntimeError):
    """The lab lacks something that a fault needs; the text says what."""


class NotHeld(RuntimeError):
    """A fault holds no message that could be lost or answered; the text names it."""


class TopicRefused(RuntimeError):
    """The cluster refused a new topic; the text says why."""


class Ending(RuntimeError):
    """The lab is already ending and accepts no more commands."""


@dataclass(frozen=True)
class HealedByUser:
    """The end of a fault that only a user's command heals."""

    def describe(self) -> str:
        return "it is healed by hand"

    def begin(self, context: RunContext) -> object:
        return None

    def reached(self, context: RunContext, begun: object) -> bool:
        return False


class ByHand:
    """Carries out a user's commands on a running lab."""

    def __init__(
        self,
        context: RunContext,
        *,
        offered: Set[str],
        opened: Callable[[ByHand], None],
        noted: Callable[[FaultExecution], None],
        write_note: Callable[[str], None],
    ) -> None:
        """Make it without starting anything.

        Args:
            offered: what stage and subject offer to faults.
            opened: called when the lab accepts commands.
            noted: called with every requested fault.
            write_note: records a note of the user.
        """
        self.context = context
        self.executions: list[FaultExecution] = []
        self.offered = offered
        self._opened = opened
        self._noted = noted
        self._write_note = write_note
        self._ended = threading.Event()
        self._judge = True
        self._lock = threading.Lock()

    @property
    def ending(self) -> bool:
        """Whether the lab is ending, by command or because the run was asked to stop."""
        return self._ended.is_set() or self.context.stop.is_set()

    def announce(self) -> None:
        pass

    def carry_out(self) -> None:
        """Stay up until told to end, then heal every active fault.

        Raises:
            Interrupted: the lab ends without a verdict.
            HistoryNotWritten: the history cannot be written.
        """
        self._opened(self)
        while not self._ended.wait(0.1):
            self.context.stop.check()
            self._check()
        self.heal_all()
        self._check()
        if not self._judge:
            self.context.stop.set("ended by hand, without a verdict")
            raise Interrupted(self.context.stop.reason)
        self.context.producers.enough()

    def after_collect(self, known: Collected) -> None:
        for execution in self.executions:
            execution.after_collect(known)

    def write_note(self, text: str) -> None:
        """Record a note of the user; raise `Ending` if the lab is ending."""
        with self._lock:
            self._check_open()
            self._write_note(text)

    def make_topic(self, topic: Topic) -> Topic:
        """Create a topic for the user's programs; it is gone when the lab ends.

        Raises:
            TopicRefused: the cluster refused.
            Ending: the lab is ending.
        """
        stage = self.context.stage
        with self._lock:
            self._check_open()
            try:
                create_topics(
                    stage.bootstrap(AUDITOR),
                    [topic.name],
                    partitions=topic.partitions,
                    brokers=len(stage.brokers),
                )
            except KafkaException as error:
                raise TopicRefused(str(error.args[0])) from error
            stage.created([topic.name])
        return topic

    def begin(self, name: str, fault: Fault) -> FaultExecution:
        """Start a fault; return when it is injected or armed, or has failed.

        Raises:
            Overdue: none of these happened in time.
            NotOffered: this lab cannot inject it.
            Ending: the lab is ending.
        """
        if not is_supported(fault, self.offered):
            raise NotOffered(
                f"{name} needs «{fault.needs}», which this lab does not offer; it offers "
                f"{', '.join(sorted(self.offered)) or 'nothing'}"
            )
        with self._lock:
            self._check_open()
            number = 1 + sum(
                execution.at.name.rpartition("-")[0] == name for execution in self.executions
            )
            at = ScheduledFault(
                name=f"{name}-{number}",
                do=fault,
                until=HealedByUser(),
                required=False,
                seconds=math.inf,
            )
            execution = FaultExecution(at, self.context)
            execution.record("planned", fault.describe(), quiet=True)
            self._noted(execution)
            self.executions.append(execution)
        threading.Thread(target=execution.run, args=(_at_once,), daemon=True).start()
        wait_until(
            lambda: execution.state not in ("planned", "due"),
            what=f"«{at.name}» to be injected or armed",
            seconds=ACT_SECONDS,
            stop=self.context.stop,
            seen=lambda: f"{execution.state}: {execution.detail}",
        )
        return execution

    def heal(self, name: str, *, drop: bool = False, error: str | None = None) -> FaultExecution:
        """Heal a fault, or retry to, and wait until it is healed.

        Messages that it holds are lost with `drop`, answered with `error`, or else forwarded.

        Raises:
            NoSuchFault: no fault of this name is active.
            NotHeld: there is a decision on messages, but this fault holds none.
            StageTrouble: a message cannot be answered with this error; it is still held.
            Overdue: it is not healed in time.
        """
        execution = self._active_fault(name)
        # Outside the lock: a gate that does not answer must not block other requests.
        if (drop or error is not None) and not execution.decide(drop=drop, error=error):
            raise NotHeld(f"«{name}» holds no message")
        with self._lock:
            self._start_healing(execution)
        self._wait_over([execution])
        return execution

    def _active_fault(self, name: str) -> FaultExecution:
        with self._lock:
            active = {execution.at.name: execution for execution in self._active()}
        try:
            return active[name]
        except KeyError:
            known = ", ".join(active) or "none"
            raise NoSuchFault(f"no active fault «{name}»; active: {known}") from None

    def heal_all(self) -> list[FaultExecution]:
        """Heal every active fault, the newest first."""
        with self._lock:
            active = self._active()[::-1]
            for execution in active:
                self._start_healing(execution)
        self._wait_over(active)
        return active

    def end(self, *, judge: bool) -> None:
        """End the lab, with or without a verdict.

        Raises:
            Ending: it is already ending.
        """
        with self._lock:
            self._check_open()
            self._judge = judge
            self._ended.set()

    def _check_open(self) -> None:
        if self.ending:
            how = "with" if self._judge and self._ended.is_set() else "without"
            raise Ending(f"the lab is ending, {how} a verdict, and accepts no more requests")

    def _active(self) -> list[FaultExecution]:
        return [execution for execution in self.executions if execution.active]

    def _start_healing(self, execution: FaultExecution) -> None:
        if execution.unhealed:
            execution.over.clear()
            threading.Thread(target=execution.heal_again, daemon=True).start()
        else:
            execution.end()

    def _wait_over(self, executions: Sequence[FaultExecution]) -> None:
        wait_until(
            lambda: all(execution.over.is_set() for execution in executions),
            what="the faults to be healed",
            seconds=HEAL_SECONDS,
            stop=self.context.stop,
            seen=lambda: [f"{execution.at.name}: {execution.state}" for execution in executions],
        )

    def _check(self) -> None:
        for execution in self.executions:
            if execution.fatal is not None:
                raise execution.fatal


def _at_once() -> None: ...
