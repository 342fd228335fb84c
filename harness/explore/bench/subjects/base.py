"""The interface of what can be explored."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from onceproof.harness.explore.acts import Single
from onceproof.harness.explore.bench.lanes.base import Lane, Surroundings
from onceproof.harness.explore.exploration import Load
from onceproof.harness.explore.points import Place
from onceproof.harness.explore.trials import Aimed, Trial
from onceproof.harness.queues.base import Queues
from onceproof.harness.tools.setup import Tools


@dataclass(frozen=True, kw_only=True)
class Subject(ABC):
    """A client that can be explored.

    Attributes:
        audience: the clients of the stage among which it is.
        observed: whether a consumer reads along with `read_committed`, as the claims require.
        lanes: how many trials run side by side at most, since two cores bear only so many JVMs.
    """

    audience: ClassVar[str] = "pipeline"
    observed: ClassVar[bool] = False
    lanes: ClassVar[int] = 24

    @property
    def alone(self) -> bool:
        """Whether each trial needs a stage of its own, since its names are always the same."""
        return False

    @property
    @abstractmethod
    def name(self) -> str: ...

    @property
    @abstractmethod
    def says(self) -> str:
        """What it is, in a few words."""

    @property
    def runtimes(self) -> frozenset[str]:
        """The runtimes that it uses besides brokers; see `harness.tools.runtimes.known`."""
        return frozenset()

    def queues(self, tools: Tools) -> Queues | None:
        """Return the queue broker that it needs; by default none."""
        return None

    @property
    @abstractmethod
    def twin(self) -> Twin:
        """The broken twin that runs beside every batch, which must be caught."""

    @abstractmethod
    def lane(self, name: str, load: Load, around: Surroundings) -> Lane: ...


@dataclass(frozen=True, kw_only=True)
class Twin:
    """A broken subject, and a trial in which it fails."""

    subject: Subject
    trial: Trial
    load: Load


def struck(single: str, *, ends: int = 0, ended_by: str = "EndTxn") -> Trial:
    """Return a trial of one fault, at the first message of its kind after `ends` units."""
    place = Place(life=1, nth=1, ends=ends, ended_by=ended_by)
    return Trial(aimed=(Aimed(single=Single.parse(single), place=place),))
