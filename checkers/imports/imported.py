"""What reading a foreign history gives."""

from __future__ import annotations

from dataclasses import dataclass

from onceproof.checkers.history import History
from onceproof.checkers.promised import NOTHING, Promised


@dataclass(frozen=True, kw_only=True)
class Imported:
    """A foreign history in the tables of the contract, and what should be known of it."""

    history: History
    notes: tuple[str, ...] = ()
    """What was left out or had to be assumed, in words."""
    unsealed: str | None = None
    """What is not as it was sealed, in a sentence."""
    promised: Promised = NOTHING
    """What must be there by its seal, if it has one."""
