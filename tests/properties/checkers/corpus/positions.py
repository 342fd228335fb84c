"""Recorded positions compared with the effects of the inputs that they passed.

Most samples ask about one owner, partition, role or topic, next to another one that would give a
different answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from tests.properties.checkers.corpus.base import (
    LEDGER,
    LETTERS,
    ONCE,
    Keys,
    Sample,
    sample,
)
from tests.properties.checkers.world import Trial

Row = Mapping[str, Any]
ORDERS: Final = Trial(topic="orders", sink="shelf", view="table")
SHELF: Final = Trial(topic="input", sink="shelf", view="table")
ORDERS_TOO: Final = Trial(topic="orders", sink="ledger", view="table")
A: Final = ({"record": "a"},)


def entry(record: str, offset: int, **more: Any) -> dict[str, Any]:
    """A committed log entry."""
    return {"record": record, "offset": offset} | more


def effect(record: str, place: tuple[int, int] | None = None, **more: Any) -> dict[str, Any]:
    """An effect, optionally with its source (partition, offset)."""
    named: dict[str, Any] = {}
    if place is not None:
        named = {"source_topic": "input", "source_partition": place[0], "source_offset": place[1]}
    return {"record": record, "owner": None} | named | more


def resume(offset: int, **more: Any) -> dict[str, Any]:
    """A resume position: where the next instance starts."""
    return {"role": "resume", "offset": offset} | more


def atomic(offset: int, **more: Any) -> dict[str, Any]:
    """An atomic position, which is committed together with the effects."""
    return {"role": "atomic", "offset": offset, "sink": "ledger"} | more


def _ahead() -> Iterator[Sample]:
    """A position is past an input whose effect is missing."""

    def ahead(title: str, *owners: str, finds: Keys | None = None, **tables: Any) -> Sample:
        found: dict[str, Any] = {"lost-output": A} | dict(finds or {})
        if owners:
            found["offset-ahead"] = [{"owner": owner} for owner in owners]
        return sample(f"ahead: {title}", finds=found, **tables)

    yield ahead(
        "each owner passed one of two positions, and one effect exists",
        log=[entry("a", 0), entry("a", 0, partition=1)],
        effects=[effect("a")],
        positions=[resume(1, owner="g"), resume(1, owner="h", partition=1)],
    )
    yield ahead(
        "one owner passed two positions, and one effect exists",
        "g",
        "g",
        log=[entry("a", 0), entry("a", 0, partition=1)],
        effects=[effect("a")],
        positions=[resume(1, owner="g"), resume(1, owner="g", partition=1)],
    )
    yield ahead(
        "a lost record was passed, and another one whose missing effect may be of a later entry",
        "owner",
        log=[entry("a", 0), entry("b", 1), entry("b", 6)],
        effects=[effect("b")],
        positions=[resume(2)],
        finds={"lost-output": [{"record": "a"}, {"record": "b"}]},
    )
    yield ahead(
        "a dead letter replaces all effects of one position",
        trials=[LETTERS],
        log=[entry("a", 0), entry("a", 1)],
        expected=[{"record": "a"}, {"record": "a"}],
        effects=[effect("a", sink="letters")],
        positions=[resume(1)],
    )
    for lateness in ("late", "unclear"):
        yield ahead(
            f"a position that passed only an entry that is {lateness}",
            log=[entry("a", 0, lateness=lateness), entry("a", 6)],
            positions=[resume(2)],
        )
    for title, partition, offset in (("partition", 1, 0), ("offset", 0, 1)):
        yield ahead(
            f"a dead letter from another {title} does not count",
            "owner",
            trials=[LETTERS],
            log=[entry("a", 0), entry("a", offset, partition=partition)],
            effects=[effect("a", (partition, offset), sink="letters")],
            positions=[resume(2)],
        )
        yield ahead(
            f"an effect from another {title} does not count",
            "owner",
            log=[entry("a", 0), entry("a", offset, partition=partition)],
            effects=[effect("a", (partition, offset))],
            positions=[resume(2), resume(2, partition=1, owner="h")],
        )
    yield ahead(
        "a position that passed only a deleted entry",
        log=[entry("a", 2), entry("a", 6)],
        partitions=[{"log_start": 5, "last_stable_offset": 7}],
        positions=[resume(3)],
    )
    yield ahead(
        "a position that passed the record only in another topic",
        trials=[LEDGER, ORDERS],
        log=[entry("a", 5), entry("a", 0, topic="orders")],
        positions=[resume(3)],
        finds={"lost-output": A * 2},
    )


def _behind() -> Iterator[Sample]:
    """A position is at or before an input whose effect exists."""

    def behind(title: str, *owners: str, finds: Keys | None = None, **tables: Any) -> Sample:
        found = dict(finds or {})
        if owners:
            found["offset-behind"] = [{"owner": owner} for owner in owners]
        return sample(f"behind: {title}", finds=found, **tables)

    a = [entry("a", 7)]
    yield behind(
        "the effect is another owner's",
        log=a,
        effects=[effect("a", owner="g")],
        positions=[atomic(6, owner="h")],
    )
    yield behind(
        "an effect without owner is compared with the furthest position",
        log=a,
        effects=[effect("a")],
        positions=[atomic(6, owner="g"), atomic(9, owner="h")],
    )
    for title, positions in (
        ("in its partition", [atomic(6, owner="g"), atomic(9, owner="h", partition=1)]),
        ("with its role", [atomic(6, owner="g"), resume(9, owner="h")]),
        ("of two owners", [atomic(5, owner="f"), atomic(6, owner="g")]),
        ("of two owners, in reverse order", [atomic(6, owner="g"), atomic(5, owner="h")]),
        ("and among equals with the first owner", [atomic(6, owner="h"), atomic(6, owner="g")]),
        (
            "and among equals with the first owner, in reverse order",
            [atomic(6, owner="g"), atomic(6, owner="h")],
        ),
        (
            "and among many equals with the first owner",
            [atomic(6, owner=owner) for owner in "mkihgjln"],
        ),
    ):
        yield behind(
            f"an effect without owner is compared with the furthest position {title}",
            "g",
            log=a,
            effects=[effect("a")],
            positions=positions,
        )
    yield behind(
        "an effect without owner is compared with the furthest position in its sink",
        "g",
        trials=[LEDGER, SHELF],
        log=a,
        effects=[effect("a"), effect("a", sink="shelf")],
        positions=[atomic(6, owner="g"), atomic(9, owner="h", sink="shelf")],
    )
    yield behind(
        "one owner has the same position with and without sink",
        "g",
        log=a,
        effects=[effect("a")],
        positions=[atomic(6, owner="g"), atomic(6, owner="g", sink=None)],
    )
    yield behind(
        "a position was recorded twice",
        "g",
        log=a,
        effects=[effect("a", owner="g")],
        positions=[atomic(6, owner="g", ordinal=3), atomic(6, owner="g", ordinal=3)],
    )
    yield behind(
        "of two positions with one ordinal the further one is the newest",
        log=a,
        effects=[effect("a", owner="g")],
        positions=[atomic(9, owner="g", ordinal=3), atomic(6, owner="g", ordinal=3)],
    )
    yield behind(
        "an effect that names another offset",
        "owner",
        log=a,
        effects=[effect("a", (0, 5), position="astray"), effect("a", position="nameless")],
        positions=[atomic(6)],
        finds={"unfounded-output": A, "duplicate-output": A},
    )
    yield behind(
        "an effect that names another partition",
        log=[*a, entry("a", 7, partition=1)],
        effects=[effect("a", (0, 7))],
        positions=[atomic(8, owner="g"), atomic(7, owner="g", partition=1)],
        finds={"lost-output": A},
    )
    yield behind(
        "its record appears twice here and once elsewhere",
        trials=[LEDGER, ORDERS_TOO],
        log=[entry("a", 6), entry("a", 7), entry("a", 0, topic="orders")],
        effects=[effect("a"), effect("a", position="other")],
        positions=[atomic(6)],
        finds={"duplicate-output": A},
    )


def _regressed() -> Iterator[Sample]:
    """An owner's positions go backwards."""
    position = {"owner": "g", "role": "resume", "sink": None, "partition": 0}
    for title, other in (
        ("owner", {"owner": "h"}),
        ("role", {"role": "atomic"}),
        ("sink", {"sink": "ledger"}),
        ("partition", {"partition": 1}),
    ):
        yield sample(
            f"regress: positions of another {title} are ordered separately",
            positions=[
                position | other | {"offset": 9, "ordinal": 0, "batch": 100},
                position | {"offset": 4, "ordinal": 1, "batch": 1},
                position | other | {"offset": 9, "ordinal": 2, "batch": 102},
                position | {"offset": 3, "ordinal": 3, "batch": 2},
                position | other | {"offset": 9, "ordinal": 4, "batch": 104},
            ],
            finds={"offset-regressed": [{"ordinal": 3}]},
        )
    once = [
        position | {"offset": 9, "ordinal": 1, "batch": 3},
        position | {"offset": 7, "ordinal": 1, "batch": 2},
    ]
    for title, rows in (("", once), (", in reverse", once[::-1])):
        yield sample(
            f"regress: positions with one ordinal are ordered by offset{title}",
            positions=[*rows, position | {"offset": 8, "ordinal": 2, "batch": 4}],
            finds={"offset-regressed": [{"ordinal": 2}]},
        )


def _gaps() -> Iterator[Sample]:
    """Ranges that are not contiguous."""
    first = {"batch": 1, "start_offset": 0, "end_offset": 5}
    for log_start, start, found, undecided in (
        (0, 7, True, False),
        (2, 5, False, False),
        (7, 5, False, False),
        (7, 6, False, True),
        (7, 7, False, True),
        (7, 8, True, False),
    ):
        yield sample(
            f"gap: from 5 to {start}, log start {log_start}",
            ranges=[first, {"batch": 2, "start_offset": start, "end_offset": 9}],
            partitions=[{"log_start": log_start, "last_stable_offset": 9}],
            finds={"offset-gap": [{"kind": "gap"}]} if found else {},
            undecided=["offset-gap"] if undecided else [],
        )
    yield sample(
        "gap: two gaps below the log start",
        ranges=[
            first,
            {"batch": 2, "start_offset": 6, "end_offset": 7},
            {"batch": 3, "start_offset": 8, "end_offset": 9},
        ],
        partitions=[{"log_start": 8, "last_stable_offset": 9}],
        undecided=["offset-gap"],
    )
    for names in (("first", "second"), ("second", "first")):
        yield sample(
            f"gap: two executions of one batch, {names[0]} and {names[1]}",
            ranges=[
                {"batch": 1, "start_offset": 0, "end_offset": 2},
                *(
                    {"batch": 2, "start_offset": 2, "end_offset": 5, "execution": execution}
                    for execution in names
                ),
            ],
            finds={"offset-gap": [{"kind": "overlap"}]},
        )


def _closed() -> Iterator[Sample]:
    """a appears once in a log not read to its end; the ledger has two effects of it."""
    sent = {"record": "a", "attempt": "a/1", "called_at": 0, "returned_at": 5}
    duplicates = {"duplicate-output": A}
    cases: tuple[tuple[str, list[Row], bool], ...] = (
        ("its send returned before the collection", [sent], True),
        ("its send returned after the collection began", [sent | {"returned_at": 6}], False),
        ("its send returned by another clock", [sent | {"clock": "other"}], False),
        ("the time at which its send returned is unknown", [sent | {"returned_at": None}], False),
        ("the outcome of its send is unknown", [sent | {"outcome": "info"}], False),
        ("its send failed", [sent, sent | {"attempt": "a/2", "outcome": "fail"}], False),
        ("its send was part of a transaction", [sent | {"txn": "t"}], False),
        ("both its sends returned", [sent, sent | {"attempt": "a/2"}], True),
        ("only one of its sends returned",
         [sent, sent | {"attempt": "a/2", "returned_at": 6}], False),
        ("its send to another topic returned late",
         [sent, sent | {"attempt": "a/2", "topic": "orders", "returned_at": 6}], True),
        ("only its send to another topic returned in time",
         [sent | {"returned_at": 6}, sent | {"attempt": "a/2", "topic": "orders"}], False),
    )  # fmt: skip
    for title, sends, closed in cases:
        for collected in (True, False):
            found: dict[str, Any] = dict(duplicates) if closed and collected else {}
            undecided = [] if closed and collected else ["duplicate-output"]
            yield sample(
                f"closed: {title}, and the log was {'' if collected else 'not '}collected",
                trials=[LEDGER, ORDERS],
                txns=[{"txn": "t"}],
                sends=sends,
                log=[entry("a", 7)],
                effects=[effect("a"), effect("a", position="other")],
                phases=[
                    {"phase": "settle", "outcome": "failed"},
                    {
                        "phase": "collect",
                        "outcome": "ok" if collected else "interrupted",
                        "started_at": 5,
                    },
                ],
                finds=found,
                undecided=undecided,
            )
    late = {"record": "a", "attempt": "a/1", "called_at": 0, "returned_at": 6}
    yield sample(
        "closed: in another topic, which does not close it in this one",
        trials=[LEDGER, ORDERS],
        sends=[late, sent | {"attempt": "a/2", "topic": "orders"}],
        log=[entry("a", 7)],
        effects=[effect("a")],
        positions=[atomic(6)],
        phases=[
            {"phase": "settle", "outcome": "failed"},
            {"phase": "collect", "outcome": "ok", "started_at": 5},
        ],
    )


def _too_many_effects() -> Iterator[Sample]:
    """More effects than a position yields."""
    yield sample(
        "crowded: another record's effect names the same position",
        trials=[ONCE],
        sends=[{"record": "a"}, {"record": "b", "topic": "elsewhere"}],
        log=[entry("a", 6)],
        effects=[effect("a", (0, 6)), effect("b", (0, 6))],
        finds={"unfounded-output": [{"record": "b"}]},
    )


SAMPLES: Final = (
    *_ahead(), *_behind(), *_regressed(), *_gaps(), *_closed(), *_too_many_effects(),
)  # fmt: skip
