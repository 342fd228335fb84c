"""The table of what came of all trials.

The one thing to know: N of M counts what was hit exactly, whatever the client made of it; what it
made of it stands beside, with what an independent reader found.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Sequence

from harness.exact.trial import Result

_HEAD = ("message", "what was done", "hit", "recovered", "the client", "seen")


def table(results: Sequence[Result]) -> list[str]:
    """One line for each combination, in the order in which they were tried first."""
    order = list(dict.fromkeys(result.combination for result in results))
    rows = [_HEAD]
    for combination in order:
        mine = [result for result in results if result.combination == combination]
        seconds = [result.seconds for result in mine if result.seconds is not None]
        rows.append((
            combination.message,
            combination.blow.name,
            f"{sum(result.missed is None for result in mine)} of {len(mine)}",
            f"{statistics.median(seconds):.1f} s" if seconds else "never",
            _counted(result.outcome for result in mine),
            _counted(result.seen for result in mine),
        ))  # fmt: skip
    widths = [max(len(row[i]) for row in rows) for i in range(len(_HEAD))]
    return [
        "  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in rows
    ]


def total(results: Sequence[Result], not_sent: Sequence[str]) -> list[str]:
    """What was missed and why, what is never sent, and how many were hit."""
    missed = [
        f"missed: {result.combination.message}, {result.combination.blow.name}: {result.missed}"
        for result in results
        if result.missed is not None
    ]
    hits = len(results) - len(missed)
    return [
        *missed,
        *(f"not sent by this client: {message}" for message in not_sent),
        f"{hits} of {len(results)} hit",
    ]


def _counted(words: Iterable[str]) -> str:
    counts = Counter(words)
    if len(counts) == 1:
        return next(iter(counts))
    return "; ".join(f"{count} × {word}" for word, count in counts.most_common())
