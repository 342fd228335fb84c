"""Transactions that are torn or whole, and writes of those who were replaced."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from tests.properties.checkers.corpus.base import CUT_SHORT, LETTERS, Sample, sample
from tests.properties.checkers.world import Trial

Rows = Sequence[Mapping[str, Any]]
_TORN: Final = {"torn-transaction": [{"txn": "t"}]}


def _torn(
    tells: str,
    *,
    sends: Rows = (),
    log: Rows = (),
    finds: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
    undecided: Sequence[str] = (),
    **tables: Rows,
) -> Sample:
    """t is committed, and so is its record a, at 0 of partition 7."""
    return sample(
        f"torn transaction: {tells}",
        txns=[{"txn": "t"}],
        sends=[{"attempt": "a/1", "record": "a", "txn": "t", "partition": 7}, *sends],
        log=[{"record": "a", "attempt": "a/1", "partition": 7}, *log],
        expected=[{"record": "another"}],
        finds=finds,
        undecided=undecided,
        **tables,
    )


def _of_sends() -> Iterator[Sample]:
    """What became of b, which t sent as well?"""
    lost = _TORN | {"lost-write": [{"record": "b"}]}
    b: dict[str, Any] = {"attempt": "b/1", "record": "b", "txn": "t"}
    again = {"attempt": "b/2", "record": "b", "outcome": "info"}
    yield _torn(
        "each send that failed in a committed transaction is told",
        sends=[b | {"outcome": "fail"}, b | {"attempt": "c/1", "record": "c", "outcome": "fail"}],
        finds=_TORN,
    )
    for tells, told, finds in (
        ("it stood before the log begins", {"partition": 0, "offset": 0}, None),
        ("it stood where the log begins", {"partition": 0, "offset": 1}, lost),
        ("nobody knows where in its partition", {"partition": 0}, None),
        ("nobody knows in which partition", {"offset": 5}, None),
        ("nobody knows where", {}, None),
    ):
        yield _torn(
            f"the log was cut, and {tells}",
            sends=[b | told],
            partitions=[{"log_start": 1}],
            finds=finds,
            undecided=() if finds else ("lost-write",),
        )
    yield _torn(
        "the log was compacted, and it stood there",
        sends=[b | {"partition": 0, "offset": 0}],
        partitions=[{"cleanup_policy": "compact,delete"}],
        undecided=("lost-write",),
    )
    yield _torn(
        "the log is all there, and nobody knows where in its partition it stood",
        sends=[b | {"partition": 0}],
        partitions=[{}],
        finds=lost,
    )
    yield _torn(
        "an entry of another record that carries its attempt is not its own",
        sends=[b | {"partition": 0}, {"attempt": "x/1", "record": "x"}],
        log=[{"record": "x", "attempt": "b/1"}],
        finds=lost,
    )
    yield _torn(
        "what may have stood in either of two partitions that were cut is one send",
        sends=[b | {"partition": 3}, b | {"attempt": "c/1", "record": "c"}],
        partitions=[{"log_start": 1}, {"partition": 1, "log_start": 1}],
        finds=lost,
        undecided=("lost-write",),
    )
    yield _torn(
        "an entry that is not committed is nobody's",
        sends=[b | {"partition": 0}],
        log=[{"record": "b", "committed": False}],
        finds=lost,
    )
    for tells, attempt, others in (
        ("carries an attempt to another topic", "b/3",
         [again, again | {"attempt": "b/3", "topic": "aside"}]),
        ("carries an attempt of another record", "a/1", [again]),
        ("carries an attempt that nobody made", "z/1", [again]),
    ):  # fmt: skip
        yield _torn(
            f"an entry that {tells} may be its own",
            sends=[b | {"partition": 0}, *others],
            log=[{"record": "b", "attempt": attempt}],
            finds={"corrupt": [{"record": "b"}]} if attempt == "b/3" else None,
        )
    yield _torn(
        "an entry that carries the attempt of another send is not its own",
        sends=[b | {"partition": 0}, again],
        log=[{"record": "b", "attempt": "b/2"}],
        finds=lost,
    )


def _of_positions() -> Iterator[Sample]:
    """What became of the positions that t staged?"""

    def at(owner: str, topic: str, partition: int, offset: int) -> dict[str, Any]:
        return {"owner": owner, "topic": topic, "partition": partition, "offset": offset}

    behind = at("late", "s", 0, 1)
    missing = {"txn": "t", **at("late", "s", 0, 9)}
    places = [
        at("g", "s", 0, 5), at("g", "s", 0, 7), at("g", "s", 1, 5), at("g", "s2", 0, 5),
        at("h", "s", 0, 5),
    ]  # fmt: skip
    yield _torn(
        "each position is told for itself, and who else staged that very one",
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
        "a position is committed if its owner was just there, and missing if it never came so far",
        staged=[
            *({"txn": "t", **at(o, "s", 0, 5)} for o in dict.fromkeys(p["owner"] for p in done)),
            missing,
        ],
        positions=[*done, behind],
        finds=_TORN,
    )
    yield _torn(
        "a position that was staged twice is one",
        staged=[{"txn": "t", **places[0]}, {"txn": "t", **places[0]}, missing],
        positions=[places[0], behind],
        finds=_TORN,
    )


def _of_foreign_zombies() -> Iterator[Sample]:
    yield sample(
        "zombie write: what was sent elsewhere, and names no source, is of there",
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


def _of_zombies() -> Iterator[Sample]:
    def zombie(
        tells: str, instances: Rows, effects: Rows, *, found: Sequence[str] = ("a",), **tables: Rows
    ) -> Sample:
        return sample(
            f"zombie write: {tells}",
            phases=CUT_SHORT,
            instances=[{"subject": "driver"} | i for i in instances],
            effects=[{"instance": "i1", "at": 7, "clock": "clock"} | e for e in effects],
            log=[{"record": "a"}, {"record": "b"}],
            finds={"zombie-write": [{"record": record} for record in found]},
            **tables,
        )

    lives = [{"instance": "i1", "started_at": 1}, {"instance": "i2", "started_at": 5}]
    yield zombie(
        "two lives that began at once have the same successor",
        [*lives, {"instance": "i0", "started_at": 1}],
        [{"record": "a"}, {"record": "b", "instance": "i0"}],
        found=("a", "b"),
    )
    yield zombie(
        "of several successors the first is told, by its name if they began at once",
        [*lives, {"instance": "i3", "started_at": 5}, {"instance": "i11", "started_at": 6}],
        [{"record": "a"}],
    )
    yield zombie(
        "a successor by another clock proves nothing",
        [lives[0], lives[1] | {"clock": "other"}],
        [{"record": "a"}],
        found=(),
    )
    yield zombie(
        "who began later as something else is no successor",
        [lives[0], lives[1] | {"subject": "producer"}],
        [{"record": "a"}],
        found=(),
    )
    yield zombie(
        "an effect that was written by another clock proves nothing",
        lives,
        [{"record": "a", "clock": "other"}],
        found=(),
    )
    yield zombie(
        "what says that it comes from here is of here, whatever was sent elsewhere",
        lives,
        [
            {"record": "x", "source_topic": "input", "source_partition": 0, "source_offset": 0},
            {"record": "x", "at": 1},
        ],
        found=("x",),
        sends=[{"attempt": "x/1", "record": "x", "topic": "orders"}],
    )


SAMPLES: Final = (*_of_sends(), *_of_positions(), *_of_zombies(), *_of_foreign_zombies())
