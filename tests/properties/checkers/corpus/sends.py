"""Sends against the log: what was lost, duplicated, altered or reordered, and what was not.

In the first half a history is in order but for one thing, so that nothing
else makes anybody look at the record.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from tests.properties.checkers.corpus.base import (
    CUT_SHORT,
    LEDGER,
    Sample,
    sample,
)
from tests.properties.checkers.world import Trial

Row = Mapping[str, Any]
Keys = Mapping[str, Sequence[Row]]
ORDERS: Final = Trial(topic="orders", sink="shelf", view="table")
A: Final = ({"record": "a"},)


def send(record: str, offset: int, **more: Any) -> dict[str, Any]:
    """An acknowledged send of a record, the first one."""
    known = {"record": record, "attempt": f"{record}/1", "partition": 0, "offset": offset}
    return known | {"key": "k", "digest": f"in-{record}"} | more


def entry(record: str, offset: int, **more: Any) -> dict[str, Any]:
    """Its entry, with everything that can travel along."""
    return send(record, offset) | more


def _one_thing(
    tells: str,
    *,
    finds: Keys | None = None,
    sent: Row | None = None,
    stands: Row | None = None,
    effect: Row | None = None,
    seen: bool = True,
    **more: Any,
) -> Sample:
    """b is in order, and so is a but for what is given."""
    effects = [{"record": "b"}, {"record": "a"} | (effect or {})]
    tables = {
        "sends": [send("b", 0), send("a", 1, **(sent or {}))],
        "log": [entry("b", 0), entry("a", 1, **(stands or {}))],
        "effects": effects if seen else effects[:1],
    }
    for name in tables:
        tables[name] = [*tables[name], *more.pop(name, ())]
    return sample(f"one thing: {tells}", finds=finds, **tables, **more)


_COMMITTED: Final = {"txn": "t"}
_ABORTED: Final = {"txn": "t", "outcome": "aborted"}


def _screened() -> Iterator[Sample]:
    yield _one_thing("nothing")
    yield _one_thing("a committed transaction", sent={"txn": "t"}, txns=[_COMMITTED])
    yield _one_thing(
        "it was sent in an aborted transaction and stands committed",
        sent={"txn": "t"},
        txns=[_ABORTED, {"txn": "u"}],
        finds={"duplicate": A},
    )
    yield _one_thing("it failed and is there", sent={"outcome": "fail"}, finds={"duplicate": A})
    yield _one_thing(
        "its entry is not committed",
        stands={"committed": False},
        finds={"lost-write": A, "unfounded-output": A},
    )
    yield _one_thing(
        "its like was sent by nobody",
        log=[entry("c", 2)],
        effects=[{"record": "c"}],
        finds={"phantom": [{"record": "c"}]},
    )
    yield _one_thing(
        "it came of it twice", effects=[{"record": "a"}], finds={"duplicate-output": A}
    )
    yield _one_thing(
        "it was sent twice and came of it once",
        sends=[send("a", 2, attempt="a/2")],
        log=[entry("a", 2, attempt="a/2")],
        finds={"lost-output": A},
    )
    yield _one_thing(
        "it was sent twice and nothing came of it",
        sends=[send("a", 2, attempt="a/2")],
        log=[entry("a", 2, attempt="a/2")],
        seen=False,
        finds={"lost-output": A},
    )
    yield sample(
        "one thing: two sends were acknowledged with one place, and nothing is there",
        sends=[send("b", 0), send("a", 1), send("a", 1, attempt="a/2")],
        log=[entry("b", 0, attempt=None)],
        effects=[{"record": "b"}],
        finds={"lost-write": A},
    )
    yield _one_thing("its content differs", stands={"digest": "other"}, finds={"corrupt": A})
    yield _one_thing("its key differs", stands={"key": "other"}, finds={"corrupt": A})
    yield _one_thing("its entry has no attempt", stands={"attempt": None})
    yield _one_thing("its entry has no key", stands={"key": None})
    yield _one_thing("its entry has no digest", stands={"digest": None})
    yield _one_thing("nothing came of it", seen=False, finds={"lost-output": A})
    yield _one_thing(
        "what came of it is called otherwise", effect={"effect_key": "x"}, finds={"lost-output": A}
    )
    b, a = {"record": "b"}, {"record": "a"}
    yield _one_thing("what should come of it came", expected=[b, a])
    yield _one_thing(
        "what came of it is wrong",
        expected=[b, a],
        effect={"digest": "other"},
        finds={"wrong-output": A},
    )
    yield _one_thing("nothing should come of it", expected=[b], finds={"wrong-output": A})
    place = {"source_topic": "input", "source_partition": 0, "source_offset": 1}
    yield sample(
        "one thing: what should come of it came, with its key and its place",
        sends=[send("a", 1)],
        log=[entry("a", 1)],
        expected=[a | {"effect_key": "x"}],
        effects=[a | place | {"effect_key": "x"}],
    )
    yield sample(
        "one thing: two effects of one content should come of it, and each names its place",
        sends=[send("a", 1)],
        log=[entry("a", 1)],
        expected=[a, a],
        effects=[a | place],
        finds={"lost-output": A},
    )
    yield sample(
        "one thing: nothing at all came of anything",
        sends=[send("a", 1)],
        log=[entry("a", 1)],
        finds={"lost-output": A},
    )
    yield sample(
        "one thing: what never travels along tells nothing apart",
        sends=[send("a", 1), send("b", 2)],
        log=[
            entry("a", 1, attempt=None, key=None, digest=None),
            entry("b", 2, attempt=None, key=None, digest=None),
            entry("x", 3) | {"record": None},
            entry("x", 4, kind="commit"),
        ],
        effects=[a, b],
    )
    yield sample(
        "one thing: two sends were acknowledged with one place and no attempt travels along",
        sends=[send("a", 1), send("a", 1, attempt="a/2")],
        log=[entry("a", 1, attempt=None)],
        effects=[a],
        finds={"lost-write": A},
    )


def _torn() -> Iterator[Sample]:
    """Transactions whose records in the input are all in order."""
    t = [{"topic": "input", "txn": "t"}]
    torn = {"torn-transaction": t}
    aside = {"topic": "aside", "txn": "t"}

    def whole(tells: str, **more: Any) -> Sample:
        more["sends"] = [send("a", 1, txn="t"), *more.get("sends", ())]
        more["log"] = [entry("a", 1), *more.get("log", ())]
        return sample(f"transaction: {tells}", txns=[_COMMITTED], effects=[{"record": "a"}], **more)

    yield whole(
        "a position that it staged is missing",
        staged=[{"txn": "t", "owner": "group", "topic": "source", "offset": 5}],
        positions=[{"owner": "group", "topic": "source", "offset": 4}],
        finds=torn,
    )
    yield whole(
        "a position that it staged is there",
        staged=[{"txn": "t", "owner": "group", "topic": "source", "offset": 5}],
        positions=[{"owner": "group", "topic": "source", "offset": 5}],
    )
    yield whole(
        "nobody else's position is missing",
        staged=[{"txn": "x", "owner": "group", "topic": "source", "offset": 5}],
        positions=[{"owner": "group", "topic": "source", "offset": 4}],
    )
    mine = send("c", 3, **aside)
    there = entry("c", 3, topic="aside")
    for tells, sends, log, partitions, finds in (
        ("a record is missing in a topic beside", [mine], [], [{"topic": "aside"}], torn),
        ("a record is missing in the input", [send("c", 3, txn="t")], [], [],
         torn | {"lost-write": [{"record": "c"}]}),
        ("nobody looked into a topic beside", [mine], [], [], {}),
        ("nobody looked but into another one", [mine], [], [{"topic": "else"}], {}),
        ("a record is in a topic beside", [mine], [there], [], {}),
        ("a record is there, nobody says whose", [mine], [there | {"attempt": None}], [], {}),
        ("the record there is another", [mine], [there | {"record": "d"}], [], torn),
        ("the attempt there is another", [mine, send("c", 4, topic="aside", attempt="c/2")],
         [there | {"attempt": "c/2"}], [], torn),
        ("the topic there is another", [mine], [there | {"topic": "orders"}],
         [{"topic": "aside"}], torn),
        ("the record is in another topic that it sent to",
         [mine, send("e", 4, topic="orders", txn="t")],
         [there | {"topic": "orders"}, entry("e", 4, topic="orders")], [{"topic": "aside"}], torn),
        ("the record there is not committed", [mine], [there | {"committed": False}], [], torn),
        ("there is only a marker there", [mine], [there | {"kind": "commit"}], [], torn),
        ("no transaction misses what was sent beside it", [mine | {"txn": None}], [],
         [{"topic": "aside"}], {}),
        ("nobody heard of a send, and the commit returned", [mine | {"outcome": "info"}], [],
         [{"topic": "aside"}], torn),
        ("nobody heard of a send to the input", [send("c", 3, txn="t") | {"outcome": "info"}], [],
         [], torn | {"lost-write": [{"record": "c"}]}),
        ("what nobody heard of is there", [mine | {"outcome": "info"}], [there], [], {}),
        ("nobody heard of a send, and nobody looked", [mine | {"outcome": "info"}], [], [], {}),
        ("a send to a topic beside failed", [mine | {"outcome": "fail"}], [], [], torn),
    ):  # fmt: skip
        yield whole(tells, sends=sends, log=log, partitions=partitions, finds=finds)


def _counted() -> Iterator[Sample]:
    """Attempts against positions, where a part of the log is deleted."""
    cut = [{"log_start": 5, "last_stable_offset": 9}]

    def counted(tells: str, sends: Sequence[Row], log: Sequence[Row], **more: Any) -> Sample:
        return sample(f"account: {tells}", sends=sends, log=log, partitions=cut, **more)

    first, second = send("a", 2), send("a", 7, attempt="a/2")
    nameless = entry("a", 6, attempt=None)
    lost = {"lost-write": A, "lost-output": A}
    yield counted(
        "what is gone may be the one that stands, and the other is lost",
        [first, send("b", 7)],
        [nameless],
        finds={"lost-write": [{"record": "b"}], "lost-output": A},
    )
    yield counted(
        "one of two that are gone is not the one that is there",
        [first, send("a", 3, attempt="a/3")],
        [nameless],
        finds={"lost-output": A},
        undecided=["lost-write", "lost-output"],
    )
    yield counted(
        "an attempt that stands further on than it was acknowledged is not gone",
        [first, second],
        [entry("a", 6)],
        finds=lost,
    )
    yield counted(
        "two are gone, and the third has the one position",
        [first, send("a", 3, attempt="a/3"), second],
        [nameless],
        finds={"lost-output": A},
        undecided=["lost-write", "lost-output"],
    )
    yield counted(
        "one that nobody knows of is not gone instead of the one that is lost",
        [first | {"outcome": "info"}, second],
        [entry("b", 6)],
        finds={"lost-write": A, "phantom": [{"record": "b"}], "lost-output": [{"record": "b"}]},
    )
    yield sample(
        "account: the same record elsewhere has an account of its own",
        sends=[first, send("a", 7, attempt="a/2", topic="orders")],
        log=[nameless],
        partitions=cut,
        trials=[LEDGER, ORDERS],
        finds={"lost-write": [{"topic": "orders", "record": "a"}], "lost-output": A},
    )


def _altered() -> Iterator[Sample]:
    """Entries that fit no attempt."""
    yield sample(
        "corrupt: each entry is one",
        sends=[send("a", 6)],
        log=[
            entry("a", offset, partition=partition, digest="other")
            for partition, offset in ((0, 6), (1, 6), (1, 7))
        ],
        finds={"corrupt": A, "duplicate": A},
        phases=CUT_SHORT,
    )
    yield sample(
        "corrupt: at home in another topic is not at home",
        sends=[send("a", 6)],
        log=[entry("a", 6, partition=1), entry("a", 6, topic="orders")],
        trials=[LEDGER, ORDERS],
        finds={
            "corrupt": [{"topic": "input", "record": "a"}, {"topic": "orders", "record": "a"}],
        },
        phases=CUT_SHORT,
    )


def _claimed() -> Iterator[Sample]:
    """Which record stood at a position."""

    def claimed(tells: str, finds: bool, **tables: Any) -> Sample:
        place = [{"topic": "input", "partition": 0, "offset": 6}]
        found = {"inconsistent-offsets": place} if finds else {}
        return sample(f"place: {tells}", finds=found, phases=CUT_SHORT, **tables)

    a, other = {"record": "a", "offset": 6}, {"session": "other"}
    unread = other | {"record": None}
    yield claimed("two readers agree", False, reads=[a, a | other], log=[a])
    yield claimed("a reader could not tell", False, reads=[a, a | unread], log=[a])
    yield claimed("the log could not tell", False, reads=[a], log=[a | {"record": None}])
    yield claimed(
        "a reader saw another than the log has", True, reads=[a], log=[a | {"record": "b"}]
    )
    yield claimed(
        "a reader saw another than a marker tells", False,
        reads=[a], log=[a | {"record": "b", "kind": "commit"}],
    )  # fmt: skip
    yield claimed("another topic", False, reads=[a], log=[a | {"record": "b", "topic": "orders"}])
    yield claimed("another partition", False, reads=[a], log=[a | {"record": "b", "partition": 1}])
    yield claimed("another offset", False, reads=[a], log=[a | {"record": "b", "offset": 7}])
    b = {"record": "b", "attempt": "b/1", "partition": 0, "offset": 6}
    yield claimed(
        "two sends that are not known to be right were told one place", False,
        sends=[b | {"outcome": "info"}, b | {"record": "c", "attempt": "c/1"}],
    )  # fmt: skip
    yield claimed(
        "two sends were told an offset, nobody knows where", False,
        sends=[b | {"partition": None}, b | {"record": "c", "attempt": "c/1", "partition": None}],
    )  # fmt: skip
    yield claimed(
        "two sends were told one place", True, sends=[b, b | {"record": "c", "attempt": "c/1"}]
    )
    yield claimed(
        "two sends were told that nobody knows where", False,
        sends=[b | {"offset": -1}, b | {"record": "c", "attempt": "c/1", "offset": -1}],
    )  # fmt: skip
    yield claimed(
        "two sends of one record were told one place", False, sends=[b, b | {"attempt": "b/2"}]
    )


def _reordered() -> Iterator[Sample]:
    """a was sent first, and where does it stand?"""

    def order(tells: str, *attempts: str, **more: Any) -> Sample:
        return sample(
            f"order: {tells}",
            finds={"reordered-send": [{"attempt": attempt} for attempt in attempts]}
            | more.pop("finds", {}),
            phases=CUT_SHORT,
            **more,
        )

    def sent(*records: str, **more: Any) -> list[dict[str, Any]]:
        return [
            {"record": r, "attempt": f"{r}/1", "ordinal": n} | more for n, r in enumerate(records)
        ]

    yield order(
        "of two sessions",
        sends=[send("a", 7, ordinal=0), send("b", 6, ordinal=1, session="other")],
        log=[entry("a", 7), entry("b", 6)],
    )
    yield order(
        "what is not said is told by the attempt",
        "a/2",
        sends=[send("a", 7, ordinal=0), send("a", 6, ordinal=0, attempt="a/2")],
        log=[entry("a", 7), entry("a", 6, attempt="a/2")],
    )
    yield order(
        "what is not said is told by the attempt, and they are in order",
        sends=[send("a", 6, ordinal=0), send("a", 7, ordinal=0, attempt="a/2")],
        log=[entry("a", 6), entry("a", 7, attempt="a/2")],
    )
    yield order(
        "an attempt of another record tells nothing, the record does",
        "b/1",
        sends=sent("a", "b", "c"),
        log=[entry("b", 6), entry("a", 7, attempt="c/1")],
    )
    for tells, extra, attempts in (
        ("the only send of its record to this topic", {"topic": "orders"}, ["b/1"]),
        ("one of two sends of its record", {}, []),
    ):
        yield order(
            f"nameless is {tells}",
            *attempts,
            sends=[*sent("a", "b"), {"record": "a", "attempt": "a/2", "ordinal": 5} | extra],
            log=[
                entry("b", 6),
                entry("a", 7, attempt=None),
                *([entry("a", 0, attempt=None) | extra] if extra else []),
            ],
            trials=[LEDGER, ORDERS],
        )


SAMPLES: Final = (
    *_screened(), *_torn(), *_counted(), *_altered(), *_claimed(), *_reordered(),
)  # fmt: skip
