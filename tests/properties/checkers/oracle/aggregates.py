"""state-mismatch: the final state compared with the aggregates of the committed inputs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from tests.properties.checkers.oracle.hits import Hit
from tests.properties.checkers.oracle.stretch import Stretch
from tests.properties.checkers.world.rows import Row


@dataclass(frozen=True, kw_only=True)
class Expected:
    """The expected aggregate of a key."""

    amount: int | None = None
    """None: it has no amount, or it is unknown."""
    digests: frozenset[str | None] = frozenset()
    """Acceptable digests; None among them: the row may be missing."""

    @property
    def must_be_missing(self) -> bool:
        """Whether there must be no row."""
        return self.digests == {None}

    @property
    def digest(self) -> str | None:
        """The digest reported as expected."""
        return min((d for d in self.digests if d is not None), default=None)


NO_ROW = Expected(digests=frozenset({None}))


def state_mismatch(s: Stretch) -> Iterator[Hit]:
    if s.cut or not s.by_state:
        return
    names = {c["aggregate"] for c in s.contributions}
    state = {
        (v["state_key"], v["aggregate"]): v
        for v in s.rows["state"]
        if (v["sink"], v["view"]) == s.name and v["aggregate"] in names
    }
    expected_slots = {(c["state_key"], c["aggregate"]) for c in s.contributions}
    for slot in expected_slots | state.keys():
        expected, row = _expected(s, slot), state.get(slot)
        expected_columns = {"expected_amount": expected.amount, "expected_digest": expected.digest}
        if row is None:
            if None not in expected.digests:
                yield Hit((*s.name, *slot), {**expected_columns, "amount": None, "digest": None})
        elif expected.must_be_missing or _differs(row, expected):
            yield Hit((*s.name, *slot), {**expected_columns, **row})


def _expected(s: Stretch, slot: tuple[str, str]) -> Expected:
    added = [c for c in s.contributions if (c["state_key"], c["aggregate"]) == slot]
    inputs = [(e, c) for e in s.committed for c in added if c["record"] == e["record"]]
    if not inputs:
        return NO_ROW
    operation = inputs[0][1]["operation"]
    if operation == "last":
        choices = _choices(inputs) if s.trial.deduplicates else [inputs]
        return Expected(digests=frozenset(digest for choice in choices for digest in _last(choice)))
    if s.trial.deduplicates:
        inputs = [(e, c) for e, c in inputs if e is _first_of(s, e)]
    if operation == "count":
        return Expected(amount=len(inputs))
    amounts = [c["amount"] for _, c in inputs]
    if None in amounts:
        return Expected()
    return Expected(amount={"sum": sum, "min": min, "max": max}[operation](amounts))  # type: ignore[operator]


def _first_of(s: Stretch, entry: Row) -> Row:
    """The first committed entry of the same record."""
    return next(e for e in s.committed if e["record"] == entry["record"])


def _choices(inputs: list[tuple[Row, Row]]) -> Iterator[list[tuple[Row, Row]]]:
    """Every way to choose one position of each record, as deduplication may choose any."""
    places: dict[str, list[int]] = {}
    for e, _ in inputs:
        places.setdefault(e["record"], []).append(id(e))
    for chosen in product(*(dict.fromkeys(positions) for positions in places.values())):
        yield [(e, c) for e, c in inputs if id(e) in chosen]


def _last(inputs: list[tuple[Row, Row]]) -> Iterator[str | None]:
    """Digests left by the last input of each partition; partitions are not ordered."""
    for partition in {e["partition"] for e, _ in inputs}:
        by_offset = [(e["offset"], c["digest"]) for e, c in inputs if e["partition"] == partition]
        end = max(offset for offset, _ in by_offset)
        yield from (digest for offset, digest in by_offset if offset == end)


def _differs(row: Row, expected: Expected) -> bool:
    """Unknown values never differ; a non-numeric state differs from every amount."""
    if expected.digests:
        return row["digest"] is not None and row["digest"] not in expected.digests
    if row["amount"] is None:
        return row["digest"] is not None
    return expected.amount is not None and row["amount"] != expected.amount
