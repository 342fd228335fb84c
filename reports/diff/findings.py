"""Compare the findings of two runs, by anomaly and place, and record by record.

The comparison is symmetric: what is (perhaps) gone from A to B is (perhaps) new from B to A.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from onceproof.reports.diff.listing import Key, Listing, hidden, key_of, listings
from onceproof.reports.diff.model import ALONE, Amount, FoundPair, Record, Shape, Status
from onceproof.reports.diff.observable import blind, hazards_of
from onceproof.reports.diff.side import Side
from onceproof.reports.model import Finding
from onceproof.reports.text import listed, number

_ORDER: Final = tuple(Status)


def pair_findings(a: Side, b: Side, *, by_record: bool) -> tuple[FoundPair, ...]:
    """Return the findings of both runs as pairs, new ones first.

    Args:
        by_record: whether a name means the same record in both runs.
    """
    in_a, in_b = listings(a), listings(b)
    found = [
        _Pair(a, b, in_a.get(sought), in_b.get(sought)).compared(by_record)
        for sought in dict.fromkeys([*in_b, *in_a])
    ]
    return tuple(sorted(found, key=lambda pair: (_ORDER.index(pair.status), pair.anomaly)))


@dataclass(frozen=True)
class _Half:
    """One run's findings of an anomaly, seen from the other run."""

    side: Side
    mine: Listing | None
    other: Side
    others: Listing | None

    def doubt(self, findings: Iterable[Finding]) -> str | None:
        """Return why the other run may have findings like these; None if it has none."""
        assert self.mine is not None, "this side has no findings"
        if self.others is None and hidden(self.other, self.mine.anomaly, self.mine.scope):
            return f"the other run does not list all its findings of {self.mine.anomaly}"
        needed = hazards_of(self.side, self.mine, findings)
        reason = blind(self.other, self.mine, needed)
        return None if reason is None else f"the other run could not have detected it: {reason}"

    def doubt_of(self, key: Key, finding: Finding) -> str | None:
        """Like `doubt`, for one finding of an anomaly that the other run may have too."""
        if self.others is not None and not self.others.covers(key):
            return (
                f"the other run lists only the first {number(len(self.others.findings))} of "
                f"{_total(self.others)}"
            )
        return self.doubt([finding])


class _Pair:
    def __init__(self, a: Side, b: Side, in_a: Listing | None, in_b: Listing | None) -> None:
        self._a = _Half(a, in_a, b, in_b)
        self._b = _Half(b, in_b, a, in_a)

    def compared(self, by_record: bool) -> FoundPair:
        both = [half.mine for half in (self._b, self._a) if half.mine is not None]
        one = both[0]
        status, because = self._status()
        columns = {listing.of_records for listing in both}
        records = by_record and len(columns) == 1 and None not in columns
        return FoundPair(
            anomaly=one.anomaly,
            hop=one.scope.hop,
            place=one.scope.name,
            status=status,
            because=because,
            a=_amount(self._a),
            b=_amount(self._b),
            records=tuple(self._records()) if records else (),
            shapes=_shapes(self._a.mine, self._b.mine),
        )

    def _status(self) -> tuple[Status, str | None]:
        if self._a.mine is not None and self._b.mine is not None:
            return Status.STILL_THERE, None
        half = self._b if self._a.mine is None else self._a
        assert half.mine is not None, "neither side has the finding"
        return _status_of(half is self._b, half.doubt(half.mine.findings))

    def _records(self) -> Iterator[Record]:
        in_a, in_b = _by_key(self._a.mine), _by_key(self._b.mine)
        for key in dict.fromkeys([*in_b, *in_a]):
            if key in in_a and key in in_b:
                status, because, finding = Status.STILL_THERE, None, in_b[key]
            else:
                half = self._b if key in in_b else self._a
                finding = in_b[key] if key in in_b else in_a[key]
                status, because = _status_of(half is self._b, half.doubt_of(key, finding))
            yield Record(key=key, status=status, because=because, sentence=finding.sentence)


def _status_of(in_b: bool, doubt: str | None) -> tuple[Status, str | None]:
    if doubt is None:
        return (Status.NEW if in_b else Status.GONE), None
    return (Status.PERHAPS_NEW if in_b else Status.PERHAPS_GONE), doubt


def _by_key(listing: Listing | None) -> dict[Key, Finding]:
    return {} if listing is None else {key_of(found): found for found in listing.findings}


def _amount(half: _Half) -> Amount:
    if half.mine is not None:
        mine = half.mine
        return Amount(count=mine.count, listed=len(mine.findings), total=mine.total)
    assert half.others is not None, "neither side has the finding"
    sought, side = half.others, half.side
    if not hidden(side, sought.anomaly, sought.scope):
        return Amount(count=0, listed=0, total=0)
    total = sum(group.count for group in side.findings if group.anomaly == sought.anomaly)
    return Amount(count=None, listed=0, total=total)


def _total(listing: Listing) -> str:
    if listing.count is not None:
        return number(listing.count)
    return f"an unknown number ({number(listing.total)} in all places)"


def _shapes(a: Listing | None, b: Listing | None) -> tuple[Shape, ...]:
    """Count findings by the hazards and faults beside them, the most frequent in B first."""
    in_a, in_b = _counted(a), _counted(b)
    names = sorted({*in_a, *in_b}, key=lambda says: (-in_b[says], -in_a[says], says))
    return tuple(Shape(says=says, a=in_a[says], b=in_b[says]) for says in names)


def _counted(listing: Listing | None) -> Counter[str]:
    return Counter(_shape(finding) for finding in (listing.findings if listing else ()))


def _shape(finding: Finding) -> str:
    """Describe the hazards and faults beside a finding, without anything specific to its run."""
    causes: Sequence[str] = sorted(
        {c.hazard + (f" by fault «{c.fault}»" if c.fault else "") for c in finding.causes}
    )
    return f"with {listed(causes)}" if causes else ALONE
