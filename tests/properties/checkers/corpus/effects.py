"""Effects of records: how many, whose, from where, with what content and in what order.

Where every effect names its position, positions are judged one by one; one
effect of another record that names none (`_LOOSE`) is enough that records are judged as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from tests.properties.checkers.corpus.base import (
    CUT_SHORT,
    JOURNAL,
    LEDGER,
    LETTERS,
    ONCE,
    Sample,
    sample,
)
from tests.properties.checkers.world import Trial

AUDIT: Final = Trial(topic="input", sink="audit", view="journal")
ORDERS: Final = Trial(topic="orders", sink="ledger", view="table")
OTHER: Final = Trial(topic="input", sink="ledger", view="other")
LATE: Final = (
    {"phase": "settle", "outcome": "failed"},
    {"phase": "collect", "outcome": "ok", "started_at": 100},
)
"""Collected whole, but not settled."""


def _at(offset: int | None, record: str, partition: int = 0, **more: Any) -> dict[str, Any]:
    """An entry of the log."""
    return {"record": record, "partition": partition, "offset": offset, **more}


def _of(offset: int, record: str, partition: int = 0, **more: Any) -> dict[str, Any]:
    """An effect that names where it comes from."""
    place = {"source_topic": "input", "source_partition": partition, "source_offset": offset}
    return {"record": record} | place | more


_LOOSE: Final = {"record": "z"}
_Z: Final = _at(99, "z")


def _of_places() -> Iterator[Sample]:
    yield sample(
        "a record that was sent and appended in good order has no effect, and nothing else happens",
        sends=[{"attempt": "a/1", "record": "a", "partition": 0, "offset": 6}],
        log=[_at(6, "a", attempt="a/1")],
        finds={"lost-output": [{"record": "a"}]},
        alone=True,
    )
    yield sample(
        "of three positions of a record one has two effects and one none",
        log=[_at(0, "a"), _at(1, "a"), _at(1, "a", 1)],
        effects=[_of(0, "a"), _of(0, "a"), _of(1, "a")],
        finds={"duplicate-output": [{"record": "a"}], "lost-output": [{"record": "a"}]},
    )
    yield sample(
        "of two positions at one offset one has two effects",
        log=[_at(0, "a"), _at(0, "a", 1)],
        effects=[_of(0, "a"), _of(0, "a"), _of(0, "a", 1)],
        finds={"duplicate-output": [{"record": "a"}]},
    )
    yield sample(
        "the last position of a record has its effect, the first has not",
        log=[_at(0, "a"), _at(1, "a")],
        effects=[_of(1, "a")],
        finds={"lost-output": [{"record": "a"}]},
    )
    yield sample(
        "of a record's positions only one must still be there",
        trials=(LEDGER, ONCE),
        log=[_at(0, "a"), _at(0, "a", 1), _at(1, "a", 1)],
        partitions=[{"partition": 0, "log_start": 5}],
        finds={"lost-output": [{"record": "a"}, {"record": "a"}]},
    )
    sent = [{"record": "a", "attempt": "a/1"}, {"record": "a", "attempt": "a/2"}]
    copied = [_at(0, "a") | sent[0], _at(6, "a") | sent[0]]
    for tells, log, effects, start, lost in (
        ("one effect", copied, 1, 0, False),
        ("no effect", copied, 0, 0, True),
        ("no effect, and one that may never have been read", copied, 0, 5, True),
        ("one effect, of two sends", [*copied, _at(7, "a") | sent[1]], 1, 0, True),
    ):
        yield sample(
            f"a send that its producer wrote twice has {tells}",
            sends=sent[: 1 + (len(log) > 2)],
            log=log,
            effects=[{"record": "a"}] * effects,
            partitions=[{"partition": 0, "log_start": start}],
            finds={
                "duplicate": [{"record": "a"}],
                **({"lost-output": [{"record": "a"}]} if lost else {}),
            },
        )
    for tells, records in (("one effect of two positions", "aa"), ("its effect", "a")):
        yield sample(
            f"a record has {tells}, of which nobody knows whether they could be read",
            log=[_at(offset, record) for offset, record in enumerate(records)],
            partitions=[{"partition": 0, "log_start": 5}],
            effects=[{"record": "a"}],
            undecided={"lost-output"} if len(records) > 1 else (),
        )
    yield sample(
        "two records without effects, of which nobody knows whether they could be read",
        trials=(LEDGER, ONCE),
        log=[_at(0, "a"), _at(1, "b")],
        partitions=[{"partition": 0, "log_start": 5}],
        undecided={"lost-output"},
    )
    yield sample(
        "both effects of a record are missing, and two owners executed the batch that it was in",
        log=[_at(0, "a")],
        expected=[{"record": "a"}, {"record": "a", "effect_key": "x"}],
        ranges=[
            {"owner": "p", "batch": 1, "end_offset": 1},
            {"owner": "q", "batch": 2, "end_offset": 1},
        ],
        finds={
            "lost-output": [
                {"record": "a", "effect_key": ""},
                {"record": "a", "effect_key": "x"},
            ]
        },
    )
    yield sample(
        "of three batches that meet at an offset one executed what is lost, and what is duplicated",
        log=[_at(14, "a"), _at(14, "b", 1)],
        effects=[{"record": "b"}] * 2,
        ranges=[
            {"owner": owner, "batch": batch, "partition": partition, "start_offset": start,
             "end_offset": end}
            for partition in (0, 1)
            for owner, batch, start, end in (("o", 1, 0, 14), ("p", 2, 15, 30), ("q", 3, 2, 15))
        ],
        finds={"lost-output": [{"record": "a"}], "duplicate-output": [{"record": "b"}]},
    )  # fmt: skip
    yield sample(
        "an effect names a position that holds its record in another topic",
        trials=(LEDGER, ORDERS),
        log=[_at(0, "a", topic="orders"), _at(5, "a")],
        effects=[_of(0, "a"), _of(5, "a")],
        finds={"unfounded-output": [{"record": "a"}], "lost-output": [{"record": "a"}]},
    )
    yield sample(
        "an effect names the very start of the log, where nothing stands",
        log=[_at(3, "a")],
        partitions=[{"partition": 0, "log_start": 2}],
        effects=[_of(2, "a"), _of(3, "a")],
        finds={"unfounded-output": [{"record": "a"}]},
    )


def _of_foreigners() -> Iterator[Sample]:
    """Records of another topic have effects in the same sink."""
    sent = [{"record": "x", "topic": "orders"}]
    foreign = {"record": "x"}
    yield sample(
        "a record has no effects, and the only others are foreign",
        sends=sent,
        log=[_at(0, "a"), _at(1, "a")],
        effects=[foreign, foreign],
        finds={"lost-output": [{"record": "a"}]},
    )
    yield sample(
        "each position is judged, in spite of two foreign effects that name none",
        sends=sent,
        log=[_at(0, "a"), _at(1, "a")],
        effects=[_of(0, "a"), _of(0, "a"), foreign, foreign],
        finds={"duplicate-output": [{"record": "a"}], "lost-output": [{"record": "a"}]},
    )
    yield sample(
        "beside a foreign effect one of this input names no position",
        sends=sent,
        log=[_at(0, "a"), _at(1, "a"), _Z],
        effects=[_of(0, "a"), _of(0, "a"), foreign, _LOOSE],
        finds={"duplicate-output": [{"record": "a"}]},
    )
    orders = {"topic": "orders"}
    yield sample(
        "what is foreign to one topic is at home in the other",
        trials=(LEDGER, ORDERS),
        sends=[*sent, {"record": "b", **orders}, {"record": "b", **orders}],
        log=[_at(0, "b", **orders), _at(1, "b", **orders), _at(2, "x", **orders)],
        effects=[
            _of(0, "b", source_topic="orders"),
            _of(0, "b", source_topic="orders"),
            foreign,
        ],
        finds={"duplicate-output": [{"record": "b"}]},
    )
    yield sample(
        "a record of another topic has a foreign effect and one that names this input",
        sends=sent,
        log=[_at(0, "a"), _at(1, "a")],
        effects=[_of(0, "a"), _of(0, "a"), foreign, _of(5, "x")],
        finds={
            "duplicate-output": [{"record": "a"}],
            "lost-output": [{"record": "a"}],
            "unfounded-output": [{"record": "x"}],
        },
    )


def _of_doubles() -> Iterator[Sample]:
    """The rows that tell of a duplicate."""
    same = {"position": "row", "ordinal": 0}
    yield sample(
        "two records that were sent twice have three effects each at one place of the sink",
        log=[_at(0, "a"), _at(1, "a"), _at(2, "b"), _at(3, "b")],
        effects=[{"record": r, **same} for r in "aaabbb"],
        finds={"duplicate-output": [{"record": "a"}, {"record": "b"}]},
    )
    yield sample(
        "two kinds of effects of a record are duplicated at one place of the sink",
        log=[_at(0, "a"), _at(1, "a")],
        expected=[{"record": "a"}, {"record": "a", "effect_key": "x"}],
        effects=[{"record": "a", "effect_key": key, **same} for key in ("", "x") * 3],
        finds={
            "duplicate-output": [
                {"record": "a", "effect_key": ""},
                {"record": "a", "effect_key": "x"},
            ]
        },
    )
    yield sample(
        "three effects are too many for two positions, and for the one that they name",
        log=[_at(0, "a"), _at(1, "a"), _Z],
        effects=[_of(0, "a"), _of(0, "a"), _of(0, "a"), _LOOSE],
        finds={"duplicate-output": [{"record": "a"}]},
    )
    yield sample(
        "effects at one place of the sink name three positions, of which one is right",
        log=[_at(0, "a"), _Z],
        effects=[_of(0, "a", **same), _of(7, "a", **same), _of(0, "a", 1, **same), _LOOSE],
        finds={"duplicate-output": [{"record": "a"}], "unfounded-output": [{"record": "a"}]},
    )
    yield sample(
        "a dead letter and an effect stand at the same place of their sinks",
        trials=(LETTERS,),
        log=[_at(0, "a")],
        effects=[{"record": "a", **same}, {"record": "a", "sink": "letters", **same}],
        finds={"duplicate-output": [{"record": "a", "effect_key": ""}]},
    )
    yield sample(
        "two owners each executed the batch that an input was in",
        log=[_at(0, "a")],
        effects=[{"record": "a", "position": "row 1"}, {"record": "a", "position": "row 2"}],
        ranges=[
            {"owner": "p", "batch": 1, "end_offset": 1},
            {"owner": "q", "batch": 2, "end_offset": 1},
        ],
        finds={"duplicate-output": [{"record": "a"}]},
    )
    yield sample(
        "three effects are too many for two positions, and for the only one of another topic",
        trials=(LEDGER, ORDERS),
        log=[_at(0, "a"), _at(1, "a"), _at(7, "a", topic="orders")],
        effects=[{"record": "a"}] * 3,
        finds={"duplicate-output": [{"record": "a"}, {"record": "a"}]},
    )
    yield sample(
        "where an effect comes from that names nothing, its neighbour in the sink does not say",
        log=[_at(0, "a"), _at(1, "a")],
        effects=[
            {"record": "a", "position": "row", "ordinal": 0},
            _of(0, "a", position="row", ordinal=1),
            _of(1, "a", position="row", ordinal=2),
        ],
        finds={"duplicate-output": [{"record": "a"}]},
    )


def _of_letters() -> Iterator[Sample]:
    letter = {"sink": "letters"}
    yield sample(
        "of two positions of a record one went to the dead letters, and one is lost",
        trials=(LETTERS,),
        log=[_at(0, "a"), _at(1, "a"), _at(2, "b"), _at(3, "c")],
        effects=[{"record": "a", **letter}, {"record": "b", **letter}],
        finds={"lost-output": [{"record": "a"}, {"record": "c"}]},
    )
    yield sample(
        "of two positions of a record one went to the dead letters, and two effects are left",
        trials=(LETTERS,),
        log=[_at(0, "a"), _at(1, "a")],
        effects=[{"record": "a", **letter}, {"record": "a"}, {"record": "a"}],
        finds={"duplicate-output": [{"record": "a"}]},
    )
    yield sample(
        "nobody knows whether a record could be read that needs no effect",
        log=[_at(0, "a")],
        partitions=[{"partition": 0, "log_start": 5}],
        expected=[{"record": "a", "optional": True}],
    )
    yield sample(
        "dead letters that name a half of their source name none",
        trials=(LETTERS,),
        log=[_at(0, "a"), _at(1, "b"), _at(2, "c"), _at(3, "d")],
        effects=[
            {"record": record, **letter, "source_topic": topic, "source_partition": partition,
             "source_offset": offset}
            for record, topic, partition, offset in (
                ("a", None, 1, 7), ("b", "input", None, 7), ("c", "input", 1, None),
                ("d", None, None, 7),
            )
            for _ in range(2)
        ],
        finds={"duplicate-output": [{"record": r, "effect_key": "~dead-letter"} for r in "abcd"]},
    )  # fmt: skip


def _of_journals() -> Iterator[Sample]:
    """Two changes of one position; one would be right."""
    half = {"source_topic": "input", "source_partition": 1}
    place = {"source_partition": 0, "source_offset": 0}
    upsert = {"operation": "upsert"}
    for tells, one, other in (
        ("appended twice, with a half of the source", half, half),
        ("upserts of unknown content", upsert, upsert),
        ("upserts, of which one does not name the topic",
         {**upsert, "digest": "d", **place},
         {**upsert, "digest": "d", **place, "source_topic": "input"}),
    ):  # fmt: skip
        yield sample(
            f"changes of a journal: {tells}",
            trials=(JOURNAL,),
            log=[_at(0, "a")],
            journal=[{"record": "a", **one}, {"record": "a", **other}],
            finds={"duplicate-output": [{"record": "a"}]},
        )
    yield sample(
        "changes of a journal: upserts of two contents",
        trials=(JOURNAL,),
        log=[_at(0, "a")],
        journal=[{"record": "a", **upsert, "digest": d} for d in ("d1", "d2")],
        finds={"duplicate-output": [{"record": "a"}]},
    )
    gone = {"operation": "delete", "record": "a"}
    for tells, deleted, again, twice in (
        ("was deleted between", {}, {}, True),
        ("was deleted by another transaction", {"transaction": "s1"}, {"transaction": "s2"}, True),
        ("was deleted by the same transaction", {"transaction": "s1"}, {"transaction": "s1"},
         False),
        ("stands beside another that was deleted", {"record": "b"}, {}, False),
        ("has another effect that was deleted", {"effect_key": "k"}, {}, False),
        ("was deleted in another sink", {"sink": "audit"}, {}, False),
    ):  # fmt: skip
        yield sample(
            f"changes of a journal: what is upserted again {tells}",
            trials=(JOURNAL,),
            log=[_at(0, "a")],
            journal=[
                {"record": "a", **upsert, "digest": "d"},
                gone | deleted,
                {"record": "a", **upsert, "digest": "d", **again},
            ],
            finds={"duplicate-output": [{"record": "a"}]} if twice else {},
        )
    yield sample(
        "changes of a journal: it was sent twice, and came back twice after it was deleted",
        trials=(JOURNAL,),
        log=[_at(0, "a"), _at(1, "a")],
        journal=[*[{"record": "a", **upsert, "digest": "d"}, gone] * 2,
                 {"record": "a", **upsert, "digest": "d"}],
        finds={"duplicate-output": [{"record": "a"}]},
    )  # fmt: skip
    yield sample(
        "changes of a journal: it came back in two sinks, at the same time",
        trials=(JOURNAL, AUDIT),
        log=[_at(0, "a")],
        journal=[
            {**change, "sink": sink, "ordinal": ordinal}
            for sink in ("ledger", "audit")
            for ordinal, change in enumerate(
                [{"record": "a", **upsert, "digest": "d"}, gone,
                 {"record": "a", **upsert, "digest": "d"}]
            )
        ],
        finds={"duplicate-output": [{"record": "a", "sink": "ledger"},
                                    {"record": "a", "sink": "audit"}]},
    )  # fmt: skip
    yield sample(
        "changes of a journal: upserts of one content from three positions",
        trials=(JOURNAL,),
        log=[_at(0, "a")],
        journal=[
            {**_of(0, "a"), **upsert, "digest": "d"},
            {**_of(7, "a"), **upsert, "digest": "d"},
            {**_of(0, "a", 1), **upsert, "digest": "d"},
        ],
        finds={"unfounded-output": [{"record": "a"}]},
    )


def _of_the_unfinished() -> Iterator[Sample]:
    """The log may hold more than was collected."""
    sent = {"returned_at": 5}
    yield sample(
        "of records with two effects each, one was certainly sent only once",
        phases=LATE,
        sends=[
            {"record": "a", **sent},
            {"record": "b", **sent},
            {"record": "c", "outcome": "info"},
        ],
        log=[_at(0, "a"), _at(1, "b"), _at(2, "c")],
        effects=[{"record": r} for r in "aabcc"],
        finds={"duplicate-output": [{"record": "a"}]},
        undecided={"duplicate-output"},
    )
    yield sample(
        "a record was certainly sent only once to one topic, and perhaps twice to another",
        trials=(LEDGER, ORDERS),
        phases=LATE,
        sends=[
            {"record": "a", "outcome": "info"},
            {"record": "a", "topic": "orders", **sent},
        ],
        log=[_at(0, "a"), _at(0, "a", topic="orders")],
        effects=[{"record": "a"}, {"record": "a"}],
        finds={"duplicate-output": [{"record": "a"}]},
        undecided={"duplicate-output"},
    )
    yield sample(
        "two effects name a position that was not committed",
        phases=CUT_SHORT,
        log=[_at(0, "a", committed=False), _at(1, "a"), _Z],
        effects=[_of(0, "a"), _of(0, "a"), _LOOSE],
        undecided={"duplicate-output"},
    )
    yield sample(
        "three effects name a position that holds another record",
        phases=CUT_SHORT,
        log=[_at(0, "b"), _at(1, "a"), _at(0, "a", 1), _Z],
        effects=[*3 * [_of(0, "a")], _LOOSE, {"record": "b"}],
        undecided={"duplicate-output"},
    )


def _of_the_deleted() -> Iterator[Sample]:
    """Two effects name a position where nothing stands, beside one that does."""
    log = [_at(6, "a"), _at(7, "c"), _Z]
    effects = [_of(0, "a"), _of(0, "a"), _of(5, "c"), _of(5, "c"), _LOOSE]
    for tells, partition, unfounded in (
        ("before the start of the log", {"log_start": 5}, "c"),
        ("before the start of another partition", {"partition": 1, "log_start": 9}, "ac"),
        ("in a compacted partition", {"cleanup_policy": "compact"}, ""),
        ("beside a compacted partition", {"partition": 1, "cleanup_policy": "compact"}, "ac"),
    ):
        proven = {"a", "c"} - set(unfounded)
        yield sample(
            f"two effects name a position {tells}",
            log=log,
            partitions=[partition],
            effects=effects,
            finds={
                "duplicate-output": [{"record": r} for r in sorted(proven)],
                "unfounded-output": [{"record": r} for r in unfounded],
            },
            undecided={"duplicate-output"},
        )


def _of_contents() -> Iterator[Sample]:
    def content(record: str, *digests: str, key: str = "") -> list[dict[str, Any]]:
        return [{"record": record, "effect_key": key, "digest": d} for d in digests]

    both = ("d1", "d2")
    yield sample(
        "of two records with two kinds of effects one has one content twice",
        log=[_at(0, "a"), _at(1, "b")],
        expected=[*content("a", *both), *content("a", *both, key="x"),
                  *content("b", *both), *content("b", *both, key="x")],
        effects=[*content("a", *both), *content("a", *both, key="x"),
                 *content("b", *both), *content("b", "d1", "d1", key="x")],
        finds={"wrong-output": [{"record": "b", "effect_key": "x"}]},
    )  # fmt: skip
    yield sample(
        "of two views one has one content twice",
        trials=(LEDGER, OTHER),
        log=[_at(0, "a")],
        expected=content("a", *both),
        effects=[
            *content("a", *both),
            *({**effect, "view": "other"} for effect in content("a", "d1", "d1")),
        ],
        finds={"wrong-output": [{"view": "other", "record": "a"}]},
    )
    yield sample(
        "of three contents one is there twice, one once and one not",
        log=[_at(0, "a")],
        expected=content("a", *both, "d3"),
        effects=content("a", "d1", "d1", "d2"),
        finds={"wrong-output": [{"record": "a"}]},
    )
    yield sample(
        "two positions have two contents each",
        log=[_at(0, "a"), _at(1, "a")],
        expected=content("a", *both),
        effects=content("a", *both, *both),
    )
    yield sample(
        "a content is there twice, and nobody knows how often its record is",
        phases=CUT_SHORT,
        log=[_at(0, "a")],
        expected=content("a", *both),
        effects=content("a", "d1", "d1"),
    )
    yield sample(
        "the second kind of effects has a content that is nowhere expected",
        log=[_at(0, "a")],
        expected=[*content("a", "d1"), *content("a", "d5", key="x")],
        effects=[*content("a", "d1"), *content("a", "d9", key="x")],
        finds={"wrong-output": [{"record": "a", "effect_key": "x"}]},
    )
    yield sample(
        "two of four positions have one content twice",
        log=[_at(0, "a"), _at(1, "a"), _at(0, "a", 1), _at(1, "a", 1)],
        expected=content("a", "d1", "d2"),
        effects=[
            _of(0, "a", digest="d1"), _of(0, "a", digest="d1"),
            _of(1, "a", digest="d1"), _of(1, "a", digest="d2"),
            _of(0, "a", 1, digest="d1"), _of(0, "a", 1, digest="d2"),
            _of(1, "a", 1, digest="d2"), _of(1, "a", 1, digest="d2"),
        ],
        finds={"wrong-output": [{"record": "a"}]},
    )  # fmt: skip
    yield sample(
        "of two contents that are alike and another there are three alike",
        log=[_at(0, "a")],
        expected=content("a", "d1", "d1", "d2"),
        effects=content("a", "d1", "d1", "d1"),
        finds={"wrong-output": [{"record": "a"}]},
    )
    yield sample(
        "of two contents that are alike and another the other is missing",
        log=[_at(0, "a")],
        expected=content("a", "d1", "d1", "d2"),
        effects=content("a", "d1", "d1"),
        finds={"lost-output": [{"record": "a"}]},
    )


def _of_order() -> Iterator[Sample]:
    k, j = {"key": "k"}, {"key": "j"}
    yield sample(
        "keys and partitions have orders of their own, in which equals are in order",
        log=[
            _at(0, "a", **j), _at(1, "b", **k), _at(2, "c", **k), _at(3, "d", **k),
            _at(4, "e", **j), _at(5, "f", **k), _at(0, "g", 1, **k), _at(1, "h", 1, **k),
        ],
        effects=[
            _of(0, "a", ordinal=20), _of(1, "b", ordinal=9), _of(2, "c", ordinal=9),
            _of(3, "d", ordinal=1), _of(4, "e", ordinal=9), _of(5, "f", ordinal=5),
            _of(0, "g", 1, ordinal=9), _of(1, "h", 1, ordinal=30),
        ],
        finds={
            "reordered-output": [
                {"key": "k", "offset": 3}, {"key": "j", "offset": 4}, {"key": "k", "offset": 5},
            ]
        },
    )  # fmt: skip
    yield sample(
        "two partitions with the same offsets, of which one is in order",
        log=[_at(0, "a", **k), _at(1, "b", **k), _at(0, "c", 1, **k), _at(1, "d", 1, **k)],
        effects=[
            _of(0, "a", ordinal=5), _of(1, "b", ordinal=7),
            _of(0, "c", 1, ordinal=9), _of(1, "d", 1, ordinal=8),
        ],
        finds={"reordered-output": [{"partition": 1, "offset": 1}]},
    )  # fmt: skip
    log = [_at(0, "a", **k), _at(1, "b", **k)]
    yield sample(
        "the first effect of a record was in order, and is repeated later",
        log=log,
        effects=[_of(0, "a"), _of(1, "b"), _of(0, "a")],
        finds={"duplicate-output": [{"record": "a"}]},
    )
    yield sample(
        "effects that name nothing in another order than records with a key have elsewhere",
        trials=(LEDGER, ORDERS),
        log=[_at(0, "a"), _at(1, "b"), *({**entry, "topic": "orders"} for entry in log)],
        effects=[{"record": "b"}, {"record": "a"}],
        finds={"reordered-output": [{"key": "k", "offset": 1}]},
    )
    yield sample(
        "a later record went to the dead letters first",
        trials=(LETTERS,),
        log=log,
        effects=[_of(1, "b", sink="letters"), _of(0, "a")],
    )
    yield sample(
        "the first effect that names an input's position is of another record",
        log=[*log, _at(2, "x")],
        effects=[_of(1, "x"), _of(0, "a"), _of(1, "b"), _of(2, "x")],
        finds={"unfounded-output": [{"record": "x"}]},
    )
    yield sample(
        "effects in another order than records have in another topic",
        trials=(LEDGER, ORDERS),
        log=[{**entry, "topic": "orders"} for entry in log],
        effects=[_of(1, "b"), _of(0, "a")],
        finds={
            "phantom-output": [{"record": "a"}, {"record": "b"}],
            "lost-output": [{"record": "a"}, {"record": "b"}],
        },
    )
    yield sample(
        "the first effect of a record names a position where it does not stand",
        log=log,
        effects=[_of(7, "b"), {"record": "a"}, {"record": "b"}],
        finds={"unfounded-output": [{"record": "b"}], "duplicate-output": [{"record": "b"}]},
    )
    yield sample(
        "the first effect of a record is a dead letter",
        trials=(LETTERS,),
        log=log,
        effects=[{"record": "b", "sink": "letters"}, {"record": "a"}, {"record": "b"}],
        finds={"duplicate-output": [{"record": "b"}]},
    )


def _of_deleted_inputs() -> Iterator[Sample]:
    """Acknowledged, and deleted from the log since: was it ever read?"""
    a, b = (
        {"attempt": f"a/{n}", "record": "a", "partition": 0, "offset": n, "outcome": "ok"}
        for n in (1, 2)
    )
    twice = [{"record": "a", "effect_key": key} for key in ("x", "y")]
    of_a = {"record": "a"}
    letter = of_a | {"sink": "letters"}
    for tells, trial, sends, effects, expected, undecided in (
        ("no effect", LEDGER, [a], [], [], True),
        ("its effect", LEDGER, [a], [of_a], [], False),
        ("one effect of two sends", LEDGER, [a, b], [of_a], [], True),
        ("one effect of two sends is enough", ONCE, [a, b], [of_a], [], False),
        ("no effect, and none is asked for", LEDGER, [a], [], [{"record": "z"}], False),
        ("none of the effects that are asked for", LEDGER, [a], [], twice, True),
        ("one of the effects that are asked for", LEDGER, [a], [of_a | twice[0]], twice, True),
        ("a dead letter", LETTERS, [a], [letter], [], False),
        ("two dead letters of two sends", LETTERS, [a, b], 2 * [letter], [], False),
        (
            "dead letters of two sends, by their positions",
            LETTERS,
            [a, b],
            [_of(n, "a", sink="letters") for n in (1, 2)],
            [],
            False,
        ),
        ("a send that nobody heard of", LEDGER, [a | {"outcome": "info"}], [], [], False),
    ):
        yield sample(
            f"deleted: {tells}",
            trials=(trial,),
            sends=sends,
            effects=effects,
            expected=expected,
            partitions=[{"partition": 0, "log_start": 5}],
            undecided=(
                ({"lost-output"} if undecided else set())
                | ({"lost-write"} if sends[0]["outcome"] == "ok" else set())
                | ({"unfounded-output"} if effects else set())
            ),
        )
    yield sample(
        "deleted: a dead letter of another sink",
        trials=(LETTERS, OTHER),
        sends=[a],
        effects=[letter],
        expected=[of_a],
        partitions=[{"partition": 0, "log_start": 5}],
        undecided={"lost-output", "lost-write", "unfounded-output"},
    )


SAMPLES: Final = (
    *_of_places(),
    *_of_foreigners(),
    *_of_doubles(),
    *_of_letters(),
    *_of_journals(),
    *_of_the_unfinished(),
    *_of_the_deleted(),
    *_of_deleted_inputs(),
    *_of_contents(),
    *_of_order(),
)
