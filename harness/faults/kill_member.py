"""SIGKILL of a member of a consumer group; it is started again when healed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from harness.bench import Aftermath, Bench
from harness.clock import now
from harness.faults.by_hand import ByHand
from harness.faults.members import Belonging, member, members
from harness.subjects.group.base import MEMBER


@dataclass(frozen=True, kw_only=True)
class KillMember:
    """SIGKILL a member, by name."""

    kind: ClassVar[str] = "crash"
    needs: ClassVar[str | None] = MEMBER
    member: str = "member-0"

    def describe(self) -> str:
        """The act in words."""
        return f"SIGKILL {self.member}"

    def inject(self, bench: Bench, name: str) -> _Killed:
        """Kill it."""
        return _Killed(bench, self.member, name)


BY_HAND: Final = ByHand(
    name="kill-member",
    takes=("MEMBER",),
    example="kill-member member-0",
    says="SIGKILL a member of the group; it is started again when healed",
    make=lambda who: KillMember(member=member(who)),
)


class _Killed:
    def __init__(self, bench: Bench, who: str, name: str) -> None:
        self._group = members(bench)
        self._who = who
        self._belonging = Belonging(bench, self._group.group, self._group.consumer(who))
        self.at = now()
        self._process = self._group.kill(who, f"SIGKILL by fault «{name}»")
        self.target = self._process.instance

    def evidence(self) -> str | None:
        """Its end."""
        return f"{self.target} ended by signal 9"

    def heal(self) -> None:
        """Start it again, and see that the group has it."""
        self._group.restart(self._who)
        self._belonging.wait_back()

    def aftermath(self, known: Aftermath) -> None:
        """The group says itself what it was put to."""
