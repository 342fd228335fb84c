"""What reading a foreign history gives."""

from __future__ import annotations

from dataclasses import dataclass

from checkers.history import History


@dataclass(frozen=True, kw_only=True)
class Imported:
    """A foreign history in the tables of the contract, and what should be known of it."""

    history: History
    notes: tuple[str, ...] = ()
    """What was left out or had to be assumed, in words."""
