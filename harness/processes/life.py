"""What the history records about each life of a process."""

from __future__ import annotations

from typing import Protocol


class Life(Protocol):
    """One life of a node or process, from a start to its end."""

    @property
    def name(self) -> str:
        """Its role: `broker-1`."""

    @property
    def instance(self) -> str:
        """Role and life: `broker-1#2`."""

    @property
    def started_at(self) -> int: ...

    @property
    def ended_at(self) -> int | None:
        """None while it runs."""

    @property
    def how(self) -> str | None: ...
