"""Whether a run came to its end, so that what is absent from its history is absent.

In a history that was cut short a mutation need not show, so that one that was
missed says nothing of the checkers.
"""

from __future__ import annotations

from onceproof.checkers.circumstances import TO_COMPLETE
from onceproof.reports.model import Mutation, Report


def whole(report: Report) -> bool:
    """Whether everything was settled and collected to its end."""
    ends = {name: {p.outcome for p in report.phases if p.phase == name} for name in TO_COMPLETE}
    return all(outcomes == {"ok"} for outcomes in ends.values())


def missed(report: Report) -> tuple[Mutation, ...]:
    """The mutations that had to be found and were not."""
    return tuple(w for w in report.mutation_check if not w.found) if whole(report) else ()
