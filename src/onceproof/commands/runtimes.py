"""`onceproof runtimes`: list runtimes, their usual versions, and those in the cache."""

from __future__ import annotations

from onceproof.harness.tools import cache
from onceproof.harness.tools.runtimes.known import RUNTIMES
from onceproof.harness.tools.runtimes.present import present
from onceproof.harness.tools.runtimes.usual import usual


def runtimes() -> int:
    """Print a table."""
    found = present(cache.location())
    rows = [("runtime", "usual", "oldest", "in the cache", "what it is")]
    rows += [
        (name, usual(name), each.oldest, " ".join(found.get(name, [])) or "-", each.what)
        for name, each in RUNTIMES.items()
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    for *cells, what in rows:
        print("  ".join([*(c.ljust(w) for c, w in zip(cells, widths, strict=True)), what]))
    print(
        "To use another version: --with NAME=VERSION. `onceproof clean --downloads` removes them."
    )
    return 0
