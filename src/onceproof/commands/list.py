"""`onceproof list`: list scenarios."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from onceproof.catalogue import UnknownScenario, named
from onceproof.errors import USAGE
from onceproof.listing import listing


def list_scenarios(words: Sequence[str]) -> int:
    """List scenarios whose names contain one of these words, with the expected verdicts."""
    try:
        found = named(words)
    except UnknownScenario as error:
        print(f"onceproof: {error}", file=sys.stderr)
        return USAGE
    print("\n".join(listing(found)))
    return 0
