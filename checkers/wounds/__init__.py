"""The wounds of the self-proof: what to change, where, and what must be found.

The one thing to know: a new wound is one more entry in `produce`, `process` or `journal`.
"""

from __future__ import annotations

from functools import cache

from onceproof.checkers.wounds.wounding import Target, Wounding

__all__ = ["Target", "Wounding", "woundings"]


@cache
def woundings() -> tuple[Wounding, ...]:
    """All wounds, in the order in which they are told."""
    from onceproof.checkers.wounds.journal import JOURNAL
    from onceproof.checkers.wounds.process import PROCESS
    from onceproof.checkers.wounds.produce import PRODUCE

    return PRODUCE + PROCESS + JOURNAL
