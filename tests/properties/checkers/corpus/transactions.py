"""Torn and complete transactions, and writes of replaced instances."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from tests.properties.checkers.corpus.base import CUT_SHORT, LETTERS, Sample, sample
from tests.properties.checkers.world import Trial

Rows = Sequence[Mapping[str, Any]]
_TORN: Final = {"torn-transaction": [{"txn": "t"}]}


def _torn(
    title: str,
    *,
    sends: Rows = (),
    log: Rows = (),
    finds: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
    undecided: Sequence[str] = (),
    **tables: Rows,
) -> Sample:
    """t is committed, and so is its record a at offset 0 of partition 7."""
    return sample(
        f"torn transaction: {title}",
        txns=[{"txn": "t"}],
        sends=[{"attempt": "a/1", "record": "a", "txn": "t", "partition": 7}, *sends],
        log=[{"record": "a", "attempt": "a/1", "partition": 7}, *log],
        expected=[{"record": "another"}],
        finds=finds,
        undecided=undecided,
        **tables,
    )


def _sends() -> Iterator[Sample]:
    """The samples vary the fate of b, which t also sent."""
    lost = _TORN | {"lost-write": [{"record": "b"}]}
    b: dict[str, Any] = {"attempt": "b/1", "record": "b", "txn": "t"}
    resent = {"attempt": "b/2", "record": "b", "outcome": "info"}
    yield _torn(
        "each failed send in a committed transaction is reported",
        sends=[b | {"outcome": "fail"}, b | {"attempt": "c/1", "record": "c", "outcome": "fail"}],
        finds=_TORN,
    )
    for title, acknowledged, finds in (
        ("it was below the log start", {"partition": 0, "offset": 0}, None),
        ("it was at the log start", {"partition": 0, "offset": 1}, lost),
        ("its offset is unknown", {"partition": 0}, None),
        ("its partition is unknown", {"offset": 5}, None),
        ("its position is unknown", {}, None),
    ):
        yield _torn(
            f"the log was truncated, and {title}",
            sends=[b | acknowledged],
            partitions=[{"log_start": 1}],
            finds=finds,
            undecided=() if finds else ("lost-write",),
        )
    yield _torn(
        "the log was compacted",
        sends=[b | {"partition": 0, "offset": 0}],
        partitions=[{"cleanup_policy": "compact,delete"}],
        undecided=("lost-write",),
    )
    yield _torn(
        "the log is complete, and its offset is unknown",
        sends=[b | {"partition": 0}],
        partitions=[{}],
        finds=lost,
    )
    yield _torn(
        "an entry of another record with its attempt does not count",
        sends=[b | {"partition": 0}, {"attempt": "x/1", "record": "x"}],
        log=[{"record": "x", "attempt": "b/1"}],
        finds=lost,
    )
    yield _torn(
        "a send that may have been in either of two truncated partitions counts once",
        sends=[b | {"partition": 3}, b | {"attempt": "c/1", "record": "c"}],
        partitions=[{"log_start": 1}, {"partition": 1, "log_start": 1}],
        finds=lost,
        undecided=("lost-write",),
    )
    yield _torn(
        "an uncommitted entry does not count",
        sends=[b | {"partition": 0}],
        log=[{"record": "b", "committed": False}],
        finds=lost,
    )
    for title, attempt, others in (
        ("with an attempt to another topic", "b/3",
         [resent, resent | {"attempt": "b/3", "topic": "aside"}]),
        ("with another record's attempt", "a/1", [resent]),
        ("with an unknown attempt", "z/1", [resent]),
    ):  # fmt: skip
        yield _torn(
            f"an entry {title} may be its own",
            sends=[b | {"partition": 0}, *others],
            log=[{"record": "b", "attempt": attempt}],
            finds={"corrupt": [{"record": "b"}]} if attempt == "b/3" else None,
        )
    yield _torn(
        "an entry with another send's attempt does not count",
        sends=[b | {"partition": 0}, resent],
        log=[{"record": "b", "attempt": "b/2"}],
        finds=lost,
    )


def _staged_positions() -> Iterator[Sample]:
    """The samples vary the fate of the positions that t staged."""

    def at(owner: str, topic: str, partition: int, offset: int) -> dict[str, Any]:
        return {"owner": owner, "topic": topic, "partition": partition, "offset": offset}

    behind = at("late", "s", 0, 1)
    missing = {"txn": "t", **at("late", "s", 0, 9)}
    places = [
        at("g", "s", 0, 5), at("g", "s", 0, 7), at("g", "s", 1, 5), at("g", "s2", 0, 5),
        at("h", "s", 0, 5),
    ]  # fmt: skip
    yield _torn(
        "each position is reported separately, also one staged by another transaction",
        staged=[
            *({"txn": "t", **place} for place in places),
            {"txn": "u", **places[0]},
            {"txn": "t", **at("unheard", "s", 0, 5)},
            missing,
        ],
        positions=[*places, behind],
        finds=_TORN,
    )
    done = [
        at("further", "s", 0, 7),
        at("in-another-partition", "s", 1, 9),
        at("in-another-topic", "s2", 0, 9),
        at("there-in-another-partition", "s", 0, 7),
        at("there-in-another-partition", "s", 1, 5),
        at("there-in-another-topic", "s", 0, 7),
        at("there-in-another-topic", "s2", 0, 5),
        at("advised", "s", 0, 5) | {"role": "advisory"},
        at("planned", "s", 0, 5) | {"kind": "planned"},
        at("by-surgery", "s", 0, 5) | {"by": "harness"},
    ]
    yield _torn(
        "a position is committed if its owner reached it exactly, missing if it stayed behind",
        staged=[
            *({"txn": "t", **at(o, "s", 0, 5)} for o in dict.fromkeys(p["owner"] for p in done)),
            missing,
        ],
        positions=[*done, behind],
        finds=_TORN,
    )
    yield _torn(
        "a position staged twice counts once",
        staged=[{"txn": "t", **places[0]}, {"txn": "t", **places[0]}, missing],
        positions=[places[0], behind],
        finds=_TORN,
    )


def _zombies_of_other_topics() -> Iterator[Sample]:
    yield sample(
        "zombie write: an effect without source belongs to the topic of its send",
        trials=(LETTERS, Trial(topic="orders", sink="ledger", view="table")),
        phases=CUT_SHORT,
        instances=[
            {"instance": "i1", "started_at": 1},
            {"instance": "i2", "started_at": 5},
        ],
        sends=[{"attempt": "x/1", "record": "x", "topic": "orders"}],
        log=[{"record": "a"}],
        effects=[
            {"record": record, "sink": sink, "instance": "i1", "at": 5, "clock": "clock"}
            for record, sink in (("x", "ledger"), ("a", "letters"), (None, "ledger"))
        ],
        finds={
            "zombie-write": [
                {"record": "x"},
                {"record": "a", "sink": "ledger", "effect_key": "~dead-letter"},
            ]
        },
    )


def _zombies() -> Iterator[Sample]:
    def zombie(
        title: str, instances: Rows, effects: Rows, *, found: Sequence[str] = ("a",), **tables: Rows
    ) -> Sample:
        return sample(
            f"zombie write: {title}",
            phases=CUT_SHORT,
            instances=[{"subject": "driver"} | i for i in instances],
            effects=[{"instance": "i1", "at": 7, "clock": "clock"} | e for e in effects],
            log=[{"record": "a"}, {"record": "b"}],
            finds={"zombie-write": [{"record": record} for record in found]},
            **tables,
        )

    two_instances = [{"instance": "i1", "started_at": 1}, {"instance": "i2", "started_at": 5}]
    yield zombie(
        "two instances that started at once have the same successor",
        [*two_instances, {"instance": "i0", "started_at": 1}],
        [{"record": "a"}, {"record": "b", "instance": "i0"}],
        found=("a", "b"),
    )
    yield zombie(
        "of several successors the first is reported, by name if they started at once",
        [
            *two_instances,
            {"instance": "i3", "started_at": 5},
            {"instance": "i11", "started_at": 6},
        ],
        [{"record": "a"}],
    )
    yield zombie(
        "a successor by another clock is ignored",
        [two_instances[0], two_instances[1] | {"clock": "other"}],
        [{"record": "a"}],
        found=(),
    )
    yield zombie(
        "a later instance of another subject is no successor",
        [two_instances[0], two_instances[1] | {"subject": "producer"}],
        [{"record": "a"}],
        found=(),
    )
    yield zombie(
        "an effect written by another clock is ignored",
        two_instances,
        [{"record": "a", "clock": "other"}],
        found=(),
    )
    yield zombie(
        "an effect that names this topic belongs to it, wherever its record was sent",
        two_instances,
        [
            {"record": "x", "source_topic": "input", "source_partition": 0, "source_offset": 0},
            {"record": "x", "at": 1},
        ],
        found=("x",),
        sends=[{"attempt": "x/1", "record": "x", "topic": "orders"}],
    )


SAMPLES: Final = (*_sends(), *_staged_positions(), *_zombies(), *_zombies_of_other_topics())
