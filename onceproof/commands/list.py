"""`onceproof list`: the scenarios."""

from __future__ import annotations

from onceproof.listing import listing
from scenarios import all_scenarios


def list_scenarios() -> int:
    """All scenarios, with what is expected of them."""
    print("\n".join(listing(all_scenarios())))
    return 0
