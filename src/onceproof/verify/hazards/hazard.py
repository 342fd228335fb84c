"""Define hazards, and what they may depend on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Final

from onceproof.harness.faults.base import Fault, Until
from onceproof.harness.faults.until import TookEffect
from onceproof.harness.user_pipeline.profile import GroupProfile, Profile

PHASES: Final = (0.8, 0.4, 0.0, 0.6, 0.2)
"""When a strike comes, by round, as a fraction of the interval between two writes."""
_LONGEST_PATIENCE: Final = 35.0
"""Kafka Streams commits every 30 s by default."""


@dataclass(frozen=True, kw_only=True)
class Pipeline:
    """The properties of a pipeline that decide which hazards it has.

    Attributes:
        profile: what the dry run learned.
        inputs: the topics that it reads.
        kinds, topics: of its outputs; kinds as in `Output.kind`.
        spark: whether its Spark checkpoint is watched.
        deployed: whether it is a service that is controlled only by commands.
        fed: whether a command delivers its inputs instead of a topic.
        upserts: whether its outputs keep one value for each key.
        plain_data: whether its input gets no odd records.
        transactional_input: whether its input may contain aborted transactions.
        odd_orders: kinds of odd records among its generated orders.
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
    transactional_input: bool = False
    odd_orders: Collection[str] = ()

    @property
    def group(self) -> GroupProfile | None:
        """The pipeline's consumer group; None if it has none that another member could join."""
        group = self.profile.group
        return group if group is not None and group.members else None

    @property
    def produced(self) -> tuple[str, ...]:
        """Topics of effects and dead letters: those that the dry run saw written, or else all.

        A fault might never meet a write to the others, such as a topic of rare dead letters.
        """
        seen = tuple(topic for topic in self.topics if topic in self.profile.topics)
        return seen or self.topics or self.profile.topics

    @property
    def beside(self) -> tuple[str, ...]:
        """Other topics that it keeps writing to, such as those of offsets, state or retries."""
        left_out = {*self.produced, *self.profile.rarely_written}
        return tuple(topic for topic in self.profile.topics if topic not in left_out)

    @property
    def patience(self) -> float:
        """Seconds within which a pipeline that commits periodically has committed offsets."""
        every = self.profile.commit_seconds
        return 1.0 if every is None else min(_LONGEST_PATIENCE, 1.5 * every + 1.0)


@dataclass(frozen=True, kw_only=True)
class Strike:
    """One fault of a plan.

    Attributes:
        until: what ends it.
        seconds: extra time for it to take effect.
        tells: whether the fault records the hazard itself, once it has its own proof.
    """

    do: Fault
    until: Until = field(default_factory=TookEffect)
    seconds: float = 0.0
    tells: bool = False


@dataclass(frozen=True, kw_only=True)
class Hazard:
    """One kind of hazard.

    Attributes:
        name: as in histories and `--accept-untested`.
        says: what happens to the pipeline.
        of: which pipelines have it.
        proof: what proves that it occurred.
        unless: returns why a pipeline does not have it; None if it has.
        strikes: returns the faults that cause it in one round.
        rare: takes long, so that the presets trigger it less often.
        side_by_side: triggered together with neighbours in the table that also have this flag,
            because none of them needs the pipeline for itself.
        brutal: only in the preset `brutal`: a pipeline may be correct although it fails here.
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
