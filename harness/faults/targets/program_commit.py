"""SIGKILL of your program, with everything that it started: at once, or at its commit.

What writes before it commits breaks when it dies before its commit arrives,
and what commits before it writes breaks when it dies before it hears that its commit was taken. A
kill at any other moment proves little. Kafka's protocol shows both moments from outside, whatever
the program is made of: a position goes by OffsetCommit, a transaction ends by EndTxn.
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
    Reports,
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
"""What each moment puts to the test: a commit that never arrives, and one that nobody heard of."""
KILLED_AT_WORK: Final = "killed-at-work"
"""Inputs were waiting for their effects when the program was killed."""
_COMMIT: Final = Message(source="pipeline", direction="request", api="OffsetCommit")
_REFUSAL: Final = replace(_COMMIT, direction="response", refused=True)
_SECONDS: Final = 60.0
"""How long a commit is waited for: longer than Kafka waits for a member of the group that died."""


class KilledProgram:
    """A program killed while it worked."""

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
        """How many processes it took, how far it was, and which message never arrived."""
        words = self._ended
        if self._in_hand is not None:
            words += "; {} of {} inputs had effects".format(*self._in_hand)
        return words if self._met is None else f"{words}; lost: {met(self._met)}"

    def heal(self) -> None:
        start_again(self._context)

    def _kill(self, name: str) -> None:
        process, count = self._program.kill(f"SIGKILL by fault «{name}»")
        self._ended = process.all_ended(count)
        self.target = process.instance
        self.at = now()

    def _kill_at(self, moment: Moment, name: str) -> None:
        """Lose the next commit, or the answer to it, and kill it before it can do anything else."""
        groups, topics = self._program.look.groups, self._program.look.topics
        with ExitStack() as gates:
            reports = []
            for message in (_COMMIT, _REFUSAL):
                reports.append(
                    Reports(self._context, [replace(message, topic=topic) for topic in topics])
                )
                gates.callback(reports[-1].remove)
            sent, refused = reports
            # Whatever is committed from here on is seen, so that nothing lies between the two.
            before = groups.by_name()
            placed = []
            # Of several inputs one after the other, by the kills that have met a commit so far.
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
                pass  # it keeps its positions elsewhere: it is killed all the same
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
            hazards[HAZARDS[moment]] = f"{self.target} was killed, lost: {met(self._met)}"
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
    """Whether a commit was of positions that its group had not committed yet.

    Clients also commit what they have committed before: that it is lost tests nothing. The end of a
    transaction is always of something.

    Args:
        met: a gate's event of it, or of its answer.
        topics: the inputs.
        before: the newest positions of each group, at some time before; None if nobody could say.
        sent: the gates' events of every commit that was sent since, in any order.
        refused: their events of the answers to those that were refused.
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
    """What passes at a moment, of whatever a program commits or of its positions in topics."""
    direction: Literal["request", "response"] = (
        "request" if moment == "before-commit" else "response"
    )
    refused = False if direction == "response" else None  # what was refused moved no position
    common = Message(source="pipeline", direction=direction, api="EndTxn", refused=refused)
    commits = [replace(common, api=_COMMIT.api, topic=topic) for topic in topics]
    return (*commits, replace(common, commits=True))
