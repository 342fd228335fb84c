"""The findings of one anomaly in one place, as far as a report lists them.

A report counts all findings but lists only the first ones of each place, ordered by key. A key that
sorts before the last listed one and is not listed is certainly absent; nothing is known about keys
after it.
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
from onceproof.reports.diff.watching import has_anomaly
from onceproof.reports.model import Finding, Findings, Value
from onceproof.reports.scopes import Scope, scope_of

Key = tuple[tuple[str, Value], ...]
"""Columns and values that identify a finding."""

_OF_RECORDS: Final = frozenset(
    {"topic", "sink", "view", "record", "effect_key", "state_key", "aggregate", "reader"}
)
"""Columns that mean the same in two runs with the same input, unlike offsets or batches."""
_NAMES: Final = ("record", "state_key")
Sought = tuple[str, Scope]


@dataclass(frozen=True, kw_only=True)
class Listing:
    """What one run lists of one anomaly in one place.

    Attributes:
        scope: the place.
        findings: the listed findings, in the order of the report.
        total: number of findings of the anomaly in all places.
        whole: whether all findings of the anomaly are listed, in all places.
        alone: whether the run has the anomaly in no other place.
        ordered: whether every finding before the last listed one is listed.
    """

    anomaly: str
    evidence: Evidence
    scope: Scope
    findings: tuple[Finding, ...]
    total: int
    whole: bool
    alone: bool
    ordered: bool

    @property
    def count(self) -> int | None:
        """The number of findings in this place; None if unknown."""
        if self.whole:
            return len(self.findings)
        return self.total if self.alone else None

    @property
    def of_records(self) -> tuple[str, ...] | None:
        """The key columns if they identify what was sent; None if they include, say, offsets."""
        keys = [finding.key for finding in self.findings]
        columns = {tuple(key) for key in keys}
        # A text of this length was cut, so two different ones may look the same.
        whole = all(
            len(v) <= TEXT_LIMIT for key in keys for v in key.values() if isinstance(v, str)
        )
        named = any(all(key.get(name) is not None for key in keys) for name in _NAMES)
        if len(columns) != 1 or not whole or not named:
            return None
        (names,) = columns
        return names if set(names) <= _OF_RECORDS else None

    def covers(self, key: Key) -> bool:
        """Return whether a finding with this key would be listed if it existed."""
        if self.whole:
            return True
        last = key_of(self.findings[-1]) if self.findings else None
        return self.ordered and last is not None and _before(key, last)


def listings(side: Side) -> dict[Sought, Listing]:
    return {
        (made.anomaly, made.scope): made
        for group in side.findings
        if group.count
        for made in _listings(side, group)
    }


def hidden(side: Side, anomaly: str, scope: Scope) -> bool:
    """Return whether a run may have findings of an anomaly in a place although it lists none."""
    cut = any(g.anomaly == anomaly and g.count > len(g.shown) for g in side.findings)
    return cut and has_anomaly(side, anomaly, scope) is not False


def key_of(finding: Finding) -> Key:
    return tuple(finding.key.items())


def _listings(side: Side, group: Findings) -> Iterable[Listing]:
    places: dict[Scope, list[Finding]] = {}
    for finding in group.shown:
        places.setdefault(scope_of(group, finding), []).append(finding)
    looked = {scope for scope in side.scopes if _same_kind(scope, group)}
    for scope, findings in (places or {Scope(group.hop): []}).items():
        yield Listing(
            anomaly=group.anomaly,
            evidence=group.evidence,
            scope=scope,
            findings=tuple(findings),
            total=group.count,
            whole=group.count == len(group.shown),
            alone=len(places) <= 1
            and all(has_anomaly(side, group.anomaly, other) is False for other in looked - {scope}),
            ordered=_one_trial(side, scope) and _ascending(findings),
        )


def _same_kind(scope: Scope, group: Findings) -> bool:
    return (scope.hop is Hop.PRODUCE) == (group.hop is Hop.PRODUCE)


def _one_trial(side: Side, scope: Scope) -> bool:
    """Return whether the place has one list: claims that judge it differently have one each."""
    claims = [
        claim
        for claim in side.claims
        if scope.sink and (claim.sink, claim.view or "") == (scope.sink, scope.view)
    ]
    times = Counter((claim.guarantee, claim.hop) for claim in claims)
    return len({claim.input for claim in claims}) <= 1 and max(times.values(), default=1) == 1


def _ascending(findings: Iterable[Finding]) -> bool:
    return all(_before(a, b) and a != b for a, b in pairwise(map(key_of, findings)))


def _before(first: Key, second: Key) -> bool:
    """Return whether `first` is at most `second` in the engines' order; False if unsure."""
    for (_, value), (_, other) in zip(first, second, strict=False):
        if value == other:
            continue
        if isinstance(value, str) and isinstance(other, str):
            return value.encode("utf-8", "replace") < other.encode("utf-8", "replace")
        if isinstance(value, int) and isinstance(other, int):
            return value < other
        return False
    return len(first) == len(second)
