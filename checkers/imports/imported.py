"""The result of importing a history."""

from __future__ import annotations

from dataclasses import dataclass

from onceproof.checkers.history import History
from onceproof.checkers.promised import NOTHING, RequiredHistory


@dataclass(frozen=True, kw_only=True)
class Imported:
    """An imported history, and its limits."""

    history: History
    notes: tuple[str, ...] = ()
    """What was omitted or assumed."""
    unsealed: str | None = None
    """What differs from the seal, in a sentence."""
    promised: RequiredHistory = NOTHING
    """What must be there according to the seal, if there is one."""
