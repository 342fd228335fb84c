"""Whether a run is complete, so that what its history does not contain did not happen.

In a truncated history a mutation may have no effect, so one that was not found says nothing about
the checkers.
"""

from __future__ import annotations

from onceproof.checkers.circumstances import TO_COMPLETE
from onceproof.reports.model import Mutation, Report


def whole(report: Report) -> bool:
    """Return whether the run was settled and collected completely."""
    ends = {name: {p.outcome for p in report.phases if p.phase == name} for name in TO_COMPLETE}
    return all(outcomes == {"ok"} for outcomes in ends.values())


def missed(report: Report) -> tuple[Mutation, ...]:
    """Return the mutations that were not found; none if the run is incomplete."""
    return tuple(w for w in report.mutation_check if not w.found) if whole(report) else ()
