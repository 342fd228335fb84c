"""The task of a consumer that writes into a database; written as JSON for its process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from onceproof.harness.subjects.group.task import MemberTask

Kind = Literal["postgres", "sqlite"]
"""Which database it writes to."""


@dataclass(frozen=True, kw_only=True)
class StoringTask(MemberTask):
    """One consumer. It commits its offsets in the transaction of its rows, or in Kafka before or
    after that.

    Attributes:
        database: a libpq connection string, or the path of a file.
        guard: compare the stored offset with the one that it started from before it is moved.
        in_hand: file in which it notes how far it has read.
        cleans: take away again, in another transaction, what has been written twice.
    """

    kind: Kind
    database: str
    history: str
    in_hand: str
    guard: bool = True
    cleans: bool = False
