"""A topic as plain data, and as it is written by hand."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NAME = re.compile(r"[A-Za-z0-9._-]{1,249}")
_MOST = 1_000
"""Partitions: what three brokers on one machine bear."""


class BadTopic(ValueError):
    """A word that is no topic; the text says what would be right."""


@dataclass(frozen=True, kw_only=True)
class Topic:
    """A topic that has to be there."""

    name: str
    partitions: int
    largest: int | None = None
    """Bytes of the largest record that it takes; None: as many as brokers take by default."""

    @property
    def settings(self) -> dict[str, str]:
        """Its configuration, as far as it is not the brokers'."""
        return {} if self.largest is None else {"max.message.bytes": str(self.largest)}

    @classmethod
    def parse(cls, word: str) -> Topic:
        """A topic as it is written by hand: `orders:3`, or `orders` for one partition.

        Raises:
            BadTopic: it is none.
        """
        name, colon, count = word.partition(":")
        partitions = int(count) if count.isdecimal() else 0 if colon else 1
        if not _NAME.fullmatch(name) or name in (".", "..") or not 1 <= partitions <= _MOST:
            raise BadTopic(
                f"invalid topic {word!r}: expected NAME or NAME:PARTITIONS, such as orders:3"
            )
        return cls(name=name, partitions=partitions)
