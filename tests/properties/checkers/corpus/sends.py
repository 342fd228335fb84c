"""Sends against the log: lost, duplicated, altered and reordered records.

Samples of the first half are in order but for one detail, so that nothing else draws attention to
the record.
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
    """An acknowledged send of a record, by default its first attempt."""
    known = {"record": record, "attempt": f"{record}/1", "partition": 0, "offset": offset}
    return known | {"key": "k", "digest": f"in-{record}"} | more


def entry(record: str, offset: int, **more: Any) -> dict[str, Any]:
    """The entry of that send, with everything that it can carry."""
    return send(record, offset) | more


def _one_deviation(
    title: str,
    *,
    finds: Keys | None = None,
    sent: Row | None = None,
    logged: Row | None = None,
    effect: Row | None = None,
    has_effect: bool = True,
    **more: Any,
) -> Sample:
    """b is in order, and so is a except for what is given."""
    effects = [{"record": "b"}, {"record": "a"} | (effect or {})]
    tables = {
        "sends": [send("b", 0), send("a", 1, **(sent or {}))],
        "log": [entry("b", 0), entry("a", 1, **(logged or {}))],
        "effects": effects if has_effect else effects[:1],
    }
    for name in tables:
        tables[name] = [*tables[name], *more.pop(name, ())]
    return sample(f"one thing: {title}", finds=finds, **tables, **more)


_COMMITTED: Final = {"txn": "t"}
_ABORTED: Final = {"txn": "t", "outcome": "aborted"}


def _one_deviations() -> Iterator[Sample]:
    yield _one_deviation("nothing differs")
    yield _one_deviation("a committed transaction", sent={"txn": "t"}, txns=[_COMMITTED])
    yield _one_deviation(
        "it was sent in an aborted transaction, and its entry is committed",
        sent={"txn": "t"},
        txns=[_ABORTED, {"txn": "u"}],
        finds={"duplicate": A},
    )
    yield _one_deviation(
        "its send failed, and its entry exists", sent={"outcome": "fail"}, finds={"duplicate": A}
    )
    yield _one_deviation(
        "its entry is not committed",
        logged={"committed": False},
        finds={"lost-write": A, "unfounded-output": A},
    )
    yield _one_deviation(
        "another entry was never sent",
        log=[entry("c", 2)],
        effects=[{"record": "c"}],
        finds={"phantom": [{"record": "c"}]},
    )
    yield _one_deviation(
        "it has two effects", effects=[{"record": "a"}], finds={"duplicate-output": A}
    )
    yield _one_deviation(
        "it was sent twice and has one effect",
        sends=[send("a", 2, attempt="a/2")],
        log=[entry("a", 2, attempt="a/2")],
        finds={"lost-output": A},
    )
    yield _one_deviation(
        "it was sent twice and has no effect",
        sends=[send("a", 2, attempt="a/2")],
        log=[entry("a", 2, attempt="a/2")],
        has_effect=False,
        finds={"lost-output": A},
    )
    yield sample(
        "one thing: two sends were acknowledged at one position without entry",
        sends=[send("b", 0), send("a", 1), send("a", 1, attempt="a/2")],
        log=[entry("b", 0, attempt=None)],
        effects=[{"record": "b"}],
        finds={"lost-write": A},
    )
    yield _one_deviation("its content differs", logged={"digest": "other"}, finds={"corrupt": A})
    yield _one_deviation("its key differs", logged={"key": "other"}, finds={"corrupt": A})
    yield _one_deviation("its entry has no attempt", logged={"attempt": None})
    yield _one_deviation("its entry has no key", logged={"key": None})
    yield _one_deviation("its entry has no digest", logged={"digest": None})
    yield _one_deviation("it has no effect", has_effect=False, finds={"lost-output": A})
    yield _one_deviation(
        "its effect has another key", effect={"effect_key": "x"}, finds={"lost-output": A}
    )
    b, a = {"record": "b"}, {"record": "a"}
    yield _one_deviation("its expected effect exists", expected=[b, a])
    yield _one_deviation(
        "its effect has another content than expected",
        expected=[b, a],
        effect={"digest": "other"},
        finds={"wrong-output": A},
    )
    yield _one_deviation("no effect is expected", expected=[b], finds={"wrong-output": A})
    place = {"source_topic": "input", "source_partition": 0, "source_offset": 1}
    yield sample(
        "one thing: its expected effect exists, with key and source",
        sends=[send("a", 1)],
        log=[entry("a", 1)],
        expected=[a | {"effect_key": "x"}],
        effects=[a | place | {"effect_key": "x"}],
    )
    yield sample(
        "one thing: two effects of one content are expected, and the only one names its source",
        sends=[send("a", 1)],
        log=[entry("a", 1)],
        expected=[a, a],
        effects=[a | place],
        finds={"lost-output": A},
    )
    yield sample(
        "one thing: the sink is empty",
        sends=[send("a", 1)],
        log=[entry("a", 1)],
        finds={"lost-output": A},
    )
    yield sample(
        "one thing: entries never carry attempt, key or digest",
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
        "one thing: two sends were acknowledged at one position, and its entry has no attempt",
        sends=[send("a", 1), send("a", 1, attempt="a/2")],
        log=[entry("a", 1, attempt=None)],
        effects=[a],
        finds={"lost-write": A},
    )


def _torn_transactions() -> Iterator[Sample]:
    """Transactions whose records in the input are all in order."""
    t = [{"topic": "input", "txn": "t"}]
    torn = {"torn-transaction": t}
    to_aside = {"topic": "aside", "txn": "t"}

    def whole(title: str, **more: Any) -> Sample:
        more["sends"] = [send("a", 1, txn="t"), *more.get("sends", ())]
        more["log"] = [entry("a", 1), *more.get("log", ())]
        return sample(f"transaction: {title}", txns=[_COMMITTED], effects=[{"record": "a"}], **more)

    yield whole(
        "a staged position is missing",
        staged=[{"txn": "t", "owner": "group", "topic": "source", "offset": 5}],
        positions=[{"owner": "group", "topic": "source", "offset": 4}],
        finds=torn,
    )
    yield whole(
        "a staged position is committed",
        staged=[{"txn": "t", "owner": "group", "topic": "source", "offset": 5}],
        positions=[{"owner": "group", "topic": "source", "offset": 5}],
    )
    yield whole(
        "another transaction's staged position is missing",
        staged=[{"txn": "x", "owner": "group", "topic": "source", "offset": 5}],
        positions=[{"owner": "group", "topic": "source", "offset": 4}],
    )
    aside = send("c", 3, **to_aside)
    found = entry("c", 3, topic="aside")
    for title, sends, log, partitions, finds in (
        ("a record is missing in another topic", [aside], [], [{"topic": "aside"}], torn),
        ("a record is missing in the input", [send("c", 3, txn="t")], [], [],
         torn | {"lost-write": [{"record": "c"}]}),
        ("another topic was not collected", [aside], [], [], {}),
        ("only a third topic was collected", [aside], [], [{"topic": "else"}], {}),
        ("a record is in another topic", [aside], [found], [], {}),
        ("a record is there without attempt", [aside], [found | {"attempt": None}], [], {}),
        ("the entry there has another record", [aside], [found | {"record": "d"}], [], torn),
        ("the entry there has another attempt", [aside, send("c", 4, topic="aside", attempt="c/2")],
         [found | {"attempt": "c/2"}], [], torn),
        ("the entry is in a third topic", [aside], [found | {"topic": "orders"}],
         [{"topic": "aside"}], torn),
        ("the record is in a third topic, to which it sent another",
         [aside, send("e", 4, topic="orders", txn="t")],
         [found | {"topic": "orders"}, entry("e", 4, topic="orders")], [{"topic": "aside"}], torn),
        ("the entry there is not committed", [aside], [found | {"committed": False}], [], torn),
        ("the entry there is a marker", [aside], [found | {"kind": "commit"}], [], torn),
        ("a non-transactional record is missing in another topic", [aside | {"txn": None}], [],
         [{"topic": "aside"}], {}),
        ("a send has an unknown outcome after a commit", [aside | {"outcome": "info"}], [],
         [{"topic": "aside"}], torn),
        ("a send to the input has an unknown outcome",
         [send("c", 3, txn="t") | {"outcome": "info"}],
         [], [], torn | {"lost-write": [{"record": "c"}]}),
        ("a record with an unknown outcome is there",
         [aside | {"outcome": "info"}], [found], [], {}),
        ("a send to an uncollected topic has an unknown outcome",
         [aside | {"outcome": "info"}], [], [], {}),
        ("a send to another topic failed", [aside | {"outcome": "fail"}], [], [], torn),
    ):  # fmt: skip
        yield whole(title, sends=sends, log=log, partitions=partitions, finds=finds)


def _deleted_sends() -> Iterator[Sample]:
    """Attempts compared with positions where part of the log is deleted."""
    cut = [{"log_start": 5, "last_stable_offset": 9}]

    def counted(title: str, sends: Sequence[Row], log: Sequence[Row], **more: Any) -> Sample:
        return sample(f"account: {title}", sends=sends, log=log, partitions=cut, **more)

    first, second = send("a", 2), send("a", 7, attempt="a/2")
    no_attempt = entry("a", 6, attempt=None)
    lost = {"lost-write": A, "lost-output": A}
    yield counted(
        "the entry may be the send below the log start, another record is lost",
        [first, send("b", 7)],
        [no_attempt],
        finds={"lost-write": [{"record": "b"}], "lost-output": A},
    )
    yield counted(
        "one entry for two sends below the log start",
        [first, send("a", 3, attempt="a/3")],
        [no_attempt],
        finds={"lost-output": A},
        undecided=["lost-write", "lost-output"],
    )
    yield counted(
        "an attempt whose entry is past its acknowledged offset is not deleted",
        [first, second],
        [entry("a", 6)],
        finds=lost,
    )
    yield counted(
        "of two sends without an entry, one may be deleted and one is lost",
        [first, second],
        [],
        finds={"lost-write": A},
        undecided=["lost-write", "lost-output"],
    )
    yield counted(
        "two sends below the log start, the entry is of a third",
        [first, send("a", 3, attempt="a/3"), second],
        [no_attempt],
        finds={"lost-output": A},
        undecided=["lost-write", "lost-output"],
    )
    yield counted(
        "a deleted send with unknown outcome does not excuse a lost one",
        [first | {"outcome": "info"}, second],
        [entry("b", 6)],
        finds={"lost-write": A, "phantom": [{"record": "b"}], "lost-output": [{"record": "b"}]},
    )
    yield sample(
        "account: the same record in another topic is counted separately",
        sends=[first, send("a", 7, attempt="a/2", topic="orders")],
        log=[no_attempt],
        partitions=cut,
        trials=[LEDGER, ORDERS],
        finds={"lost-write": [{"topic": "orders", "record": "a"}], "lost-output": A},
    )


def _corrupt() -> Iterator[Sample]:
    """Entries that match no attempt."""
    yield sample(
        "corrupt: each altered entry is found",
        sends=[send("a", 6)],
        log=[
            entry("a", offset, partition=partition, digest="other")
            for partition, offset in ((0, 6), (1, 6), (1, 7))
        ],
        finds={"corrupt": A, "duplicate": A},
        phases=CUT_SHORT,
    )
    yield sample(
        "corrupt: an entry at the acknowledged place of another topic does not count",
        sends=[send("a", 6)],
        log=[entry("a", 6, partition=1), entry("a", 6, topic="orders")],
        trials=[LEDGER, ORDERS],
        finds={
            "corrupt": [{"topic": "input", "record": "a"}, {"topic": "orders", "record": "a"}],
        },
        phases=CUT_SHORT,
    )


def _contradictions() -> Iterator[Sample]:
    """Observations of a position that do or do not contradict each other."""

    def claimed(title: str, finds: bool, **tables: Any) -> Sample:
        place = [{"topic": "input", "partition": 0, "offset": 6}]
        found = {"inconsistent-offsets": place} if finds else {}
        return sample(f"place: {title}", finds=found, phases=CUT_SHORT, **tables)

    a, other = {"record": "a", "offset": 6}, {"session": "other"}
    unread = other | {"record": None}
    yield claimed("two readers agree", False, reads=[a, a | other], log=[a])
    yield claimed("a reader saw an unknown record", False, reads=[a, a | unread], log=[a])
    yield claimed("the log has an unknown record", False, reads=[a], log=[a | {"record": None}])
    yield claimed(
        "a reader saw another record than the log has", True, reads=[a], log=[a | {"record": "b"}]
    )
    yield claimed(
        "a reader saw another record than a marker names", False,
        reads=[a], log=[a | {"record": "b", "kind": "commit"}],
    )  # fmt: skip
    yield claimed("another topic", False, reads=[a], log=[a | {"record": "b", "topic": "orders"}])
    yield claimed("another partition", False, reads=[a], log=[a | {"record": "b", "partition": 1}])
    yield claimed("another offset", False, reads=[a], log=[a | {"record": "b", "offset": 7}])
    b = {"record": "b", "attempt": "b/1", "partition": 0, "offset": 6}
    yield claimed(
        "two sends with unknown outcome have one position", False,
        sends=[b | {"outcome": "info"}, b | {"record": "c", "attempt": "c/1"}],
    )  # fmt: skip
    yield claimed(
        "two sends were acknowledged at one offset of an unknown partition", False,
        sends=[b | {"partition": None}, b | {"record": "c", "attempt": "c/1", "partition": None}],
    )  # fmt: skip
    yield claimed(
        "two sends were acknowledged at one position",
        True,
        sends=[b, b | {"record": "c", "attempt": "c/1"}],
    )
    yield claimed(
        "two sends were acknowledged at offset -1", False,
        sends=[b | {"offset": -1}, b | {"record": "c", "attempt": "c/1", "offset": -1}],
    )  # fmt: skip
    yield claimed(
        "two sends of one record were acknowledged at one position",
        False,
        sends=[b, b | {"attempt": "b/2"}],
    )


def _reordered() -> Iterator[Sample]:
    """a was sent before b; the samples vary where it was appended."""

    def order(title: str, *attempts: str, **more: Any) -> Sample:
        return sample(
            f"order: {title}",
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
        "different sessions",
        sends=[send("a", 7, ordinal=0), send("b", 6, ordinal=1, session="other")],
        log=[entry("a", 7), entry("b", 6)],
    )
    yield order(
        "sends of one record are told apart by attempt",
        "a/2",
        sends=[send("a", 7, ordinal=0), send("a", 6, ordinal=0, attempt="a/2")],
        log=[entry("a", 7), entry("a", 6, attempt="a/2")],
    )
    yield order(
        "sends of one record are told apart by attempt, in order",
        sends=[send("a", 6, ordinal=0), send("a", 7, ordinal=0, attempt="a/2")],
        log=[entry("a", 6), entry("a", 7, attempt="a/2")],
    )
    yield order(
        "an entry with another record's attempt comes from its record's only send",
        "b/1",
        sends=sent("a", "b", "c"),
        log=[entry("b", 6), entry("a", 7, attempt="c/1")],
    )
    for title, extra, attempts in (
        ("has one possible send in this topic", {"topic": "orders"}, ["b/1"]),
        ("has two possible sends", {}, []),
    ):
        yield order(
            f"an entry without attempt {title}",
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
    *_one_deviations(), *_torn_transactions(), *_deleted_sends(), *_corrupt(),
    *_contradictions(), *_reordered(),
)  # fmt: skip
