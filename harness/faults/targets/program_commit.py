"""SIGKILL your program and its child processes: at once, or at its commit.

A pipeline that writes before it commits breaks if it dies before its commit arrives. One that
commits before it writes breaks if it dies before it learns that its commit was accepted. Kafka's
protocol shows both moments from outside: OffsetCommit commits offsets, EndTxn ends a transaction.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from itertools import takewhile
from typing import Final, Literal

from onceproof.harness.clock import now
from onceproof.harness.context.pipeline import Positions
from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.messages.message import (
    REQUEST_OF,
    AtGates,
    Message,
    MessageReports,
    met,
    positions_in,
)
from onceproof.harness.faults.program.programs import at_work, in_hand, program, start_again
from onceproof.harness.links.gate.client import Event
from onceproof.harness.wait import Overdue, wait_until

Moment = Literal["before-commit", "after-commit"]
HAZARDS: Final[dict[Moment, str]] = {
    "before-commit": "killed-before-commit",
    "after-commit": "killed-after-commit",
}
"""Hazard of each moment: a commit that never arrives, or one of which the pipeline never learns."""
KILLED_AT_WORK: Final = "killed-at-work"
"""Inputs were still without effects when the program was killed."""
_COMMIT: Final = Message(source="pipeline", direction="request", api="OffsetCommit")
_REFUSAL: Final = replace(_COMMIT, direction="response", refused=True)
_SECONDS: Final = 60.0
"""Deadline for a commit: longer than the session timeout of a dead group member."""


class KilledProgram:
    """A program that was killed while it worked."""

    def __init__(self, context: RunContext, name: str, moment: Moment | None, phase: float) -> None:
        self._context = context
        self._program = program(context)
        at_work(context, phase)
        self._met: Event | None = None
        self._new_positions = False
        if moment is None:
            self._kill(name)
        else:
            self._kill_at(moment, name)
        self._in_hand = in_hand(context)
        self._note(name, moment)

    def evidence(self) -> str | None:
        text = self._ended
        if self._in_hand is not None:
            text += "; {} of {} inputs had effects".format(*self._in_hand)
        return text if self._met is None else f"{text}; dropped: {met(self._met)}"

    def heal(self) -> None:
        start_again(self._context)

    def _kill(self, name: str) -> None:
        process, count = self._program.kill(f"SIGKILL by fault «{name}»")
        self._ended = process.all_ended(count)
        self.target = process.instance
        self.at = now()

    def _kill_at(self, moment: Moment, name: str) -> None:
        """Drop the next commit, or the answer to it, and kill the program at once."""
        groups, topics = self._program.look.groups, self._program.look.topics
        with ExitStack() as gates:
            reports = []
            for message in (_COMMIT, _REFUSAL):
                reports.append(
                    MessageReports(
                        self._context, [replace(message, topic=topic) for topic in topics]
                    )
                )
                gates.callback(reports[-1].remove)
            sent, refused = reports
            # From here on the gates see every commit, so none is missed.
            before = groups.by_name()
            placed = []
            # Each kill takes the next input, counted by the kills that hit a commit so far.
            met_so_far = self._context.recorder.met(HAZARDS[moment])
            for message in messages(moment, [topics[met_so_far % len(topics)]]):
                rule = message.rule("drop", times=None)
                placed.append(AtGates(self._context, message.source, rule))
                gates.callback(placed[-1].remove)
            try:
                fired = wait_until(
                    lambda: [event for each in placed for event in each.fired()],
                    what="a commit of the pipeline",
                    seconds=_SECONDS,
                    every=0.002,
                    stop=self._context.stop,
                )
                self._met = min(fired, key=lambda event: int(event["at"]))
            except Overdue:
                pass  # it keeps its offsets elsewhere: kill it anyway
            self._kill(name)
            if self._met is not None:
                self._new_positions = commits_new_positions(
                    self._met,
                    topics=topics,
                    before=before,
                    sent=sent.fired(),
                    refused=refused.fired(),
                )

    def _note(self, name: str, moment: Moment | None) -> None:
        hazards = {}
        if self._in_hand is not None and 0 < self._in_hand[0] < self._in_hand[1]:
            hazards[KILLED_AT_WORK] = (
                f"{self.target} was killed when {self._in_hand[0]} of {self._in_hand[1]} inputs "
                "had effects"
            )
        if moment is not None and self._met is not None and self._new_positions:
            hazards[HAZARDS[moment]] = f"{self.target} was killed; dropped: {met(self._met)}"
        for hazard, detail in hazards.items():
            self._context.recorder.hazard(hazard, hop="process", fault=name, detail=detail)


def commits_new_positions(
    met: Event,
    *,
    topics: Collection[str],
    before: Mapping[str, Positions] | None,
    sent: Iterable[Event],
    refused: Iterable[Event] = (),
) -> bool:
    """Whether a commit was of offsets that its group had not committed yet.

    Clients also repeat commits, and losing a repeated one tests nothing. The end of a transaction
    always counts.

    Args:
        met: a gate's event of the commit or of its answer.
        before: committed offsets of each group, at some earlier time; None if unknown.
        sent: events of every commit sent since, in any order.
        refused: events of the answers to refused commits.
    """
    if met["api"] != _COMMIT.api:
        return True
    if before is None:
        return False
    newest = {at: n for group in met["groups"] for at, n in before.get(group, {}).items()}
    void = set(map(REQUEST_OF, refused))
    earlier = sorted(sent, key=lambda event: int(event["at"]))
    for event in takewhile(lambda event: REQUEST_OF(event) != REQUEST_OF(met), earlier):
        if event["groups"] == met["groups"] and REQUEST_OF(event) not in void:
            for at, offset in positions_in(event, topics).items():
                newest[at] = max(offset, newest.get(at, 0))
    return any(offset > newest.get(at, 0) for at, offset in positions_in(met, topics).items())


def messages(moment: Moment, topics: Collection[str | None] = (None,)) -> tuple[Message, ...]:
    """Return the messages of a moment, for commits of any offsets or only of those in `topics`."""
    direction: Literal["request", "response"] = (
        "request" if moment == "before-commit" else "response"
    )
    refused = False if direction == "response" else None  # a refused commit moves no offset
    common = Message(source="pipeline", direction=direction, api="EndTxn", refused=refused)
    commits = [replace(common, api=_COMMIT.api, topic=topic) for topic in topics]
    return (*commits, replace(common, commits=True))
