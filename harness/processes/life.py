"""What the record of a run says of each life of a process."""

from __future__ import annotations

from typing import Protocol


class Life(Protocol):
    """One life of one node or process, for the record."""

    @property
    def name(self) -> str:
        """Its role: `broker-1`."""

    @property
    def instance(self) -> str:
        """Role and life: `broker-1#2`."""

    @property
    def started_at(self) -> int:
        """When it began."""

    @property
    def ended_at(self) -> int | None:
        """When it was over; None while it lasts."""

    @property
    def how(self) -> str | None:
        """How it ended."""
