"""Kill or pause a member at its database, where its commit is held.

Only the database tells whether a killed member's commit landed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from onceproof.harness.clock import now
from onceproof.harness.context.run_context import Collected, RunContext
from onceproof.harness.faults.base import Injection
from onceproof.harness.faults.database.held_commit import held, note_doubt, storing
from onceproof.harness.faults.members import Membership
from onceproof.harness.subjects.stored.audit import Hold
from onceproof.harness.wait import wait_until

_MORE: Final = 600
"""Payments sent while it is held, so that it then reads enough for several transactions."""
_LEFT: Final = 120
"""Minimum payments in hand: more than the held transaction has, which is 50 at most."""
_SECONDS: Final = 60.0


def killed_at_commit(
    context: RunContext, name: str, who: str, kill: Callable[[], Injection], *, lands: bool
) -> Injection:
    """Hold a member's commit, kill the member, and commit or roll back."""
    hold = storing(context).hold_commit(who)
    with held(hold, context) as seen:
        killed = kill()
        try:
            result = hold.let_go() if lands else hold.undo()
        except BaseException:
            killed.heal()
            raise
    return _KilledAtCommit(context, name, killed, f"{seen}, and after that {result}")


def paused_with_work(context: RunContext, who: str, pause: Callable[[], Injection]) -> Injection:
    """Hold a member at its database while payments arrive, and pause it."""
    group = storing(context)
    membership = Membership(context, group.group, group.consumer(who))
    membership.wait_at_work(group.committed)
    hold = group.hold_with_work(who)
    with held(hold, context):
        wanted = min(context.producers.acknowledged + _MORE, context.producers.total)
        wait_until(
            lambda: context.producers.acknowledged >= wanted,
            what=f"{_MORE} more records to be acknowledged",
            seconds=_SECONDS,
            stop=context.stop,
        )
        _next(hold, context, who)
        # All that it has read may be in the held transaction.
        while hold.begun and group.in_hand(who) < _LEFT:
            _next(hold, context, who)
        process = group.pause(who)
        while hold.hinders():  # others could never continue
            process.thaw()
            process = group.pause(who)
        paused = pause()
        try:
            hold.let_go()
        except BaseException:
            process.thaw()
            raise
    return paused


def _next(hold: Hold, context: RunContext, who: str) -> None:
    hold.next()
    wait_until(
        hold.caught,
        what=f"the next write of {who}",
        seconds=_SECONDS,
        every=0.01,
        stop=context.stop,
    )


class _KilledAtCommit:
    def __init__(self, context: RunContext, name: str, killed: Injection, seen: str) -> None:
        self._context = context
        self._name = name
        self._killed = killed
        self._seen = seen
        self.at = now()
        self.target = killed.target

    def evidence(self) -> str | None:
        return f"{self._killed.evidence()}: {self._seen}"

    def heal(self) -> None:
        self._killed.heal()

    def after_collect(self, known: Collected) -> None:
        note_doubt(self._context, self._name, self.at, self._seen)
