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


SAMPLES: Final = (*_of_origins(), *_of_skips(), *_of_the_unseen())
