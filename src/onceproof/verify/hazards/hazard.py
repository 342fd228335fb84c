"""What a hazard is, and what it may depend on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Final

from onceproof.harness.faults.base import Fault, Until
from onceproof.harness.faults.until import TookEffect
from onceproof.harness.user_pipeline.profile import GroupProfile, Profile

PHASES: Final = (0.8, 0.4, 0.0, 0.6, 0.2)
"""How far into the pause between two writes a strike comes, by round."""
_LONGEST_PATIENCE: Final = 35.0
"""Kafka Streams commits every 30 s by default."""


@dataclass(frozen=True, kw_only=True)
class Pipeline:
    """What a hazard may depend on.

    Attributes:
        profile: what was learned of it.
        inputs: the topics that it reads.
        kinds: of its outputs, as `Output.kind` has them.
        topics: of its outputs.
        spark: whether its Spark checkpoint is watched.
        deployed: whether it is a service that only commands reach.
        fed: whether it reads no topic: a command puts its inputs where it reads them.
        upserts: whether its outputs keep one value for each key.
        plain_data: whether its input gets no odd records.
        odd_orders: kinds of odd records that are among its made-up orders.
    """

    profile: Profile
    inputs: tuple[str, ...]
    kinds: Collection[str] = ("topic",)
    topics: tuple[str, ...] = ()
    spark: bool = False
    deployed: bool = False
    fed: bool = False
    upserts: bool = False
    plain_data: bool = False
    odd_orders: Collection[str] = ()

    @property
    def group(self) -> GroupProfile | None:
        """The group that it is a member of, if it is one that can be joined."""
        group = self.profile.group
        return group if group is not None and group.members else None

    @property
    def produced(self) -> tuple[str, ...]:
        """The topics that it writes effects or dead letters to.

        One that its dry run did not see, such as of dead letters that are rare, is left out:
        nobody knows whether a fault would ever meet a write to it.
        """
        seen = tuple(topic for topic in self.topics if topic in self.profile.topics)
        return seen or self.topics or self.profile.topics

    @property
    def beside(self) -> tuple[str, ...]:
        """Other topics that it keeps writing to, such as of offsets, state or retries."""
        left_out = {*self.produced, *self.profile.rarely_written}
        return tuple(topic for topic in self.profile.topics if topic not in left_out)

    @property
    def patience(self) -> float:
        """Seconds in which it should have committed offsets, if it does by the clock."""
        every = self.profile.commit_seconds
        return 1.0 if every is None else min(_LONGEST_PATIENCE, 1.5 * every + 1.0)


@dataclass(frozen=True, kw_only=True)
class Strike:
    """One fault of a plan.

    Attributes:
        until: what ends it.
        seconds: how much longer than others it may take to have its effect.
        tells: whether the fault records the hazard itself, when its own proof is there.
    """

    do: Fault
    until: Until = field(default_factory=TookEffect)
    seconds: float = 0.0
    tells: bool = False


@dataclass(frozen=True, kw_only=True)
class Hazard:
    """One kind of hazard.

    Attributes:
        name: as histories and `--accept-untested` have it.
        says: what happens to the pipeline, in words.
        of: which profile has it, in words.
        proof: what shows that it was met, in words.
        unless: why a pipeline does not have it; None if it has.
        strikes: how it is caused, in one round.
        rare: whether once in three rounds is enough, because it takes long.
        side_by_side: whether it is met together with its neighbours in the table of which the same
            is true: none of them needs the pipeline for itself.
        brutal: whether only the preset `brutal` has it: a pipeline may be right although it fails
            there.
    """

    name: str
    says: str
    of: str
    proof: str
    unless: Callable[[Pipeline], str | None]
    strikes: Callable[[Pipeline, int], Sequence[Strike]]
    rare: bool = False
    side_by_side: bool = False
    brutal: bool = False
