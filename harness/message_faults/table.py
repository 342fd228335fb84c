"""Format the outcomes of all trials as a table.

"N of M" counts exact hits, regardless of how the client reacted; its outcome and the findings of an
independent reader have their own columns. A message that a client never sends has a row that says
so and is not counted.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from onceproof.harness.message_faults.combinations import Combination
from onceproof.harness.message_faults.trial import Result

_HEAD = ("client", "message", "fault", "hit", "recovered", "client result", "seen")
_NOTHING = ("", "not sent", "", "", "")


def table(results: Sequence[Result], never_sent: Mapping[str, Sequence[str]]) -> list[str]:
    """Return one row per client and combination, in the order of the first trial.

    Args:
        never_sent: client → messages that it never sends.
    """
    rows: list[tuple[str, ...]] = [_HEAD]
    for client in dict.fromkeys([*(result.client for result in results), *never_sent]):
        of_client = [result for result in results if result.client == client]
        for combination in dict.fromkeys(result.combination for result in of_client):
            of_combination = [result for result in of_client if result.combination == combination]
            rows.append((client, *_row(combination, of_combination)))
        rows += [(client, message, *_NOTHING) for message in never_sent.get(client, ())]
    widths = [max(len(row[i]) for row in rows) for i in range(len(_HEAD))]
    return [
        "  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in rows
    ]


def _row(combination: Combination, results: Sequence[Result]) -> tuple[str, ...]:
    seconds = [result.seconds for result in results if result.seconds is not None]
    return (
        combination.message,
        combination.blow.name,
        f"{sum(result.missed is None for result in results)} of {len(results)}",
        f"{statistics.median(seconds):.1f} s" if seconds else "never",
        _count_texts(result.outcome for result in results),
        _count_texts(result.seen for result in results),
    )


def total(results: Sequence[Result]) -> list[str]:
    missed = [
        f"missed: {result.client}, {result.combination.message}, "
        f"{result.combination.blow.name}: {result.missed}"
        for result in results
        if result.missed is not None
    ]
    return [*missed, f"{len(results) - len(missed)} of {len(results)} hit"]


def _count_texts(texts: Iterable[str]) -> str:
    counts = Counter(texts)
    if len(counts) == 1:
        return next(iter(counts))
    return "; ".join(f"{count} × {text}" for text, count in counts.most_common())
