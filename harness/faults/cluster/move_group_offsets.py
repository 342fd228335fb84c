"""Move the committed offset of a consumer group without members, as by an administrator's mistake.

After a move back, a correct consumer applies effects only once, because its sink knows them. After
a move forth, records are skipped; only effects that carry their own offset show that. Healing does
not move the offset back, because where the group resumes is what is tested.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Final

from onceproof.harness.clock import now
from onceproof.harness.context.run_context import RunContext
from onceproof.harness.faults.cluster.coordinated import group_of, partition
from onceproof.harness.faults.words import Word, amount, one_of
from onceproof.harness.kafka.groups import GroupState
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.wait import wait_until

_WITHOUT_MEMBERS: Final = ("Empty", "Dead")
"""Kafka also reports `Dead` for a group that has committed offsets but never had members."""


def _by(direction: str, number: str) -> int:
    sign = -1 if one_of(("back", "forth"), "direction", direction) == "back" else 1
    return sign * amount(number)


@dataclass(frozen=True, kw_only=True)
class MoveGroupOffsets:
    """Move the committed offset of a group without members: its next consumer gets records again,
    or never gets some.
    """

    example: ClassVar[str] = "move-group-offsets billing payments-0 back 100"
    kind: ClassVar[str] = "surgery"
    needs = None
    group: Annotated[str, Word("GROUP")]
    topic: Annotated[str, Word("TOPIC-PARTITION", partition, also="partition")]
    partition: int
    by: Annotated[int, Word("back|forth N", _by)]
    """Negative moves the offset back."""

    def __post_init__(self) -> None:
        """Raise `ValueError` for a move by 0."""
        if not self.by:
            raise ValueError("invalid number of offsets 0: expected an integer ≥ 1")

    def describe(self) -> str:
        return (
            f"move the committed offset of group {self.group} in {self.topic}-{self.partition} "
            f"{'back' if self.by < 0 else 'forward'} by {abs(self.by)}"
        )

    def inject(self, context: RunContext, name: str) -> _Moved:
        return _Moved(context, self, name)


class _Moved:
    def __init__(self, context: RunContext, fault: MoveGroupOffsets, name: str) -> None:
        self._context = context
        self._fault = fault
        self._name = name
        self._at = (fault.topic, fault.partition)
        self.target = f"group {fault.group} in {fault.topic}-{fault.partition}"
        with group_of(context, fault.group) as group, context.reader() as reader:
            _require_no_members(fault.group, group.describe())
            before = group.committed(*self._at)
            if before is None:
                raise StageTrouble(f"{self.target} has no committed offset to move")
            self._before = before
            self._after = self._before + fault.by
            first, end = reader.first(*self._at), reader.ends(fault.topic)[fault.partition][1]
            if not first <= self._after <= end:
                raise StageTrouble(
                    f"cannot move the committed offset of {self.target} from {self._before} to "
                    f"{self._after}: the log goes from {first} to {end}"
                )
            self.at = now()
            group.commit(*self._at, self._after)
            log = reader.read(*self._at, min(self._before, self._after))
        between = range(*sorted((self._before, self._after)))
        self._records = sum(
            committed and entry.kind == "data" and entry.offset in between
            for entry, committed in zip(log.entries, log.committed(), strict=True)
        )
        self._proof: str | None = None

    def evidence(self) -> str | None:
        """Return old and new committed offset, and how many committed records lie between them."""
        if self._proof is None:
            with group_of(self._context, self._fault.group) as group:
                if group.committed(*self._at) != self._after:
                    return None
            self._proof = (
                f"the coordinator reports offset {self._after} for {self.target}, previously "
                f"{self._before}: {self._records} committed records are in between"
            )
            self._context.recorder.hazard(
                "moved-offsets", hop="process", fault=self._name, owner=self._fault.group,
                at=self.at, detail=f"{self._fault.describe()}: {self._proof}",
            )  # fmt: skip
        return self._proof

    def heal(self) -> None:
        """Wait until the coordinator returns a committed offset. Nothing is moved back."""

        def there() -> bool:
            with group_of(self._context, self._fault.group) as group:
                return group.committed(*self._at) is not None

        wait_until(
            there,
            what=f"the committed offset of {self.target}",
            seconds=30,
            stop=self._context.stop,
        )


def _require_no_members(name: str, group: GroupState) -> None:
    if group.members or group.state not in _WITHOUT_MEMBERS:
        raise StageTrouble(
            f"cannot move committed offsets of group {name}: it is {group.state} with "
            f"{len(group.members)} members ({', '.join(group.members) or 'unnamed'}); stop them "
            "first"
        )
