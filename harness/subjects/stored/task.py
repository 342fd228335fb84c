"""The task of a consumer that writes to a database, passed to its process as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from onceproof.harness.subjects.group.task import MemberTask

Kind = Literal["postgres", "sqlite"]


@dataclass(frozen=True, kw_only=True)
class StoringTask(MemberTask):
    """The task of one consumer; offsets are committed with its rows, or in Kafka before or after.

    Attributes:
        database: a libpq connection string, or the path of a file.
        guard: compare the stored offset with the batch's start before it is updated.
        in_hand: file for its read progress.
    """

    kind: Kind
    database: str
    history: str
    in_hand: str
    guard: bool = True
    cleans: bool = False
