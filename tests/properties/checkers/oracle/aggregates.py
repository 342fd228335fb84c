"""state-mismatch: the final state against what the committed inputs come to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from tests.properties.checkers.oracle.hits import Hit
from tests.properties.checkers.oracle.stretch import Stretch
from tests.properties.checkers.world.rows import Row


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What an aggregate of a key must come to."""

    amount: int | None = None
    """None: it has none, or nobody knows it."""
    digests: frozenset[str | None] = frozenset()
    """Of several, any is right; None among them: no row at all."""

    @property
    def gone(self) -> bool:
        """There may be no row."""
        return self.digests == {None}

    @property
    def digest(self) -> str | None:
        """The one that is told as expected."""
        return min((d for d in self.digests if d is not None), default=None)


NOTHING = Wanted(digests=frozenset({None}))


def state_mismatch(s: Stretch) -> Iterator[Hit]:
    if s.cut or not s.by_state:
        return
    names = {c["aggregate"] for c in s.contributions}
    state = {
        (v["state_key"], v["aggregate"]): v
        for v in s.rows["state"]
        if (v["sink"], v["view"]) == s.name and v["aggregate"] in names
    }
    stated = {(c["state_key"], c["aggregate"]) for c in s.contributions}
    for slot in stated | state.keys():
        wanted, row = _wanted(s, slot), state.get(slot)
        expected = {"expected_amount": wanted.amount, "expected_digest": wanted.digest}
        if row is None:
            if None not in wanted.digests:
                yield Hit((*s.name, *slot), {**expected, "amount": None, "digest": None})
        elif wanted.gone or _differs(row, wanted):
            yield Hit((*s.name, *slot), {**expected, **row})


def _wanted(s: Stretch, slot: tuple[str, str]) -> Wanted:
    added = [c for c in s.contributions if (c["state_key"], c["aggregate"]) == slot]
    inputs = [(e, c) for e in s.committed for c in added if c["record"] == e["record"]]
    if not inputs:
        return NOTHING
    operation = inputs[0][1]["operation"]
    if operation == "last":
        ways = _choices(inputs) if s.trial.deduplicates else [inputs]
        return Wanted(digests=frozenset(digest for way in ways for digest in _last(way)))
    if s.trial.deduplicates:
        inputs = [(e, c) for e, c in inputs if e is _first_of(s, e)]
    if operation == "count":
        return Wanted(amount=len(inputs))
    amounts = [c["amount"] for _, c in inputs]
    if None in amounts:
        return Wanted()
    return Wanted(amount={"sum": sum, "min": min, "max": max}[operation](amounts))  # type: ignore[operator]


def _first_of(s: Stretch, entry: Row) -> Row:
    """One entry for all of its record."""
    return next(e for e in s.committed if e["record"] == entry["record"])


def _choices(inputs: list[tuple[Row, Row]]) -> Iterator[list[tuple[Row, Row]]]:
    """Every way to take each record at one of its positions, whichever the subject chose."""
    places: dict[str, list[int]] = {}
    for e, _ in inputs:
        places.setdefault(e["record"], []).append(id(e))
    for taken in product(*(dict.fromkeys(some) for some in places.values())):
        yield [(e, c) for e, c in inputs if id(e) in taken]


def _last(inputs: list[tuple[Row, Row]]) -> Iterator[str | None]:
    """What the last one in each partition leaves: between partitions there is no order."""
    for partition in {e["partition"] for e, _ in inputs}:
        here = [(e["offset"], c["digest"]) for e, c in inputs if e["partition"] == partition]
        end = max(offset for offset, _ in here)
        yield from (digest for offset, digest in here if offset == end)


def _differs(row: Row, wanted: Wanted) -> bool:
    """What is not known differs from nothing; content that is no number differs from any."""
    if wanted.digests:
        return row["digest"] is not None and row["digest"] not in wanted.digests
    if row["amount"] is None:
        return row["digest"] is not None
    return wanted.amount is not None and row["amount"] != wanted.amount
