"""Where progress stands, beside what came of the inputs that it passed or did not pass.

Most of these ask about one owner, partition, role or topic, and beside it
there is another one that would give another answer.
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
    """A committed entry."""
    return {"record": record, "offset": offset} | more


def effect(record: str, place: tuple[int, int] | None = None, **more: Any) -> dict[str, Any]:
    """An effect, and where it says that it comes from."""
    named: dict[str, Any] = {}
    if place is not None:
        named = {"source_topic": "input", "source_partition": place[0], "source_offset": place[1]}
    return {"record": record, "owner": None} | named | more


def resume(offset: int, **more: Any) -> dict[str, Any]:
    """Where the next life starts."""
    return {"role": "resume", "offset": offset} | more


def atomic(offset: int, **more: Any) -> dict[str, Any]:
    """What stands or falls with the effects."""
    return {"role": "atomic", "offset": offset, "sink": "ledger"} | more


def _ahead() -> Iterator[Sample]:
    """Beyond an input whose effect is missing."""

    def ahead(tells: str, *owners: str, finds: Keys | None = None, **tables: Any) -> Sample:
        found: dict[str, Any] = {"lost-output": A} | dict(finds or {})
        if owners:
            found["offset-ahead"] = [{"owner": owner} for owner in owners]
        return sample(f"ahead: {tells}", finds=found, **tables)

    yield ahead(
        "each owner answers for what it passed, and one effect is there",
        log=[entry("a", 0), entry("a", 0, partition=1)],
        effects=[effect("a")],
        positions=[resume(1, owner="g"), resume(1, owner="h", partition=1)],
    )
    yield ahead(
        "one owner answers for all that it passed",
        "g",
        "g",
        log=[entry("a", 0), entry("a", 0, partition=1)],
        effects=[effect("a")],
        positions=[resume(1, owner="g"), resume(1, owner="g", partition=1)],
    )
    yield ahead(
        "a dead letter stands for all effects of one position",
        trials=[LETTERS],
        log=[entry("a", 0), entry("a", 1)],
        expected=[{"record": "a"}, {"record": "a"}],
        effects=[effect("a", sink="letters")],
        positions=[resume(1)],
    )
    for tells, partition, offset in (("partition", 1, 0), ("offset", 0, 1)):
        yield ahead(
            f"the dead letter of another {tells} excuses nothing",
            "owner",
            trials=[LETTERS],
            log=[entry("a", 0), entry("a", offset, partition=partition)],
            effects=[effect("a", (partition, offset), sink="letters")],
            positions=[resume(2)],
        )
        yield ahead(
            f"the effect of another {tells} is another's",
            "owner",
            log=[entry("a", 0), entry("a", offset, partition=partition)],
            effects=[effect("a", (partition, offset))],
            positions=[resume(2), resume(2, partition=1, owner="h")],
        )
    yield ahead(
        "what is deleted was not passed",
        log=[entry("a", 2), entry("a", 6)],
        partitions=[{"log_start": 5, "last_stable_offset": 7}],
        positions=[resume(3)],
    )
    yield ahead(
        "the same record in another topic was not passed",
        trials=[LEDGER, ORDERS],
        log=[entry("a", 5), entry("a", 0, topic="orders")],
        positions=[resume(3)],
        finds={"lost-output": A * 2},
    )


def _behind() -> Iterator[Sample]:
    """At or before an input whose effect is there."""

    def behind(tells: str, *owners: str, finds: Keys | None = None, **tables: Any) -> Sample:
        found = dict(finds or {})
        if owners:
            found["offset-behind"] = [{"owner": owner} for owner in owners]
        return sample(f"behind: {tells}", finds=found, **tables)

    a = [entry("a", 7)]
    yield behind(
        "another owner's effect",
        log=a,
        effects=[effect("a", owner="g")],
        positions=[atomic(6, owner="h")],
    )
    yield behind(
        "nobody's effect is held against the furthest",
        log=a,
        effects=[effect("a")],
        positions=[atomic(6, owner="g"), atomic(9, owner="h")],
    )
    for tells, positions in (
        ("of its partition", [atomic(6, owner="g"), atomic(9, owner="h", partition=1)]),
        ("of its role", [atomic(6, owner="g"), resume(9, owner="h")]),
        ("of several", [atomic(5, owner="f"), atomic(6, owner="g")]),
        ("of several, the other way round", [atomic(6, owner="g"), atomic(5, owner="h")]),
        ("and of these the first", [atomic(6, owner="h"), atomic(6, owner="g")]),
        ("and of these still the first", [atomic(6, owner="g"), atomic(6, owner="h")]),
        ("and of many the first", [atomic(6, owner=owner) for owner in "mkihgjln"]),
    ):
        yield behind(
            f"nobody's effect is held against the furthest {tells}",
            "g",
            log=a,
            effects=[effect("a")],
            positions=positions,
        )
    yield behind(
        "nobody's effect is held against the furthest of its sink",
        "g",
        trials=[LEDGER, SHELF],
        log=a,
        effects=[effect("a"), effect("a", sink="shelf")],
        positions=[atomic(6, owner="g"), atomic(9, owner="h", sink="shelf")],
    )
    yield behind(
        "one owner is there twice",
        "g",
        log=a,
        effects=[effect("a")],
        positions=[atomic(6, owner="g"), atomic(6, owner="g", sink=None)],
    )
    yield behind(
        "one position was written down twice",
        "g",
        log=a,
        effects=[effect("a", owner="g")],
        positions=[atomic(6, owner="g", ordinal=3), atomic(6, owner="g", ordinal=3)],
    )
    yield behind(
        "of two that came at once the further one is the newest",
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
    """Backwards in one owner's order."""
    mine = {"owner": "g", "role": "resume", "sink": None, "partition": 0}
    for tells, other in (
        ("owner", {"owner": "h"}),
        ("role", {"role": "atomic"}),
        ("sink", {"sink": "ledger"}),
        ("partition", {"partition": 1}),
    ):
        yield sample(
            f"regress: another {tells} has an order of its own",
            positions=[
                mine | other | {"offset": 9, "ordinal": 0, "batch": 100},
                mine | {"offset": 4, "ordinal": 1, "batch": 1},
                mine | other | {"offset": 9, "ordinal": 2, "batch": 102},
                mine | {"offset": 3, "ordinal": 3, "batch": 2},
                mine | other | {"offset": 9, "ordinal": 4, "batch": 104},
            ],
            finds={"offset-regressed": [{"ordinal": 3}]},
        )
    once = [
        mine | {"offset": 9, "ordinal": 1, "batch": 3},
        mine | {"offset": 7, "ordinal": 1, "batch": 2},
    ]
    for tells, rows in (("", once), (", whoever is named first", once[::-1])):
        yield sample(
            f"regress: what came at once came in the order of offsets{tells}",
            positions=[*rows, mine | {"offset": 8, "ordinal": 2, "batch": 4}],
            finds={"offset-regressed": [{"ordinal": 2}]},
        )


def _gaps() -> Iterator[Sample]:
    """Ranges that do not join up."""
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
            f"gap: of a log that starts at {log_start}, from 5 to {start}",
            ranges=[first, {"batch": 2, "start_offset": start, "end_offset": 9}],
            partitions=[{"log_start": log_start, "last_stable_offset": 9}],
            finds={"offset-gap": [{"kind": "gap"}]} if found else {},
            undecided=["offset-gap"] if undecided else [],
        )
    yield sample(
        "gap: two over what was deleted",
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
    """a appears once in a log that was not read to its end; the ledger has two effects of it."""
    sent = {"record": "a", "attempt": "a/1", "called_at": 0, "returned_at": 5}
    twice = {"duplicate-output": A}
    cases: tuple[tuple[str, list[Row], bool], ...] = (
        ("its send was over", [sent], True),
        ("its send was over later", [sent | {"returned_at": 6}], False),
        ("its send was over by another clock", [sent | {"clock": "other"}], False),
        ("nobody knows when its send was over", [sent | {"returned_at": None}], False),
        ("nobody knows if its send was over", [sent | {"outcome": "info"}], False),
        ("its send failed", [sent, sent | {"attempt": "a/2", "outcome": "fail"}], False),
        ("its send was part of a transaction", [sent | {"txn": "t"}], False),
        ("its sends were over", [sent, sent | {"attempt": "a/2"}], True),
        ("one of its sends was over", [sent, sent | {"attempt": "a/2", "returned_at": 6}], False),
        ("its send to elsewhere was not over",
         [sent, sent | {"attempt": "a/2", "topic": "orders", "returned_at": 6}], True),
        ("its send to elsewhere was over",
         [sent | {"returned_at": 6}, sent | {"attempt": "a/2", "topic": "orders"}], False),
    )  # fmt: skip
    for tells, sends, closed in cases:
        for collected in (True, False):
            found: dict[str, Any] = dict(twice) if closed and collected else {}
            undecided = [] if closed and collected else ["duplicate-output"]
            yield sample(
                f"closed: {tells}, and the log was {'' if collected else 'not '}collected",
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
        "closed: elsewhere, which says nothing of the position here",
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


def _crowded() -> Iterator[Sample]:
    """More effects than one position yields."""
    yield sample(
        "crowded: another record at the same place",
        trials=[ONCE],
        sends=[{"record": "a"}, {"record": "b", "topic": "elsewhere"}],
        log=[entry("a", 6)],
        effects=[effect("a", (0, 6)), effect("b", (0, 6))],
        finds={"unfounded-output": [{"record": "b"}]},
    )


SAMPLES: Final = (
    *_ahead(), *_behind(), *_regressed(), *_gaps(), *_closed(), *_crowded(),
)  # fmt: skip
