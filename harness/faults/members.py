"""Helpers for faults of consumer group members.

Membership is read from the group coordinator: a paused member still believes that it is a member.
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
"""Deadline for a rebalance. A group waits for all its members, and a member that hangs in its
client is ended only by its watchdog."""


def members(context: RunContext) -> Members:
    """Return the pipeline as `Members`; raise `StageTrouble` if the subject has none."""
    if not isinstance(context.pipeline, Members):
        raise StageTrouble(f"{context.subject.name} has no members")
    return context.pipeline


class Membership:
    """Track the members of a group while a fault acts on one of them."""

    def __init__(self, context: RunContext, group: str, who: str) -> None:
        """Read the current members; `who` is the client id of the member under fault."""
        self._group = group
        self._who = who
        self._context = context
        self._members = GroupMembers(context, group)
        self.had: frozenset[tuple[str, int]] = frozenset()
        """Partitions last seen assigned to the member; empty if none were ever seen."""
        self._before = frozenset(self._ids(stable=False) or ())

    def wait_at_work(self, committed: Callable[[], Sequence[Commit]]) -> None:
        """Wait until the member has partitions and the group commits new offsets for them.

        Args:
            committed: returns every offset that the group has committed, oldest first.

        Raises:
            Overdue, PipelineTrouble: it takes too long, or the group does not work.
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
            what=f"{self._who} to commit offsets of its partitions",
            seconds=_SECONDS,
            every=0.1,
            stop=self._context.stop,
            seen=lambda: f"it is assigned {in_words(sorted(self.had))}",
        )

    def without(self) -> list[str] | None:
        """Return the client ids of the other members once the member is out; None until then."""
        there = self._ids()
        if there is None or self._before & {i for i, name in there.items() if name == self._who}:
            return None
        self._before = frozenset()  # with the consumer protocol it comes back with the same id
        return sorted(name for name in there.values() if name != self._who)

    def wait_back(self) -> None:
        """Wait until the member has rejoined the group, with a new member id or after `without`.

        Raises:
            Overdue, PipelineTrouble: as for `wait_at_work`.
        """

        def there() -> bool:
            self._context.pipeline.check()
            new = (self._ids() or {}).items()
            return any(name == self._who and i not in self._before for i, name in new)

        wait_until(
            there,
            what=f"{self._who} to rejoin group {self._group}",
            seconds=_SECONDS,
            every=0.1,
            stop=self._context.stop,
            seen=lambda: self._members.last_answer,
        )

    def _ids(self, *, stable: bool = True) -> dict[str, str] | None:
        """Return client ids by member id; None without an answer, or if the group is not stable."""
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
