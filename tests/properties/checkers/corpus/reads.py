"""What concurrent readers saw, skipped and missed, and which send a read comes from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tests.properties.checkers.corpus.base import CUT_SHORT, LEDGER, Sample, sample
from tests.properties.checkers.corpus.effects import UNSETTLED
from tests.properties.checkers.world import Trial

BOTH: Final = (LEDGER, Trial(topic="orders", sink="ledger", view="table"))
_NONE_OF_THESE: Final = ({"record": "another"},)
"""Expected effects, none of them of a record in the sample."""
_UNCALLED: Final = {"txn": "t", "outcome": "info"}
"""A transaction without a commit call: every read of it is precommitted."""


def _sources() -> Iterator[Sample]:
    yield sample(
        "a read without attempt: a send to another topic cannot be its source",
        trials=BOTH,
        phases=CUT_SHORT,
        sends=[
            {"attempt": "a/1", "record": "a"},
            {"attempt": "a/2", "record": "a", "topic": "orders", "outcome": "fail"},
        ],
        reads=[{"record": "a", "topic": "orders", "offset": 5}],
        finds={"aborted-read": [{"topic": "orders", "record": "a"}]},
    )
    for title, attempt in (("to another topic", "a/9"), ("of another record", "b/1")):
        yield sample(
            f"a read with an attempt {title} comes from the record's only send",
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
        "a record sent once to each of two topics has one source in each",
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
        "a record sent twice and read without attempt has no known source",
        phases=CUT_SHORT,
        txns=[_UNCALLED],
        sends=[
            {"attempt": "a/1", "record": "a", "txn": "t"},
            {"attempt": "a/2", "record": "a"},
        ],
        reads=[{"record": "a", "offset": 5}],
    )


def _logged_later() -> Iterator[Sample]:
    """A run that did not settle is collected while its readers still read."""
    for title, read, found in (
        ("before the log was collected", {"at": 99}, True),
        ("when the log began to be collected", {"at": 100}, True),
        ("perhaps after the log was collected", {"at": 101}, False),
        ("by another clock", {"at": 99, "clock": "other"}, False),
    ):
        yield sample(
            f"unsettled: an uncommitted entry was read {title}",
            phases=UNSETTLED,
            txns=[{"txn": "t", "outcome": "info", "commit_called_at": 1}],
            sends=[{"record": "a", "offset": 0, "txn": "t"}],
            log=[{"record": "a", "offset": 0, "committed": False}],
            reads=[{"record": "a", "offset": 0, **read}],
            finds={"aborted-read": [{"record": "a"}]} if found else {},
        )


def _early_reads() -> Iterator[Sample]:
    sent = {"attempt": "a/1", "record": "a", "called_at": 5}
    read = {"record": "a", "attempt": "a/1", "offset": 5, "at": 4}
    found = {"phantom": [{"record": "a"}]}
    for title, attempt in (("with attempt", "a/1"), ("without attempt", None)):
        yield sample(
            f"a read {title} before the send was called",
            phases=CUT_SHORT,
            sends=[sent],
            reads=[read | {"attempt": attempt}],
            finds=found,
            alone=attempt is None,
        )
        yield sample(
            f"a read {title} at the time of the call",
            phases=CUT_SHORT,
            sends=[sent],
            reads=[read | {"attempt": attempt, "at": 5}],
        )
        yield sample(
            f"a read {title} before the call, by another clock",
            phases=CUT_SHORT,
            sends=[sent],
            reads=[read | {"attempt": attempt, "clock": "elsewhere"}],
        )
    second = sent | {"attempt": "a/2", "ordinal": 1}
    yield sample(
        "a read with the attempt of a later send does not come from the earlier one",
        phases=CUT_SHORT,
        sends=[sent | {"called_at": 3}, second],
        reads=[read | {"attempt": "a/2"}],
        finds=found,
    )
    yield sample(
        "a read with the attempt of an earlier send, before a later one",
        phases=CUT_SHORT,
        sends=[sent | {"called_at": 3}, second],
        reads=[read],
    )
    nameless = read | {"attempt": None}
    for title, other in (
        ("earlier", second | {"called_at": 3}),
        ("by another clock", second | {"clock": "elsewhere"}),
        ("earlier to another topic", second | {"called_at": 3, "topic": "aside"}),
    ):
        yield sample(
            f"a read without attempt may come from a send called {title}",
            phases=CUT_SHORT,
            sends=[sent, other],
            reads=[nameless],
        )
    yield sample(
        "a read without attempt before all sends of its record",
        trials=BOTH,
        phases=CUT_SHORT,
        sends=[sent, second | {"called_at": 6, "topic": "orders"}, {"attempt": "b/1"}],
        reads=[nameless, nameless | {"topic": "orders"}],
        finds={"phantom": [{"topic": "input"}, {"topic": "orders"}]},
    )


def _skips() -> Iterator[Sample]:
    yield sample(
        "a reader that passes a marker and a record skipped only the record",
        phases=CUT_SHORT,
        log=[{"record": "a"}, {"record": "b"}, {"kind": "commit"}, {"record": "c"}],
        reads=[{"record": "a", "offset": 0}, {"record": "c", "offset": 3}],
        finds={"skipped-read": [{"offset": 1}]},
    )
    yield sample(
        "a session that skips records in two partitions",
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
        for title, place, record in (
            ("another reader's read of an offset without entry", 3, None),
            ("another reader's read of the record", 2, "b"),
        ):
            yield sample(
                f"{isolation}: {title} does not hide a skip",
                phases=CUT_SHORT,
                log=log,
                reads=[*skipping, {"record": record, "offset": place, "session": "other"}],
                finds={"skipped-read": [{"offset": 2}]},
            )
        yield sample(
            f"{isolation}: another reader's assignment does not hide a skip",
            phases=CUT_SHORT,
            log=log,
            assignments=[{"session": "other", "position": 4}],
            reads=[*skipping, {"record": "c", "offset": 5, "session": "other"}],
            finds={"skipped-read": [{"offset": 2}]},
        )
        aborted = {"record": "x", "offset": 3, "committed": False}
        yield sample(
            f"{isolation}: an uncommitted entry next to the skipped one",
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
    conflict = {"inconsistent-offsets": [{"offset": 1}]}
    for title, entry, more in (
        ("not committed", {"committed": False}, conflict),
        ("from outside the workload", {"kind": "odd"}, {}),
    ):
        yield sample(
            f"the skipped offset has another entry, {title}",
            phases=CUT_SHORT,
            log=[{"record": r, "offset": n} for n, r in enumerate("abc")]
            + [{"record": "x", "offset": 1} | entry],
            reads=[{"record": "a", "offset": 0}, {"record": "c", "offset": 2}],
            finds={"skipped-read": [{"offset": 1}], **more},
        )


def _unseen() -> Iterator[Sample]:
    yield sample(
        "an entry with another record's attempt is not acknowledged by it",
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
        "an entry with an attempt to another topic is not acknowledged by it",
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
        "an entry with an unacknowledged attempt is not acknowledged by another one",
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
        "a read of the same position in another topic does not count",
        sends=[{"attempt": "a/1", "record": "a"}],
        log=[{"record": "a"}],
        assignments=[{}],
        reads=[{"record": "a", "topic": "orders", "offset": 0}],
        expected=_NONE_OF_THESE,
        finds={"unseen": [{"offset": 0}]},
    )
    yield sample(
        "an entry of an unknown record is ignored among records seen at its position",
        phases=CUT_SHORT,
        sends=[
            {"attempt": "a/1", "record": "a", "partition": 0, "offset": 0},
            {"attempt": "b/1", "record": "b", "partition": 0, "offset": 0},
        ],
        log=[{"record": None}],
        finds={"inconsistent-offsets": [{"offset": 0}]},
    )


def _conflicting_positions() -> Iterator[Sample]:
    a = {"attempt": "a/1", "record": "a", "partition": 0, "offset": 4}
    b = a | {"attempt": "b/1", "record": "b"}
    for title, more in (
        ("both committed", {}),
        ("one not committed", {"committed": False}),
    ):
        yield sample(
            f"two records at one position, {title}, and neither is lost",
            phases=CUT_SHORT,
            sends=[a, b],
            log=[{"record": "a", "offset": 4}, {"record": "b", "offset": 4} | more],
            effects=[{"record": "a"}, {"record": "b"}],
            alone=not more,
            finds={"inconsistent-offsets": [{"offset": 4}]},
        )
    yield sample(
        "records at one offset of different partitions or topics do not conflict",
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
        "two records share two positions, one too many for each",
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
    *_sources(), *_logged_later(), *_early_reads(), *_skips(), *_unseen(),
    *_conflicting_positions(),
)  # fmt: skip
