"""What concurrent readers saw, skipped and never got, and which send a read comes from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tests.properties.checkers.corpus.base import CUT_SHORT, LEDGER, Sample, sample
from tests.properties.checkers.world import Trial

BOTH: Final = (LEDGER, Trial(topic="orders", sink="ledger", view="table"))
_NONE_OF_THESE: Final = ({"record": "another"},)
"""Records that must have an effect."""
_UNCALLED: Final = {"txn": "t", "outcome": "info"}
"""Whatever is read of it was read before its commit was called."""


def _of_origins() -> Iterator[Sample]:
    yield sample(
        "a read that names nobody: what was sent elsewhere does not make it possible",
        trials=BOTH,
        phases=CUT_SHORT,
        sends=[
            {"attempt": "a/1", "record": "a"},
            {"attempt": "a/2", "record": "a", "topic": "orders", "outcome": "fail"},
        ],
        reads=[{"record": "a", "topic": "orders", "offset": 5}],
        finds={"aborted-read": [{"topic": "orders", "record": "a"}]},
    )
    for tells, attempt in (("to another topic", "a/9"), ("of another record", "b/1")):
        yield sample(
            f"the attempt that was read is one {tells}: the only send is what counts",
            phases=CUT_SHORT,
            txns=[_UNCALLED],
            sends=[
                {"attempt": "a/1", "record": "a", "txn": "t"},
                {"attempt": "a/9", "record": "a", "topic": "aside"},
                {"attempt": "b/1", "record": "b"},
            ],
            reads=[{"record": "a", "attempt": attempt, "offset": 5}],
            finds={"precommitted-read": [{"record": "a"}]},
        )
    yield sample(
        "a record that was sent once to each of two topics has one origin in each",
        trials=BOTH,
        phases=CUT_SHORT,
        txns=[_UNCALLED, _UNCALLED | {"txn": "u"}],
        sends=[
            {"attempt": "a/1", "record": "a", "txn": "t"},
            {"attempt": "a/2", "record": "a", "txn": "u", "topic": "orders"},
        ],
        reads=[
            {"record": "a", "offset": 5},
            {"record": "a", "topic": "orders", "offset": 5},
        ],
        finds={"precommitted-read": [{"topic": "input"}, {"topic": "orders"}]},
    )

    yield sample(
        "a record that was sent twice has no origin that could be named",
        phases=CUT_SHORT,
        txns=[_UNCALLED],
        sends=[
            {"attempt": "a/1", "record": "a", "txn": "t"},
            {"attempt": "a/2", "record": "a"},
        ],
        reads=[{"record": "a", "offset": 5}],
    )


def _of_early_reads() -> Iterator[Sample]:
    sent = {"attempt": "a/1", "record": "a", "called_at": 5}
    read = {"record": "a", "attempt": "a/1", "offset": 5, "at": 4}
    found = {"phantom": [{"record": "a"}]}
    for tells, attempt in (("that names its send", "a/1"), ("that names nobody", None)):
        yield sample(
            f"a read {tells} was there before the send was called",
            phases=CUT_SHORT,
            sends=[sent],
            reads=[read | {"attempt": attempt}],
            finds=found,
            alone=attempt is None,
        )
        yield sample(
            f"a read {tells} came at the moment of the call",
            phases=CUT_SHORT,
            sends=[sent],
            reads=[read | {"attempt": attempt, "at": 5}],
        )
        yield sample(
            f"a read {tells} was there before the call by another clock",
            phases=CUT_SHORT,
            sends=[sent],
            reads=[read | {"attempt": attempt, "clock": "elsewhere"}],
        )
    again = sent | {"attempt": "a/2", "ordinal": 1}
    yield sample(
        "a read that names a later send did not come from the earlier one",
        phases=CUT_SHORT,
        sends=[sent | {"called_at": 3}, again],
        reads=[read | {"attempt": "a/2"}],
        finds=found,
    )
    yield sample(
        "a read that names an earlier send was not there before it",
        phases=CUT_SHORT,
        sends=[sent | {"called_at": 3}, again],
        reads=[read],
    )
    nameless = read | {"attempt": None}
    for tells, other in (
        ("earlier", again | {"called_at": 3}),
        ("by another clock", again | {"clock": "elsewhere"}),
        ("earlier to another topic", again | {"called_at": 3, "topic": "aside"}),
    ):
        yield sample(
            f"a read that names nobody may come from a send that was called {tells}",
            phases=CUT_SHORT,
            sends=[sent, other],
            reads=[nameless],
        )
    yield sample(
        "a read that names nobody came before all of its record's sends",
        trials=BOTH,
        phases=CUT_SHORT,
        sends=[sent, again | {"called_at": 6, "topic": "orders"}, {"attempt": "b/1"}],
        reads=[nameless, nameless | {"topic": "orders"}],
        finds={"phantom": [{"topic": "input"}, {"topic": "orders"}]},
    )


def _of_skips() -> Iterator[Sample]:
    yield sample(
        "a reader that passes over a marker has skipped only the record beside it",
        phases=CUT_SHORT,
        log=[{"record": "a"}, {"record": "b"}, {"kind": "commit"}, {"record": "c"}],
        reads=[{"record": "a", "offset": 0}, {"record": "c", "offset": 3}],
        finds={"skipped-read": [{"offset": 1}]},
    )
    yield sample(
        "a session that skips in two partitions skips in each what is there",
        phases=CUT_SHORT,
        log=[
            {"record": f"{partition}{offset}", "partition": partition, "offset": offset}
            for partition, offset in ((0, 0), (0, 1), (0, 3), (1, 0), (1, 1), (1, 2), (1, 3))
        ],
        reads=[
            {"record": f"{partition}{offset}", "partition": partition, "offset": offset}
            for partition, offset in ((0, 0), (1, 0), (0, 3), (1, 3))
        ],
        finds={
            "skipped-read": [
                {"partition": 0, "offset": 1},
                {"partition": 1, "offset": 1},
                {"partition": 1, "offset": 2},
            ]
        },
    )
    log = [{"record": "a"}, {"record": "b", "offset": 2}, {"record": "c", "offset": 5}]
    for isolation in ("read_committed", "read_uncommitted"):
        skipping = [
            {"record": "a", "offset": 0, "isolation": isolation},
            {"record": "c", "offset": 5, "isolation": isolation},
        ]
        for tells, place, record in (
            ("where another reader was, and nothing stands", 3, None),
            ("that another reader got", 2, "b"),
        ):
            yield sample(
                f"{isolation}: {tells}, hides no record that was skipped",
                phases=CUT_SHORT,
                log=log,
                reads=[*skipping, {"record": record, "offset": place, "session": "other"}],
                finds={"skipped-read": [{"offset": 2}]},
            )
        yield sample(
            f"{isolation}: where another reader began hides no record that was skipped",
            phases=CUT_SHORT,
            log=log,
            assignments=[{"session": "other", "position": 4}],
            reads=[*skipping, {"record": "c", "offset": 5, "session": "other"}],
            finds={"skipped-read": [{"offset": 2}]},
        )
        aborted = {"record": "x", "offset": 3, "committed": False}
        yield sample(
            f"{isolation}: beside what was skipped lies an entry that is not committed",
            phases=CUT_SHORT,
            log=[*log, aborted],
            reads=skipping,
            finds={
                "skipped-read": [
                    {"offset": offset}
                    for offset in ((2,) if isolation == "read_committed" else (2, 3))
                ]
            },
        )
    contested = {"inconsistent-offsets": [{"offset": 1}]}
    for tells, entry, more in (
        ("that is not committed", {"committed": False}, contested),
        ("from beside the workload", {"kind": "odd"}, {}),
    ):
        yield sample(
            f"at the offset that was skipped lies another entry, {tells}",
            phases=CUT_SHORT,
            log=[{"record": r, "offset": n} for n, r in enumerate("abc")]
            + [{"record": "x", "offset": 1} | entry],
            reads=[{"record": "a", "offset": 0}, {"record": "c", "offset": 2}],
            finds={"skipped-read": [{"offset": 1}], **more},
        )


def _of_the_unseen() -> Iterator[Sample]:
    yield sample(
        "an entry that carries the attempt of another record was not acknowledged by that",
        sends=[
            {"attempt": "a/1", "record": "a"},
            {"attempt": "b/1", "record": "b", "outcome": "info"},
        ],
        log=[{"record": "a", "attempt": "a/1"}, {"record": "b", "attempt": "a/1"}],
        assignments=[{}],
        reads=[{"record": "a", "offset": 0}],
        expected=_NONE_OF_THESE,
    )
    yield sample(
        "an entry that carries the attempt to another topic was not acknowledged by that",
        sends=[
            {"attempt": "a/1", "record": "a", "outcome": "info"},
            {"attempt": "a/9", "record": "a", "topic": "aside"},
        ],
        log=[{"record": "a", "attempt": "a/9"}],
        assignments=[{}],
        expected=_NONE_OF_THESE,
        finds={"corrupt": [{"record": "a"}]},
    )
    yield sample(
        "an entry that carries its attempt was not acknowledged by another one",
        sends=[
            {"attempt": "a/1", "record": "a", "outcome": "info"},
            {"attempt": "a/2", "record": "a"},
        ],
        log=[{"record": "a", "attempt": "a/1"}],
        assignments=[{}],
        expected=_NONE_OF_THESE,
        finds={"lost-write": [{"record": "a"}]},
    )
    yield sample(
        "what a reader got at the same place of another topic it did not get here",
        sends=[{"attempt": "a/1", "record": "a"}],
        log=[{"record": "a"}],
        assignments=[{}],
        reads=[{"record": "a", "topic": "orders", "offset": 0}],
        expected=_NONE_OF_THESE,
        finds={"unseen": [{"offset": 0}]},
    )
    yield sample(
        "what nobody can name at a position is none of the records that were seen there",
        phases=CUT_SHORT,
        sends=[
            {"attempt": "a/1", "record": "a", "partition": 0, "offset": 0},
            {"attempt": "b/1", "record": "b", "partition": 0, "offset": 0},
        ],
        log=[{"record": None}],
        finds={"inconsistent-offsets": [{"offset": 0}]},
    )


def _of_contests() -> Iterator[Sample]:
    a = {"attempt": "a/1", "record": "a", "partition": 0, "offset": 4}
    b = a | {"attempt": "b/1", "record": "b"}
    for tells, more in (
        ("as acknowledged", {}),
        ("one of them not committed", {"committed": False}),
    ):
        yield sample(
            f"two records stand at one position, {tells}, and neither is lost",
            phases=CUT_SHORT,
            sends=[a, b],
            log=[{"record": "a", "offset": 4}, {"record": "b", "offset": 4} | more],
            effects=[{"record": "a"}, {"record": "b"}],
            alone=not more,
            finds={"inconsistent-offsets": [{"offset": 4}]},
        )
    yield sample(
        "records at one offset of two partitions, or of two topics, contest nothing",
        trials=BOTH,
        phases=CUT_SHORT,
        sends=[a, b | {"partition": 1}, a | {"attempt": "c/1", "record": "c", "topic": "orders"}],
        log=[
            {"record": "a", "offset": 4},
            {"record": "b", "offset": 4, "partition": 1},
            {"record": "c", "offset": 4, "topic": "orders"},
        ],
    )
    yield sample(
        "what each of two records at two positions has is one position too many",
        sends=[a, b],
        log=[{"record": record, "offset": offset} for offset in (4, 5) for record in ("a", "b")],
        reads=[{"record": "a", "offset": 5}, {"record": "b", "offset": 5, "session": "other"}],
        expected=_NONE_OF_THESE,
        finds={
            "duplicate": [{"record": "a"}, {"record": "b"}],
            "inconsistent-offsets": [{"offset": 4}, {"offset": 5}],
        },
    )


SAMPLES: Final = (
    *_of_origins(), *_of_early_reads(), *_of_skips(), *_of_the_unseen(), *_of_contests(),
)  # fmt: skip
