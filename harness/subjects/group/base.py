"""Base class of subjects that are consumer groups, for the cluster and for faults."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Final

from onceproof.harness.context.subject import SubjectBase
from onceproof.harness.history.system import System

MEMBER: Final = "member"
"""Offered to faults: members that can be killed and paused."""


@dataclass(frozen=True, kw_only=True)
class GroupSubject(SubjectBase, ABC):
    """A group whose members read one topic and write to another."""

    @property
    @abstractmethod
    def sink(self) -> str:
        """The topic that it writes to."""

    @property
    def output_topic(self) -> str:
        return self.sink

    @property
    def system(self) -> System:
        return System.CONSUMER

    @property
    def offers(self) -> frozenset[str]:
        return frozenset({MEMBER})
