"""A topic's name and settings, and their syntax on the command line."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NAME = re.compile(r"[A-Za-z0-9._-]{1,249}")
_MOST = 1_000
"""Partitions; three brokers on one machine cannot handle more."""


class BadTopic(ValueError):
    """A topic is invalid; the message says what was expected."""


@dataclass(frozen=True, kw_only=True)
class Topic:
    """A topic that a run needs."""

    name: str
    partitions: int
    largest: int | None = None
    """`max.message.bytes`; None: the brokers' default."""

    @property
    def settings(self) -> dict[str, str]:
        return {} if self.largest is None else {"max.message.bytes": str(self.largest)}

    @classmethod
    def parse(cls, word: str) -> Topic:
        """Parse `orders:3`, or `orders` for one partition.

        Raises:
            BadTopic: the name or the number of partitions is invalid.
        """
        name, colon, count = word.partition(":")
        partitions = int(count) if count.isdecimal() else 0 if colon else 1
        if not _NAME.fullmatch(name) or name in (".", "..") or not 1 <= partitions <= _MOST:
            raise BadTopic(
                f"invalid topic {word!r}: expected NAME or NAME:PARTITIONS, such as orders:3"
            )
        return cls(name=name, partitions=partitions)
