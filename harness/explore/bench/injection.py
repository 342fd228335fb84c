"""Inject the faults of a trial into its lane, and tell whether each met its point."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Final

from onceproof.harness.explore.acts import Pauses
from onceproof.harness.explore.bench.armed import Armed, ArmedRule
from onceproof.harness.explore.bench.convoy import Convoy
from onceproof.harness.explore.bench.lanes.base import Lane
from onceproof.harness.explore.bench.reports import Reports
from onceproof.harness.explore.bench.trace import merged, traced
from onceproof.harness.explore.bench.windows import ArmedWindow
from onceproof.harness.explore.points import LOOKUPS, PERIODIC, WINDOW, Message, passed_by
from onceproof.harness.explore.trials import Aimed, Outcome, Signature, Trial
from onceproof.harness.links.gate.client import Event, Gate, Placed
from onceproof.harness.links.gate.rules import MessageMatch
from onceproof.harness.links.topology import ARROW
from onceproof.harness.wait import Overdue

_HIT_SECONDS: Final = 90.0
_LATE_SECONDS: Final = 8.0
"""How long a late message is held if nothing of the next transaction is written."""
_ANSWER_SECONDS: Final = 2.0
"""How long the next transaction waits for the answer to a late request."""
_OVER_SECONDS: Final = 90.0
_REPLACED_SECONDS: Final = 60.0
_ALONE_SECONDS: Final = 25.0
_BACK_SECONDS: Final = 30.0
_ANYWAY: Final = LOOKUPS | PERIODIC
_AFTER: Final = 8
"""Number of APIs after a fault that distinguish reactions."""


@dataclass(frozen=True, kw_only=True)
class Met:
    """What happened in a lane, before it is judged.

    Attributes:
        stalled: why the client did not end; None if it ended.
    """

    outcome: Outcome
    stalled: str | None = None


class Injection:
    """One trial in a lane whose topic exists."""

    def __init__(
        self,
        lane: Lane,
        trial: Trial,
        *,
        gate: Gate,
        links: Sequence[str],
        reports: Reports,
        convoy: Convoy | None = None,
    ) -> None:
        """`convoy` is needed if a broker fails in the trial."""
        self._lane, self._trial, self._convoy = lane, trial, convoy
        self._gate, self._links, self._reports = gate, list(links), reports

    def run(self) -> Met:
        """Start the client, inject the faults, and wait until the client has ended."""
        missed: str | None = None
        stalled: str | None = None
        with ExitStack() as stack:
            faults = [self._put(aimed, stack) for aimed in self._trial.aimed]
            self._lane.listen(lambda: self._reports.messages(self._lane.name))
            self._lane.start()
            stack.callback(self._lane.close)
            for aimed, armed in zip(self._trial.aimed, faults, strict=True):
                missed = missed or self._carry_out(aimed, armed)
            if missed is not None:
                self._call_off(faults)
            if faults:
                self._lane.go_on()
            try:
                self._lane.wait_over(_OVER_SECONDS)
            except Overdue as error:
                stalled = str(error)
            self._reports.settle()
        events = self._events()
        trace = traced(events, role=self._lane.role, reads=self._lane.only_reads)
        fired = [armed.met() for armed in faults]
        hits = [_number_of(firings[0], events) if firings else -1 for firings in fired]
        if missed is None:
            missed = next(
                filter(None, map(_missed, self._trial.aimed, fired, hits, [trace] * len(hits))),
                None,
            )
        outcome = Outcome(
            missed=missed,
            trace=passed_by(trace),
            hits=tuple(hits) if missed is None else (),
            signature=Signature(
                perceived=self._lane.perceived(),
                after=_apis_after(events, max(hits, default=-1)),
                epochs=len({tuple(e["producer"]) for e in events if e["producer"]}),
                reconnected=_reconnected(events, max(hits, default=-1)),
            ),
        )
        return Met(outcome=outcome, stalled=stalled)

    def _events(self) -> list[Event]:
        """Return what the client did so far: its messages, and the windows between them."""
        messages, windows = self._reports.messages(self._lane.name), self._lane.windows
        return messages if windows is None else merged(messages, windows.passed())

    def _put(self, aimed: Aimed, stack: ExitStack) -> Armed:
        place, windows = aimed.place, self._lane.windows
        act, point = aimed.single.act, aimed.single.point
        by_window = windows is not None and place.ended_by == windows.ends
        armed: Armed
        if act.direction == WINDOW:
            assert windows is not None, "only a lane with windows has such points"
            armed = ArmedWindow(windows, point.api)
        else:
            armed = ArmedRule(
                aimed=aimed,
                client_id=self._lane.client_ids(place.life),
                counted=not by_window,
                gate=self._gate,
                links=self._links,
                reports=self._reports,
            )
        stack.callback(armed.remove)
        if windows is not None and (act.direction == WINDOW or (by_window and place.ends)):
            windows.when(place.life, windows.ends, place.ends, armed.arm)
        else:
            armed.arm()
        return armed

    def _carry_out(self, aimed: Aimed, armed: Armed) -> str | None:
        """Wait until a fault acts, and do what the gate cannot; return why it missed, if so."""
        act = aimed.single.act

        def over() -> bool:
            return bool(armed.met()) or self._lane.over()

        in_time = self._reports.wait(over, _HIT_SECONDS)
        self._reports.settle()
        if not armed.met():
            # A client that is frozen in a window only now would never end.
            armed.remove()
        if not armed.met():
            if act.breaks and self._convoy:
                self._convoy.leave()
            return f"the client {'ended' if in_time else 'ran on'} {armed.not_met()}"
        if isinstance(armed, ArmedWindow):
            return self._strike(aimed, armed)
        assert isinstance(armed, ArmedRule)
        if act.breaks:
            return self._break(armed.rule)
        if act.pauses:
            return self._pause(act.pauses, armed.rule)
        if act.kills:
            self._kill(aimed)
            self._lane.start()
        elif act.action == "hold":
            self._deliver_late(aimed, armed.rule)
        return None

    def _call_off(self, faults: Sequence[Armed]) -> None:
        """Let no fault act any more, and a client go on that one has frozen in its window."""
        for armed in faults:
            armed.remove()
            if isinstance(armed, ArmedWindow) and armed.met():
                armed.release()

    def _kill(self, aimed: Aimed) -> None:
        self._lane.kill(f"killed by «{aimed.single.id}»")

    def _strike(self, aimed: Aimed, armed: ArmedWindow) -> str | None:
        """Do what is to be done while a client is in a window; return why it missed, if so."""
        pauses = aimed.single.act.pauses
        if pauses:
            # Freezing does not wait until it stands still.
            self._lane.lives[-1].pause(self._lane.around.stop)
            if (left := armed.left()) is not None:
                self._lane.lives[-1].thaw()
            return left or self._pause(pauses)
        if aimed.single.act.kills:
            self._kill(aimed)
            # Once it is dead, its last writes have arrived.
            left = armed.left()
            self._lane.start()
            return left
        why = self._lane.without_effect(aimed.single)
        if aimed.single.act.breaks:
            assert self._convoy is not None
            if why is None:
                why = self._convoy.arrive(self._convoy.broker)
            else:
                self._convoy.leave()
        return armed.left() or why

    def _break(self, rule: Placed) -> str | None:
        """Let the target of a held message fail, with those of others; return why it missed."""
        assert self._convoy is not None
        link = str(self._reports.of_rule(rule, "fired")[0]["link"])
        try:
            return self._convoy.arrive(link.partition(ARROW)[2])
        finally:
            rule.remove()

    def _pause(self, when: Pauses, rule: Placed | None = None) -> str | None:
        """Pause the client before its message arrives or after, until others have done its work.

        In a window, where it is frozen, there is no `rule`. Return why it missed, if others did not
        take over.
        """
        lane = self._lane
        paused, number = lane.lives[-1], len(lane.lives)
        paused.pause(lane.around.stop)
        if rule is not None and when == "after":
            rule.release()
        try:
            lane.take_over()
            if not self._reports.wait(lane.replaced, _REPLACED_SECONDS):
                return "no other client took over"
            # With its records in an open transaction the others cannot do all of it.
            self._reports.wait(lane.over, _ALONE_SECONDS)
            before = len(self._reports.messages(lane.name))
        finally:
            paused.thaw()
            if rule is not None:
                rule.remove()

        def back() -> bool:
            new = self._reports.messages(lane.name)[before:]
            return not paused.leader_alive() or lane.is_back(number, new)

        if self._reports.wait(back, _BACK_SECONDS):
            return None
        return "the client, which was paused, did not come back"

    def _deliver_late(self, aimed: Aimed, rule: Placed) -> None:
        """Deliver a held message amid the next transaction of its client.

        The response to the first write of that transaction is held meanwhile, so that the client
        cannot end it. If there is no such write, as the client waits for the message or has ended,
        the message is delivered then.
        """
        held = self._reports.of_rule(rule, "fired")[0]
        wrote = MessageMatch(
            direction="response",
            api="Produce",
            client_id=held["client_id"],
            nth=aimed.place.writes_to_come + 1,
        )
        next_write = self._gate.put(self._links, wrote.rule("hold"))
        try:
            self._reports.wait(
                lambda: bool(self._reports.of_rule(next_write, "fired")) or self._lane.over(),
                _LATE_SECONDS,
            )
            rule.release()
            self._reports.wait(lambda: self._is_over(rule, held), _ANSWER_SECONDS)
        finally:
            next_write.remove()

    def _is_over(self, rule: Placed, held: Event) -> bool:
        """Whether a late response is delivered, or a late request answered."""
        if self._reports.of_rule(rule, "lost"):
            return True
        if held["direction"] == "response":
            return bool(self._reports.of_rule(rule, "delivered"))
        answer = {**held, "direction": "response"}
        return _number_of(answer, self._reports.messages(self._lane.name)) >= 0


def _number_of(fired: Event, events: Sequence[Event]) -> int:
    """Return the number of a message or window among events; -1 if it is not reported."""
    same = ("link", "connection", "correlation_id", "direction", "api")
    return next(
        (n for n, event in enumerate(events) if all(event[s] == fired[s] for s in same)), -1
    )


def _missed(aimed: Aimed, fired: Sequence[Event], hit: int, trace: Sequence[Message]) -> str | None:
    """Return why a fault did not act exactly once on its message; None if it did."""
    point = aimed.single.point
    if not fired or (len(fired) > 1 and not aimed.single.act.breaks):
        return f"the gate acted {len(fired)} times"
    if hit < 0:
        return "its message was not reported"
    met = trace[hit]
    if (met.api, met.direction, met.purpose) != (point.api, point.direction, point.purpose):
        return f"it met a {met.direction} of {met.api} for {met.purpose}"
    return None


def _apis_after(events: Sequence[Event], hit: int) -> tuple[str, ...]:
    """Return the requests and windows after a fault, without lookups and repetitions in a row."""
    if hit < 0:
        return ()
    found: list[str] = []
    for event in events[hit + 1 :]:
        api = event["api"]
        if event["direction"] == WINDOW and event["purpose"] == "recovery":
            api += " again"
        if event["direction"] != "response" and api not in _ANYWAY and found[-1:] != [api]:
            found.append(api)
    return tuple(found[:_AFTER])


def _reconnected(events: Sequence[Event], hit: int) -> bool:
    before, after = (
        {(event["link"], event["connection"]) for event in part if event["direction"] != WINDOW}
        for part in (events[: hit + 1], events[hit + 1 :])
    )
    return hit >= 0 and not after <= before
