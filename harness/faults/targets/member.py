"""A member of a consumer group."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Final

from onceproof.harness.clock import now
from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.base import Injection
from onceproof.harness.faults.cluster.leadership import in_words
from onceproof.harness.faults.members import Membership, members
from onceproof.harness.faults.targets.base import Numbered, Verb
from onceproof.harness.faults.targets.member_commit import killed_at_commit, paused_with_work
from onceproof.harness.processes.processes import Process
from onceproof.harness.subjects.group.base import MEMBER
from onceproof.harness.subjects.group.members import Members
from onceproof.harness.subjects.stored.subject import COMMITS

COMMIT_LANDS: Final = "commit-lands"
COMMIT_UNDONE: Final = "commit-undone"
WITH_WORK: Final = "with-work"
"""A member paused there holds no lock for which others would wait."""


@dataclass(frozen=True, kw_only=True)
class Member(Numbered):
    """A member, by name.

    Killed during a commit to a database, its next instance does not know of the commit. Paused, it
    is a zombie that still writes and commits unless it is fenced.
    """

    written: ClassVar[str] = "member-<n>"
    example: ClassVar[str] = "member-0"
    windows: ClassVar[Mapping[Verb, Mapping[str, str]]] = {
        "kill": {
            COMMIT_LANDS: "during its commit to the database, which still takes effect",
            COMMIT_UNDONE: "during its commit to the database, which is rolled back",
        },
        "pause": {WITH_WORK: "during a database write, with unwritten payments in hand"},
    }
    paused_until: ClassVar[str] = "until the group continues without it"
    name: str = "member-0"

    def needs(self, verb: Verb, at: str | None) -> str | None:
        return MEMBER if at is None else COMMITS

    def kill(self, context: RunContext, name: str, at: str | None) -> Injection:
        def kill() -> Injection:
            how = f"SIGKILL by fault «{name}»"
            return _Ended(context, self.name, lambda group: group.kill(self.name, how))

        if at is None:
            return kill()
        return killed_at_commit(context, name, self.name, kill, lands=at == COMMIT_LANDS)

    def stop(self, context: RunContext, name: str, at: str | None) -> Injection:
        """Send SIGTERM; it may or may not leave its group."""
        how = f"SIGTERM by fault «{name}»"
        return _Ended(context, self.name, lambda group: group.stop(self.name, how))

    def pause(self, context: RunContext, name: str, at: str | None) -> Injection:
        if at is None:
            return _Paused(context, self.name)
        return paused_with_work(context, self.name, lambda: _Paused(context, self.name))


class _Ended:
    def __init__(self, context: RunContext, who: str, end: Callable[[Members], Process]) -> None:
        self._group = members(context)
        self._who = who
        self._membership = Membership(context, self._group.group, self._group.consumer(who))
        self.at = now()
        self._process = end(self._group)
        self.target = self._process.instance

    def evidence(self) -> str | None:
        return f"{self.target} {self._process.ended}"

    def heal(self) -> None:
        self._group.restart(self._who)
        self._membership.wait_back()


class _Paused:
    def __init__(self, context: RunContext, who: str) -> None:
        self._group = members(context)
        self._membership = Membership(context, self._group.group, self._group.consumer(who))
        self.at = now()
        self._alone_since: int | None = None
        self._process = self._group.pause(who)
        self.target = self._process.instance

    def evidence(self) -> str | None:
        """Return proof that it is paused, and that others commit in all of its partitions."""
        left = self._membership.without()
        if not left or not self._process.frozen():
            return None
        commits = self._group.committed()
        if self._alone_since is None:
            self._alone_since = len(commits)
        new = [(c.topic, c.partition) for c in commits[self._alone_since :]]
        had = self._membership.had or {(c.topic, c.partition) for c in commits}
        if not had <= set(new):
            return None
        return (
            f"{self.target} is paused; the remaining members ({', '.join(left)}) have committed "
            f"{len(new)} offsets since, also of all its former partitions: {in_words(sorted(had))}"
        )

    def heal(self) -> None:
        self._process.thaw()
        self._membership.wait_back()
