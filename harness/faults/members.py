"""What faults of a consumer group have in common: its members, and seeing who belongs to it.

The group's coordinator is asked who belongs; a member's own word counts for
nothing, least of all that of one that was paused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.cluster.leadership import in_words
from onceproof.harness.faults.group_members import GroupMembers
from onceproof.harness.kafka.group_offsets import Commit
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.subjects.group.members import Members
from onceproof.harness.wait import wait_until

_SECONDS: Final = 150
"""Deadline for a rebalance. A group waits for all its members, and only its watchdog ends a member
that hangs in its client."""


def members(context: RunContext) -> Members:
    """The pipeline as what it must be for a fault that needs a `member`.

    Raises:
        StageTrouble: what is on trial has none.
    """
    if not isinstance(context.pipeline, Members):
        raise StageTrouble(f"{context.subject.name} has no members")
    return context.pipeline


class Belonging:
    """Who belongs to a group while a fault is at work on one of its members."""

    def __init__(self, context: RunContext, group: str, who: str) -> None:
        """Look at who belongs now; `who` is the member's client id."""
        self._group = group
        self._who = who
        self._context = context
        self._members = GroupMembers(context, group)
        self.had: frozenset[tuple[str, int]] = frozenset()
        """Partitions that it had when it was last seen to belong; empty if that was never seen."""
        self._before = frozenset(self._ids(stable=False) or ())

    def wait_at_work(self, committed: Callable[[], Sequence[Commit]]) -> None:
        """Wait until the member has partitions, and the group's positions in them move on.

        Args:
            committed: every position that the group has committed, oldest first.

        Raises:
            Overdue: they do not in time.
            PipelineTrouble: the group does not work.
        """
        since: int | None = None

        def at_work() -> bool:
            nonlocal since
            self._context.pipeline.check()
            if self._ids() is None or not self.had:
                return False
            commits = committed()
            if since is None:
                since = len(commits)
            return any((c.topic, c.partition) in self.had for c in commits[since:])

        wait_until(
            at_work,
            what=f"{self._who} to process what it has",
            seconds=_SECONDS,
            every=0.1,
            stop=self._context.stop,
            seen=lambda: f"it has {in_words(sorted(self.had)) or 'nothing'}",
        )

    def without(self) -> list[str] | None:
        """Client ids of the others, once the member is out; None until then."""
        there = self._ids()
        if there is None or self._before & {i for i, name in there.items() if name == self._who}:
            return None
        return sorted(name for name in there.values() if name != self._who)

    def wait_back(self) -> None:
        """Wait until the member belongs to the group again, which gives it a new member id.

        Raises:
            Overdue: it does not in time.
            PipelineTrouble: the group does not work.
        """

        def there() -> bool:
            self._context.pipeline.check()
            new = (self._ids() or {}).items()
            return any(name == self._who and i not in self._before for i, name in new)

        wait_until(
            there,
            what=f"{self._who} to belong to the group {self._group} once more",
            seconds=_SECONDS,
            every=0.1,
            stop=self._context.stop,
            seen=lambda: self._members.last_answer,
        )

    def _ids(self, *, stable: bool = True) -> dict[str, str] | None:
        """Client id by member id; None while nobody says, or the group is not yet stable.

        The assignment is known only while it is.
        """
        found = self._members.describe()
        if found is None:
            return None
        if stable and found.state.name != "STABLE":
            return None
        for each in found.members:
            if each.client_id == self._who and each.assignment.topic_partitions:
                self.had = frozenset(
                    (tp.topic, tp.partition) for tp in each.assignment.topic_partitions
                )
        return {str(each.member_id): str(each.client_id) for each in found.members}
