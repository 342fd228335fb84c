"""The mutations of the self-check: what to change, where, and what must be found.

A new mutation is one more entry in `produce`, `process` or `journal`.
"""

from __future__ import annotations

from functools import cache

from onceproof.checkers.mutations.mutator import Mutator, Target

__all__ = ["Mutator", "Target", "mutators"]


@cache
def mutators() -> tuple[Mutator, ...]:
    """All mutations, in the order in which they are told."""
    from onceproof.checkers.mutations.journal import JOURNAL
    from onceproof.checkers.mutations.process import PROCESS
    from onceproof.checkers.mutations.produce import PRODUCE

    return PRODUCE + PROCESS + JOURNAL
