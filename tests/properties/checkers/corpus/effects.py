"""Effects of records: their number, source, content and order.

If every effect names its source position, each position is judged separately. A single effect of
another record without one (`_LOOSE_EFFECT`) suffices for records to be judged as a whole.
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
UNSETTLED: Final = (
    {"phase": "settle", "outcome": "failed"},
    {"phase": "collect", "outcome": "ok", "started_at": 100},
)
"""Completely collected, but not settled."""


def _entry(offset: int | None, record: str, partition: int = 0, **more: Any) -> dict[str, Any]:
    """A log entry."""
    return {"record": record, "partition": partition, "offset": offset, **more}


def _effect(offset: int, record: str, partition: int = 0, **more: Any) -> dict[str, Any]:
    """An effect that names its source position."""
    place = {"source_topic": "input", "source_partition": partition, "source_offset": offset}
    return {"record": record} | place | more


_LOOSE_EFFECT: Final = {"record": "z"}
_LOOSE_ENTRY: Final = _entry(99, "z")


def _source_positions() -> Iterator[Sample]:
    yield sample(
        "a record that was sent and appended correctly has no effect",
        sends=[{"attempt": "a/1", "record": "a", "partition": 0, "offset": 6}],
        log=[_entry(6, "a", attempt="a/1")],
        finds={"lost-output": [{"record": "a"}]},
        alone=True,
    )
    yield sample(
        "a record at three positions: one has two effects, one has none",
        log=[_entry(0, "a"), _entry(1, "a"), _entry(1, "a", 1)],
        effects=[_effect(0, "a"), _effect(0, "a"), _effect(1, "a")],
        finds={"duplicate-output": [{"record": "a"}], "lost-output": [{"record": "a"}]},
    )
    yield sample(
        "a record at one offset of two partitions: one has two effects",
        log=[_entry(0, "a"), _entry(0, "a", 1)],
        effects=[_effect(0, "a"), _effect(0, "a"), _effect(0, "a", 1)],
        finds={"duplicate-output": [{"record": "a"}]},
    )
    yield sample(
        "a record at two positions: only the last has an effect",
        log=[_entry(0, "a"), _entry(1, "a")],
        effects=[_effect(1, "a")],
        finds={"lost-output": [{"record": "a"}]},
    )
    yield sample(
        "a record at three positions: the log start cuts off one of them",
        trials=(LEDGER, ONCE),
        log=[_entry(0, "a"), _entry(0, "a", 1), _entry(1, "a", 1)],
        partitions=[{"partition": 0, "log_start": 5}],
        finds={"lost-output": [{"record": "a"}, {"record": "a"}]},
    )
    sent = [{"record": "a", "attempt": "a/1"}, {"record": "a", "attempt": "a/2"}]
    copied = [_entry(0, "a") | sent[0], _entry(6, "a") | sent[0]]
    for title, log, effects, log_start, lost in (
        ("one effect", copied, 1, 0, False),
        ("no effect", copied, 0, 0, True),
        ("no effect, and its first entry may be deleted", copied, 0, 5, True),
        ("one effect, and was sent again", [*copied, _entry(7, "a") | sent[1]], 1, 0, True),
    ):
        yield sample(
            f"a send that its producer appended twice has {title}",
            sends=sent[: 1 + (len(log) > 2)],
            log=log,
            effects=[{"record": "a"}] * effects,
            partitions=[{"partition": 0, "log_start": log_start}],
            finds={
                "duplicate": [{"record": "a"}],
                **({"lost-output": [{"record": "a"}]} if lost else {}),
            },
        )
    for title, records in (("one effect for two positions", "aa"), ("its effect", "a")):
        yield sample(
            f"a record has {title}, and is below the log start",
            log=[_entry(offset, record) for offset, record in enumerate(records)],
            partitions=[{"partition": 0, "log_start": 5}],
            effects=[{"record": "a"}],
            undecided={"lost-output"} if len(records) > 1 else (),
        )
    yield sample(
        "two records below the log start have no effects",
        trials=(LEDGER, ONCE),
        log=[_entry(0, "a"), _entry(1, "b")],
        partitions=[{"partition": 0, "log_start": 5}],
        undecided={"lost-output"},
    )
    yield sample(
        "both effects of a record are missing, and two owners executed its batch",
        log=[_entry(0, "a")],
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
        "three batches meet at an offset, and one executed the lost and the duplicated input",
        log=[_entry(14, "a"), _entry(14, "b", 1)],
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
        "an effect names a position that has its record only in another topic",
        trials=(LEDGER, ORDERS),
        log=[_entry(0, "a", topic="orders"), _entry(5, "a")],
        effects=[_effect(0, "a"), _effect(5, "a")],
        finds={"unfounded-output": [{"record": "a"}], "lost-output": [{"record": "a"}]},
    )
    yield sample(
        "an effect names the log start, which has no entry",
        log=[_entry(3, "a")],
        partitions=[{"partition": 0, "log_start": 2}],
        effects=[_effect(2, "a"), _effect(3, "a")],
        finds={"unfounded-output": [{"record": "a"}]},
    )


def _effects_of_other_topics() -> Iterator[Sample]:
    """Records of another topic have effects in the same sink."""
    sent = [{"record": "x", "topic": "orders"}]
    foreign = {"record": "x"}
    yield sample(
        "a record has no effects, and all others are of another topic",
        sends=sent,
        log=[_entry(0, "a"), _entry(1, "a")],
        effects=[foreign, foreign],
        finds={"lost-output": [{"record": "a"}]},
    )
    yield sample(
        "each position is judged, although effects of another topic name none",
        sends=sent,
        log=[_entry(0, "a"), _entry(1, "a")],
        effects=[_effect(0, "a"), _effect(0, "a"), foreign, foreign],
        finds={"duplicate-output": [{"record": "a"}], "lost-output": [{"record": "a"}]},
    )
    yield sample(
        "positions are not judged, as an effect of this topic names none",
        sends=sent,
        log=[_entry(0, "a"), _entry(1, "a"), _LOOSE_ENTRY],
        effects=[_effect(0, "a"), _effect(0, "a"), foreign, _LOOSE_EFFECT],
        finds={"duplicate-output": [{"record": "a"}]},
    )
    orders = {"topic": "orders"}
    yield sample(
        "an effect of another topic counts on the trial of that topic",
        trials=(LEDGER, ORDERS),
        sends=[*sent, {"record": "b", **orders}, {"record": "b", **orders}],
        log=[_entry(0, "b", **orders), _entry(1, "b", **orders), _entry(2, "x", **orders)],
        effects=[
            _effect(0, "b", source_topic="orders"),
            _effect(0, "b", source_topic="orders"),
            foreign,
        ],
        finds={"duplicate-output": [{"record": "b"}]},
    )
    yield sample(
        "a record of another topic has an effect that names this topic",
        sends=sent,
        log=[_entry(0, "a"), _entry(1, "a")],
        effects=[_effect(0, "a"), _effect(0, "a"), foreign, _effect(5, "x")],
        finds={
            "duplicate-output": [{"record": "a"}],
            "lost-output": [{"record": "a"}],
            "unfounded-output": [{"record": "x"}],
        },
    )


def _duplicate_witnesses() -> Iterator[Sample]:
    """The witness rows of duplicates."""
    same = {"position": "row", "ordinal": 0}
    yield sample(
        "two records at two positions have three effects each at one sink position",
        log=[_entry(0, "a"), _entry(1, "a"), _entry(2, "b"), _entry(3, "b")],
        effects=[{"record": r, **same} for r in "aaabbb"],
        finds={"duplicate-output": [{"record": "a"}, {"record": "b"}]},
    )
    yield sample(
        "two effect keys of a record are duplicated at one sink position",
        log=[_entry(0, "a"), _entry(1, "a")],
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
        "three effects are too many for two positions and for the one that they name",
        log=[_entry(0, "a"), _entry(1, "a"), _LOOSE_ENTRY],
        effects=[_effect(0, "a"), _effect(0, "a"), _effect(0, "a"), _LOOSE_EFFECT],
        finds={"duplicate-output": [{"record": "a"}]},
    )
    yield sample(
        "effects at one sink position name three sources, of which one exists",
        log=[_entry(0, "a"), _LOOSE_ENTRY],
        effects=[
            _effect(0, "a", **same),
            _effect(7, "a", **same),
            _effect(0, "a", 1, **same),
            _LOOSE_EFFECT,
        ],
        finds={"duplicate-output": [{"record": "a"}], "unfounded-output": [{"record": "a"}]},
    )
    yield sample(
        "a dead letter and an effect have the same position in their sinks",
        trials=(LETTERS,),
        log=[_entry(0, "a")],
        effects=[{"record": "a", **same}, {"record": "a", "sink": "letters", **same}],
        finds={"duplicate-output": [{"record": "a", "effect_key": ""}]},
    )
    yield sample(
        "two owners each executed the batch of an input",
        log=[_entry(0, "a")],
        effects=[{"record": "a", "position": "row 1"}, {"record": "a", "position": "row 2"}],
        ranges=[
            {"owner": "p", "batch": 1, "end_offset": 1},
            {"owner": "q", "batch": 2, "end_offset": 1},
        ],
        finds={"duplicate-output": [{"record": "a"}]},
    )
    yield sample(
        "three effects are too many for two positions, and for one of another topic",
        trials=(LEDGER, ORDERS),
        log=[_entry(0, "a"), _entry(1, "a"), _entry(7, "a", topic="orders")],
        effects=[{"record": "a"}] * 3,
        finds={"duplicate-output": [{"record": "a"}, {"record": "a"}]},
    )
    yield sample(
        "an effect without source does not inherit that of its neighbour in the sink",
        log=[_entry(0, "a"), _entry(1, "a")],
        effects=[
            {"record": "a", "position": "row", "ordinal": 0},
            _effect(0, "a", position="row", ordinal=1),
            _effect(1, "a", position="row", ordinal=2),
        ],
        finds={"duplicate-output": [{"record": "a"}]},
    )


def _dead_letters() -> Iterator[Sample]:
    letter = {"sink": "letters"}
    yield sample(
        "a record at two positions: one is a dead letter, one is lost",
        trials=(LETTERS,),
        log=[_entry(0, "a"), _entry(1, "a"), _entry(2, "b"), _entry(3, "c")],
        effects=[{"record": "a", **letter}, {"record": "b", **letter}],
        finds={"lost-output": [{"record": "a"}, {"record": "c"}]},
    )
    yield sample(
        "a record at two positions: one is a dead letter, one has two effects",
        trials=(LETTERS,),
        log=[_entry(0, "a"), _entry(1, "a")],
        effects=[{"record": "a", **letter}, {"record": "a"}, {"record": "a"}],
        finds={"duplicate-output": [{"record": "a"}]},
    )
    yield sample(
        "a record below the log start needs no effect",
        log=[_entry(0, "a")],
        partitions=[{"partition": 0, "log_start": 5}],
        expected=[{"record": "a", "optional": True}],
    )
    yield sample(
        "a dead letter with an incomplete source counts as having none",
        trials=(LETTERS,),
        log=[_entry(0, "a"), _entry(1, "b"), _entry(2, "c"), _entry(3, "d")],
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


def _journal_changes() -> Iterator[Sample]:
    """Two changes from one position, where one is expected."""
    half = {"source_topic": "input", "source_partition": 1}
    place = {"source_partition": 0, "source_offset": 0}
    upsert = {"operation": "upsert"}
    for title, one, other in (
        ("appended twice with an incomplete source", half, half),
        ("upserts of unknown content", upsert, upsert),
        ("upserts, one without source topic",
         {**upsert, "digest": "d", **place},
         {**upsert, "digest": "d", **place, "source_topic": "input"}),
    ):  # fmt: skip
        yield sample(
            f"journal: {title}",
            trials=(JOURNAL,),
            log=[_entry(0, "a")],
            journal=[{"record": "a", **one}, {"record": "a", **other}],
            finds={"duplicate-output": [{"record": "a"}]},
        )
    yield sample(
        "journal: upserts of different contents",
        trials=(JOURNAL,),
        log=[_entry(0, "a")],
        journal=[{"record": "a", **upsert, "digest": d} for d in ("d1", "d2")],
        finds={"duplicate-output": [{"record": "a"}]},
    )
    delete = {"operation": "delete", "record": "a"}
    for title, deleted, changed, is_duplicate in (
        ("was deleted in between", {}, {}, True),
        ("was deleted by another transaction", {"transaction": "s1"}, {"transaction": "s2"}, True),
        ("was deleted by the same transaction", {"transaction": "s1"}, {"transaction": "s1"},
         False),
        ("after a delete of another record", {"record": "b"}, {}, False),
        ("after a delete of another effect key", {"effect_key": "k"}, {}, False),
        ("was deleted in another sink", {"sink": "audit"}, {}, False),
    ):  # fmt: skip
        yield sample(
            f"journal: a record upserted again {title}",
            trials=(JOURNAL,),
            log=[_entry(0, "a")],
            journal=[
                {"record": "a", **upsert, "digest": "d"},
                delete | deleted,
                {"record": "a", **upsert, "digest": "d", **changed},
            ],
            finds={"duplicate-output": [{"record": "a"}]} if is_duplicate else {},
        )
    yield sample(
        "journal: a record at two positions was upserted twice more after deletes",
        trials=(JOURNAL,),
        log=[_entry(0, "a"), _entry(1, "a")],
        journal=[*[{"record": "a", **upsert, "digest": "d"}, delete] * 2,
                 {"record": "a", **upsert, "digest": "d"}],
        finds={"duplicate-output": [{"record": "a"}]},
    )  # fmt: skip
    yield sample(
        "journal: a record was upserted again after deletes in two sinks",
        trials=(JOURNAL, AUDIT),
        log=[_entry(0, "a")],
        journal=[
            {**change, "sink": sink, "ordinal": ordinal}
            for sink in ("ledger", "audit")
            for ordinal, change in enumerate(
                [{"record": "a", **upsert, "digest": "d"}, delete,
                 {"record": "a", **upsert, "digest": "d"}]
            )
        ],
        finds={"duplicate-output": [{"record": "a", "sink": "ledger"},
                                    {"record": "a", "sink": "audit"}]},
    )  # fmt: skip
    yield sample(
        "journal: upserts of one content from three positions",
        trials=(JOURNAL,),
        log=[_entry(0, "a")],
        journal=[
            {**_effect(0, "a"), **upsert, "digest": "d"},
            {**_effect(7, "a"), **upsert, "digest": "d"},
            {**_effect(0, "a", 1), **upsert, "digest": "d"},
        ],
        finds={"unfounded-output": [{"record": "a"}]},
    )


def _incomplete_logs() -> Iterator[Sample]:
    """The log may contain more than was collected."""
    sent = {"returned_at": 5}
    yield sample(
        "unsettled: of two records with two effects each, one was certainly sent once",
        phases=UNSETTLED,
        sends=[
            {"record": "a", **sent},
            {"record": "b", **sent},
            {"record": "c", "outcome": "info"},
        ],
        log=[_entry(0, "a"), _entry(1, "b"), _entry(2, "c")],
        effects=[{"record": r} for r in "aabcc"],
        finds={"duplicate-output": [{"record": "a"}]},
        undecided={"duplicate-output"},
    )
    yield sample(
        "unsettled: a record was certainly sent once to one topic only",
        trials=(LEDGER, ORDERS),
        phases=UNSETTLED,
        sends=[
            {"record": "a", "outcome": "info"},
            {"record": "a", "topic": "orders", **sent},
        ],
        log=[_entry(0, "a"), _entry(0, "a", topic="orders")],
        effects=[{"record": "a"}, {"record": "a"}],
        finds={"duplicate-output": [{"record": "a"}]},
        undecided={"duplicate-output"},
    )
    yield sample(
        "two effects name an uncommitted position",
        phases=CUT_SHORT,
        log=[_entry(0, "a", committed=False), _entry(1, "a"), _LOOSE_ENTRY],
        effects=[_effect(0, "a"), _effect(0, "a"), _LOOSE_EFFECT],
        undecided={"duplicate-output"},
    )
    yield sample(
        "three effects name a position of another record",
        phases=CUT_SHORT,
        log=[_entry(0, "b"), _entry(1, "a"), _entry(0, "a", 1), _LOOSE_ENTRY],
        effects=[*3 * [_effect(0, "a")], _LOOSE_EFFECT, {"record": "b"}],
        undecided={"duplicate-output"},
    )


def _missing_positions() -> Iterator[Sample]:
    """Two effects name a position without an entry."""
    log = [_entry(6, "a"), _entry(7, "c"), _LOOSE_ENTRY]
    effects = [_effect(0, "a"), _effect(0, "a"), _effect(5, "c"), _effect(5, "c"), _LOOSE_EFFECT]
    for title, partition, unfounded in (
        ("below the log start", {"log_start": 5}, "c"),
        ("below the log start of another partition", {"partition": 1, "log_start": 9}, "ac"),
        ("in a compacted partition", {"cleanup_policy": "compact"}, ""),
        (
            "while another partition is compacted",
            {"partition": 1, "cleanup_policy": "compact"},
            "ac",
        ),
    ):
        proven = {"a", "c"} - set(unfounded)
        yield sample(
            f"two effects name a position without entry, {title}",
            log=log,
            partitions=[partition],
            effects=effects,
            finds={
                "duplicate-output": [{"record": r} for r in sorted(proven)],
                "unfounded-output": [{"record": r} for r in unfounded],
            },
            undecided={"duplicate-output"},
        )


def _contents() -> Iterator[Sample]:
    def content(record: str, *digests: str, key: str = "") -> list[dict[str, Any]]:
        return [{"record": record, "effect_key": key, "digest": d} for d in digests]

    both = ("d1", "d2")
    yield sample(
        "two records with two effect keys each: one has a content twice",
        log=[_entry(0, "a"), _entry(1, "b")],
        expected=[*content("a", *both), *content("a", *both, key="x"),
                  *content("b", *both), *content("b", *both, key="x")],
        effects=[*content("a", *both), *content("a", *both, key="x"),
                 *content("b", *both), *content("b", "d1", "d1", key="x")],
        finds={"wrong-output": [{"record": "b", "effect_key": "x"}]},
    )  # fmt: skip
    yield sample(
        "two views: one has a content twice",
        trials=(LEDGER, OTHER),
        log=[_entry(0, "a")],
        expected=content("a", *both),
        effects=[
            *content("a", *both),
            *({**effect, "view": "other"} for effect in content("a", "d1", "d1")),
        ],
        finds={"wrong-output": [{"view": "other", "record": "a"}]},
    )
    yield sample(
        "three expected contents: one appears twice, one once, one never",
        log=[_entry(0, "a")],
        expected=content("a", *both, "d3"),
        effects=content("a", "d1", "d1", "d2"),
        finds={"wrong-output": [{"record": "a"}]},
    )
    yield sample(
        "two positions have both expected contents each",
        log=[_entry(0, "a"), _entry(1, "a")],
        expected=content("a", *both),
        effects=content("a", *both, *both),
    )
    yield sample(
        "a content appears twice, and the log may be incomplete",
        phases=CUT_SHORT,
        log=[_entry(0, "a")],
        expected=content("a", *both),
        effects=content("a", "d1", "d1"),
    )
    yield sample(
        "the second effect key has an unexpected content",
        log=[_entry(0, "a")],
        expected=[*content("a", "d1"), *content("a", "d5", key="x")],
        effects=[*content("a", "d1"), *content("a", "d9", key="x")],
        finds={"wrong-output": [{"record": "a", "effect_key": "x"}]},
    )
    yield sample(
        "four positions: two have one content twice",
        log=[_entry(0, "a"), _entry(1, "a"), _entry(0, "a", 1), _entry(1, "a", 1)],
        expected=content("a", "d1", "d2"),
        effects=[
            _effect(0, "a", digest="d1"), _effect(0, "a", digest="d1"),
            _effect(1, "a", digest="d1"), _effect(1, "a", digest="d2"),
            _effect(0, "a", 1, digest="d1"), _effect(0, "a", 1, digest="d2"),
            _effect(1, "a", 1, digest="d2"), _effect(1, "a", 1, digest="d2"),
        ],
        finds={"wrong-output": [{"record": "a"}]},
    )  # fmt: skip
    yield sample(
        "two equal contents and another are expected: three equal ones appear",
        log=[_entry(0, "a")],
        expected=content("a", "d1", "d1", "d2"),
        effects=content("a", "d1", "d1", "d1"),
        finds={"wrong-output": [{"record": "a"}]},
    )
    yield sample(
        "two equal contents and another are expected: the other is missing",
        log=[_entry(0, "a")],
        expected=content("a", "d1", "d1", "d2"),
        effects=content("a", "d1", "d1"),
        finds={"lost-output": [{"record": "a"}]},
    )


def _orders() -> Iterator[Sample]:
    k, j = {"key": "k"}, {"key": "j"}
    yield sample(
        "keys and partitions are ordered separately, and equal ordinals are in order",
        log=[
            _entry(0, "a", **j), _entry(1, "b", **k), _entry(2, "c", **k), _entry(3, "d", **k),
            _entry(4, "e", **j), _entry(5, "f", **k), _entry(0, "g", 1, **k),
            _entry(1, "h", 1, **k),
        ],
        effects=[
            _effect(0, "a", ordinal=20), _effect(1, "b", ordinal=9), _effect(2, "c", ordinal=9),
            _effect(3, "d", ordinal=1), _effect(4, "e", ordinal=9), _effect(5, "f", ordinal=5),
            _effect(0, "g", 1, ordinal=9), _effect(1, "h", 1, ordinal=30),
        ],
        finds={
            "reordered-output": [
                {"key": "k", "offset": 3}, {"key": "j", "offset": 4}, {"key": "k", "offset": 5},
            ]
        },
    )  # fmt: skip
    yield sample(
        "two partitions with the same offsets: one is out of order",
        log=[
            _entry(0, "a", **k), _entry(1, "b", **k),
            _entry(0, "c", 1, **k), _entry(1, "d", 1, **k),
        ],
        effects=[
            _effect(0, "a", ordinal=5), _effect(1, "b", ordinal=7),
            _effect(0, "c", 1, ordinal=9), _effect(1, "d", 1, ordinal=8),
        ],
        finds={"reordered-output": [{"partition": 1, "offset": 1}]},
    )  # fmt: skip
    log = [_entry(0, "a", **k), _entry(1, "b", **k)]
    yield sample(
        "the first effect of a record is in order, a later duplicate is ignored",
        log=log,
        effects=[_effect(0, "a"), _effect(1, "b"), _effect(0, "a")],
        finds={"duplicate-output": [{"record": "a"}]},
    )
    yield sample(
        "effects without source are ordered by the topic whose records have keys",
        trials=(LEDGER, ORDERS),
        log=[_entry(0, "a"), _entry(1, "b"), *({**entry, "topic": "orders"} for entry in log)],
        effects=[{"record": "b"}, {"record": "a"}],
        finds={"reordered-output": [{"key": "k", "offset": 1}]},
    )
    yield sample(
        "a dead letter before the effect of an earlier record",
        trials=(LETTERS,),
        log=log,
        effects=[_effect(1, "b", sink="letters"), _effect(0, "a")],
    )
    yield sample(
        "the first effect that names a position is of another record",
        log=[*log, _entry(2, "x")],
        effects=[_effect(1, "x"), _effect(0, "a"), _effect(1, "b"), _effect(2, "x")],
        finds={"unfounded-output": [{"record": "x"}]},
    )
    yield sample(
        "effects that name this topic, in another order than in another topic",
        trials=(LEDGER, ORDERS),
        log=[{**entry, "topic": "orders"} for entry in log],
        effects=[_effect(1, "b"), _effect(0, "a")],
        finds={
            "phantom-output": [{"record": "a"}, {"record": "b"}],
            "lost-output": [{"record": "a"}, {"record": "b"}],
        },
    )
    yield sample(
        "the first effect of a record names a position without its entry",
        log=log,
        effects=[_effect(7, "b"), {"record": "a"}, {"record": "b"}],
        finds={"unfounded-output": [{"record": "b"}], "duplicate-output": [{"record": "b"}]},
    )
    yield sample(
        "the first effect of a record is a dead letter",
        trials=(LETTERS,),
        log=log,
        effects=[{"record": "b", "sink": "letters"}, {"record": "a"}, {"record": "b"}],
        finds={"duplicate-output": [{"record": "b"}]},
    )


def _deleted_inputs() -> Iterator[Sample]:
    """Acknowledged and since deleted from the log, so that it may not have been read."""
    a, b = (
        {"attempt": f"a/{n}", "record": "a", "partition": 0, "offset": n, "outcome": "ok"}
        for n in (1, 2)
    )
    two_keys = [{"record": "a", "effect_key": key} for key in ("x", "y")]
    of_a = {"record": "a"}
    letter = of_a | {"sink": "letters"}
    for title, trial, sends, effects, expected, undecided in (
        ("no effect", LEDGER, [a], [], [], True),
        ("its effect", LEDGER, [a], [of_a], [], False),
        ("one effect for two sends", LEDGER, [a, b], [of_a], [], True),
        ("one effect for two sends is enough if deduplicated", ONCE, [a, b], [of_a], [], False),
        ("no effect, and none is expected", LEDGER, [a], [], [{"record": "z"}], False),
        ("none of two expected effects", LEDGER, [a], [], two_keys, True),
        ("one of two expected effects", LEDGER, [a], [of_a | two_keys[0]], two_keys, True),
        ("a dead letter", LETTERS, [a], [letter], [], False),
        ("two dead letters for two sends", LETTERS, [a, b], 2 * [letter], [], False),
        (
            "dead letters for two sends, with their positions",
            LETTERS,
            [a, b],
            [_effect(n, "a", sink="letters") for n in (1, 2)],
            [],
            False,
        ),
        ("a send with unknown outcome", LEDGER, [a | {"outcome": "info"}], [], [], False),
    ):
        yield sample(
            f"deleted input: {title}",
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
        "deleted input: a dead letter of another sink",
        trials=(LETTERS, OTHER),
        sends=[a],
        effects=[letter],
        expected=[of_a],
        partitions=[{"partition": 0, "log_start": 5}],
        undecided={"lost-output", "lost-write", "unfounded-output"},
    )
    yield sample(
        "deleted input: one effect for a deleted entry and one that is still there",
        sends=[a, b | {"offset": 7}],
        log=[_entry(7, "a", attempt="a/2")],
        effects=[of_a],
        partitions=[{"partition": 0, "log_start": 5}],
        undecided={"lost-output", "lost-write"},
    )


def _late_inputs() -> Iterator[Sample]:
    """a has no effect, and one or two entries that may have been dropped as late by design."""
    late, unclear = {"lateness": "late"}, {"lateness": "unclear"}
    sent = {"sends": [{"attempt": "a/1", "record": "a"}]}
    nothing: dict[str, Any] = {}
    for title, trial, log, tables, undecided in (
        ("late", LEDGER, [late], nothing, False),
        ("late, and its send is known", LEDGER, [late | {"attempt": "a/1"}], sent, False),
        ("of unclear lateness", LEDGER, [unclear], nothing, True),
        ("late, where it is deduplicated", ONCE, [late], nothing, False),
        ("late once and of unclear lateness once, where it is deduplicated",
         ONCE, [late, unclear], nothing, True),
    ):  # fmt: skip
        yield sample(
            f"late input: {title}",
            trials=(trial,),
            log=[_entry(n, "a", **entry) for n, entry in enumerate(log)],
            **tables,
            undecided={"lost-output"} if undecided else (),
        )


SAMPLES: Final = (
    *_source_positions(),
    *_effects_of_other_topics(),
    *_duplicate_witnesses(),
    *_dead_letters(),
    *_journal_changes(),
    *_incomplete_logs(),
    *_missing_positions(),
    *_deleted_inputs(),
    *_late_inputs(),
    *_contents(),
    *_orders(),
)
