"""The findings of one anomaly in one place, as far as a report lists them.

A report counts all findings and lists the first of each place, in the order
of their keys. So a key that is not listed is certainly not there if it comes before the last one
that is. What comes behind that nobody can tell from the report.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from onceproof.checkers.model import Evidence, Hop
from onceproof.reports.assembly.tables import TEXT_LIMIT
from onceproof.reports.diff.side import Side
from onceproof.reports.diff.watching import is_there
from onceproof.reports.model import Finding, Findings, Value
from onceproof.reports.scopes import Stretch, stretch_of

Key = tuple[tuple[str, Value], ...]
"""Columns and values that name a finding."""

_OF_RECORDS: Final = frozenset(
    {"topic", "sink", "view", "record", "effect_key", "state_key", "aggregate", "reader"}
)
"""Columns that mean the same in two runs to which the same was sent; offsets, batches, owners and
sessions do not."""
_NAMES: Final = ("record", "state_key")
Sought = tuple[str, Stretch]


@dataclass(frozen=True, kw_only=True)
class Listing:
    """What one run lists of one anomaly in one place.

    Attributes:
        anomaly: its name.
        evidence: how it proves itself.
        stretch: the place.
        findings: those that are listed, in the order of the report.
        total: how many the run has of the anomaly in all places.
        whole: whether all of them are listed, in all places.
        alone: whether the run has it in no other place.
        ordered: whether what comes before the last one listed is listed.
    """

    anomaly: str
    evidence: Evidence
    stretch: Stretch
    findings: tuple[Finding, ...]
    total: int
    whole: bool
    alone: bool
    ordered: bool

    @property
    def count(self) -> int | None:
        """How many there are in this place; None where that is not known."""
        if self.whole:
            return len(self.findings)
        return self.total if self.alone else None

    @property
    def of_records(self) -> tuple[str, ...] | None:
        """The columns by which its findings name what was sent; None if they name what happened
        to it, such as an offset.
        """
        keys = [finding.key for finding in self.findings]
        columns = {tuple(key) for key in keys}
        # A text of that length was cut, and may stand for another one, too.
        whole = all(
            len(v) <= TEXT_LIMIT for key in keys for v in key.values() if isinstance(v, str)
        )
        named = any(all(key.get(name) is not None for key in keys) for name in _NAMES)
        if len(columns) != 1 or not whole or not named:
            return None
        (names,) = columns
        return names if set(names) <= _OF_RECORDS else None

    def covers(self, key: Key) -> bool:
        """Whether a finding of this key would be listed if there were one."""
        if self.whole:
            return True
        last = key_of(self.findings[-1]) if self.findings else None
        return self.ordered and last is not None and _before(key, last)


def listings(side: Side) -> dict[Sought, Listing]:
    """What a run lists, by anomaly and place."""
    return {
        (made.anomaly, made.stretch): made
        for group in side.findings
        if group.count
        for made in _listings(side, group)
    }


def hidden(side: Side, anomaly: str, stretch: Stretch) -> bool:
    """Whether a run that lists none of an anomaly in a place may have some there all the same."""
    cut = any(g.anomaly == anomaly and g.count > len(g.shown) for g in side.findings)
    return cut and is_there(side, anomaly, stretch) is not False


def key_of(finding: Finding) -> Key:
    """What names a finding, in the order in which findings are listed."""
    return tuple(finding.key.items())


def _listings(side: Side, group: Findings) -> Iterable[Listing]:
    places: dict[Stretch, list[Finding]] = {}
    for finding in group.shown:
        places.setdefault(stretch_of(group, finding), []).append(finding)
    looked = {stretch for stretch in side.stretches if _same_kind(stretch, group)}
    for stretch, findings in (places or {Stretch(group.hop): []}).items():
        yield Listing(
            anomaly=group.anomaly,
            evidence=group.evidence,
            stretch=stretch,
            findings=tuple(findings),
            total=group.count,
            whole=group.count == len(group.shown),
            alone=len(places) <= 1
            and all(is_there(side, group.anomaly, other) is False for other in looked - {stretch}),
            ordered=_one_trial(side, stretch) and _ascending(findings),
        )


def _same_kind(stretch: Stretch, group: Findings) -> bool:
    return (stretch.hop is Hop.PRODUCE) == (group.hop is Hop.PRODUCE)


def _one_trial(side: Side, stretch: Stretch) -> bool:
    """Whether one list stands for the place: two claims that judge it differently have two."""
    claims = [
        claim
        for claim in side.claims
        if stretch.sink and (claim.sink, claim.view or "") == (stretch.sink, stretch.view)
    ]
    times = Counter((claim.guarantee, claim.hop) for claim in claims)
    return len({claim.input for claim in claims}) <= 1 and max(times.values(), default=1) == 1


def _ascending(findings: Iterable[Finding]) -> bool:
    return all(_before(a, b) and a != b for a, b in pairwise(map(key_of, findings)))


def _before(first: Key, second: Key) -> bool:
    """Whether a key comes before another or is it, as the engines order them; False if unsure."""
    for (_, value), (_, other) in zip(first, second, strict=False):
        if value == other:
            continue
        if isinstance(value, str) and isinstance(other, str):
            return value.encode("utf-8", "replace") < other.encode("utf-8", "replace")
        if isinstance(value, int) and isinstance(other, int):
            return value < other
        return False
    return len(first) == len(second)
