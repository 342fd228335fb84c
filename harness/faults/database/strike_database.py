"""Act on a transaction of the pipeline in its database, and ask the server for its outcome."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import Annotated, ClassVar, Final, Literal

import psycopg

from onceproof.harness.clock import now
from onceproof.harness.context.pipeline import PipelineTrouble
from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.database.triggers import Triggers, When
from onceproof.harness.faults.links.probed_link import wait_mended
from onceproof.harness.faults.program.programs import (
    at_work,
    end,
    offsets_committed,
    running,
    start_again,
)
from onceproof.harness.faults.words import Word
from onceproof.harness.links.disturbances import CUT
from onceproof.harness.links.topology import AUDITOR, POSTGRES, Link
from onceproof.harness.wait import Overdue, wait_until

Act = Literal[
    "kill-undone",
    "kill-landed",
    "kill-refused",
    "cut-undone",
    "cut-landed",
    "refuse",
    "slow",
    "stop",
]
SERIALIZATION_FAILURE: Final = "40001"
_WORDS: Final[dict[Act, str]] = {
    "kill-undone": "SIGKILL the pipeline; its transaction is rolled back",
    "kill-landed": "SIGKILL the pipeline; its transaction is committed, but not acknowledged",
    "kill-refused": "refuse it{code}, then SIGKILL the pipeline, unless it ends by itself",
    "cut-undone": "close the pipeline's connection; its transaction is rolled back",
    "cut-landed": (
        "close the pipeline's connection; its transaction is committed, but not acknowledged"
    ),
    "refuse": "refuse it{code}",
    "slow": "delay the answer",
    "stop": "SIGTERM the pipeline, and answer after it has had time to exit",
}
_MEET_SECONDS: Final = 30.0
_SLOW_SECONDS: Final = 6.0
"""Longer than usual statement time-outs of pipelines."""
_END_SECONDS: Final = 2.0
"""Time in which a pipeline that does not wait for its writes ends after SIGTERM."""


@dataclass(frozen=True, kw_only=True)
class StrikeDatabase:
    """Act on the next transaction of your pipeline in the database.

    Attributes:
        when: act at its next `statement` or at its `commit`.
        table: act only on statements that write to this table; None: any.
        code: SQLSTATE of a refusal.
        seconds: maximum time to hold or refuse it, until the pipeline commits offsets to Kafka.
    """

    example: ClassVar[str] = "strike-database commit kill-landed"
    kind: ClassVar[str] = "crash"
    needs = "database"
    when: Annotated[When, Word(noun="moment")]
    act: Annotated[Act, Word()]
    table: str | None = None
    code: str = SERIALIZATION_FAILURE
    seconds: float = 0.0

    def describe(self) -> str:
        what = "commit in" if self.when == "commit" else f"write to {self.table or 'a table of'}"
        where = "" if self.table and self.when == "statement" else " the database"
        code = f" with SQLSTATE {self.code}"
        return f"at the pipeline's {what}{where}: {_WORDS[self.act].format(code=code)}"

    def inject(self, context: RunContext, name: str) -> _Struck:
        return _Struck(context, name, self)


class _Struck:
    def __init__(self, context: RunContext, name: str, fault: StrikeDatabase) -> None:
        self._context, self._name, self._fault = context, name, fault
        self.target = POSTGRES
        self._seen: str | None = None
        self._ended = False
        self._committed = 0
        at_work(context)
        refuse = fault.code if "refuse" in fault.act else ""
        tables = () if fault.table is None else (fault.table,)
        with ExitStack() as undo:
            triggers = Triggers(
                context.stage.database(AUDITOR), when=fault.when, tables=tables, refuse=refuse
            )
            undo.callback(triggers.remove)
            if refuse:
                self._refuse(triggers)
            else:
                self._hold(triggers)

    def evidence(self) -> str | None:
        return self._seen

    def heal(self) -> None:
        """Restart the pipeline if it was killed, and wait until the database answers it."""
        wait_mended(self._context, [Link("pipeline", POSTGRES)])
        if self._ended:
            start_again(self._context)

    def _refuse(self, triggers: Triggers) -> None:
        self._wait_met(lambda: triggers.met)
        ended = f"; {self._kill_refused()}" if self._fault.act == "kill-refused" else ""
        self.at = now()
        count = triggers.met
        self._seen = (
            f"the database refused {count} times with SQLSTATE {self._fault.code}, at a "
            f"{self._fault.when} on {', '.join(triggers.tables)}{ended}"
        )

    def _kill_refused(self) -> str:
        """Kill it once it commits offsets all the same, unless it ends before that."""
        try:
            process = running(self._context)
        except PipelineTrouble:
            self._ended = True
            return "the pipeline ended by itself"
        committed = offsets_committed(
            self._context, self._fault.seconds, unless=lambda: not process.leader_alive()
        )
        self._ended = True
        if not process.leader_alive():
            return f"{process.instance} ended by itself"
        killed = end(process, f"SIGKILL by fault «{self._name}»")
        return f"{killed}; meanwhile it had committed offsets {committed} times"

    def _hold(self, triggers: Triggers) -> None:
        self._wait_met(triggers.waiting)
        if self._fault.seconds:
            self._committed = offsets_committed(self._context, self._fault.seconds)
        self.at = now()
        held = triggers.waiting()
        with ExitStack() as undo:
            action = self._act(triggers, list(held), undo)
            triggers.release()
            statuses = {xid: self._outcome(triggers, xid) for xid in held.values() if xid}
        expected = "aborted" if self._fault.act.endswith("undone") else "committed"
        outcomes = ", ".join(f"transaction {xid} {status}" for xid, status in statuses.items())
        met = statuses and set(statuses.values()) <= {expected}  # it may have given up meanwhile
        if self._fault.act in ("slow", "stop") or met:
            self._seen = f"{action}; {outcomes}"
            if self._fault.seconds:
                self._seen += f"; meanwhile it had committed offsets {self._committed} times"

    def _act(self, triggers: Triggers, held: list[int], undo: ExitStack) -> str:
        act = self._fault.act
        where = f"at a {self._fault.when} on {', '.join(triggers.tables)}"
        if act.startswith("kill"):
            killed = end(running(self._context), f"SIGKILL by fault «{self._name}»")
            self._ended = True
            if act == "kill-undone":
                triggers.terminate(held)
            return f"{killed}, {where}"
        if act == "stop":
            process = running(self._context)
            process.ask_all_to_end()
            self._ended = True
            self._wait(lambda: not process.alive(), _END_SECONDS)
            triggers.release()
            stopped = end(process, f"SIGTERM by fault «{self._name}»", asked=True)
            return f"{stopped}, {where}"
        if act == "cut-undone":
            triggers.terminate(held)
            return f"{len(held)} connections terminated {where}"
        if act == "cut-landed":
            link = Link("pipeline", POSTGRES)
            undo.callback(self._context.stage.disturb(link, CUT).release)
            return f"{len(held)} connections cut {where}"
        self._wait(lambda: not triggers.waiting(), _SLOW_SECONDS)
        return f"answers delayed by up to {_SLOW_SECONDS:g} s, {where}"

    def _wait(self, look: Callable[[], bool], seconds: float) -> None:
        with suppress(Overdue):
            wait_until(look, what="", seconds=seconds, stop=self._context.stop)

    def _wait_met(self, look: Callable[[], object]) -> None:
        wait_until(
            look,
            what=f"a {self._fault.when} of the pipeline in the database",
            seconds=_MEET_SECONDS,
            every=0.005,
            stop=self._context.stop,
        )

    def _outcome(self, triggers: Triggers, xid: str) -> str:
        def decided() -> str | None:
            try:
                status = triggers.outcome(xid)
            except psycopg.Error:
                return "unknown"
            return None if status == "in progress" else status

        return wait_until(
            decided,
            what=f"transaction {xid} to commit or abort",
            seconds=20,
            stop=self._context.stop,
        )
