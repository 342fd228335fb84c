"""Transactions that depend on each other in a cycle, and near misses.

Most samples have a certain dependency from t to u and vary the one that would close the cycle.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from tests.properties.checkers.corpus.base import CUT_SHORT, Sample, sample

Rows = dict[str, dict[str, Any]]
_T_U: Final = "t → u → t"


def _cycles(
    title: str,
    *,
    txns: Mapping[str, Mapping[str, Any]],
    sends: Mapping[str, Mapping[str, Any]],
    log: Sequence[Mapping[str, Any]] = (),
    reads: Sequence[Mapping[str, Any]] = (),
    finds: str | Sequence[str] = (),
    cycle: str = _T_U,
    alone: bool = False,
    other_findings: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
) -> Sample:
    """Each transaction and read gets its own session and place unless given.

    Nothing is settled or collected, so no anomaly of absence is found.
    """
    found = [finds] if isinstance(finds, str) else finds
    return sample(
        title,
        finds={name: [{"cycle": cycle}] for name in found} | dict(other_findings or {}),
        phases=CUT_SHORT,
        alone=alone,
        txns=[
            {"txn": name, "session": f"p-{name}", "commit_called_at": 0} | txn
            for name, txn in txns.items()
        ],
        sends=[
            {"attempt": attempt, "record": attempt[0], "session": f"s-{attempt}"} | send
            for attempt, send in sends.items()
        ],
        log=[{"partition": 9} | entry for entry in log],
        reads=[
            {"session": f"c{n}", "partition": 9, "offset": 100 + n} | r for n, r in enumerate(reads)
        ],
    )


_TWO: Final[Rows] = {"t": {}, "u": {}}
_SENT: Final[Rows] = {"a/1": {"txn": "t"}, "b/1": {"txn": "u"}}
_READ: Final = {"record": "a", "attempt": "a/1", "txn": "u"}
_BACK: Final = {"record": "b", "attempt": "b/1", "txn": "t"}


def _read_cycles() -> Iterator[Sample]:
    """u read a, which t wrote; the samples vary what t read."""
    nothing: dict[str, Any] = {}
    for title, back, finds in (
        ("each transaction read the other's write", {}, "G1c"),
        ("a read_uncommitted read is ignored", {"isolation": "read_uncommitted"}, ()),
        ("a record without attempt, sent once, has a known writer", {"attempt": None}, "G1c"),
        ("another record's attempt is ignored", {"attempt": "a/1"}, "G1c"),
        ("an unknown attempt is ignored", {"attempt": "z/1"}, "G1c"),
        ("a read from another topic has no known writer", {"topic": "aside"}, ()),
        ("a read from another topic without attempt has no writer",
         {"topic": "aside", "attempt": None}, ()),
        ("a read_uncommitted read without attempt is ignored",
         {"isolation": "read_uncommitted", "attempt": None}, ()),
        ("a transaction read its own write", {"txn": "u"}, ()),
        ("a read outside of transactions", {"txn": None}, ()),
        ("a read in an unknown transaction", {"txn": "x"}, ()),
        ("a read of an unknown record", {"record": None}, ()),
    ):  # fmt: skip
        yield _cycles(
            f"cycle of reads: {title}",
            txns=_TWO,
            sends=_SENT,
            reads=[_READ, _BACK | back],
            finds=finds,
        )
    yield _cycles(
        "cycle of reads: a record was also sent to another topic and read there",
        txns=_TWO | {"v": {}},
        sends={**_SENT, "b/2": {"topic": "aside", "txn": "v"}},
        reads=[_READ, _BACK | {"attempt": None}, _BACK | {"attempt": None, "topic": "aside"}],
        finds="G1c",
    )
    yield _cycles(
        "cycle of reads: an earlier transaction was also read",
        txns={"s": {"began_at": 0}, "t": {"began_at": 1}, "u": {"began_at": 2}},
        sends={**_SENT, "x/1": {"txn": "s"}},
        reads=[{"record": "x", "txn": "t"}, _READ, _BACK],
        finds="G1c",
        alone=True,
    )
    for title, sends, back, finds in (
        ("sent twice, the writer is ambiguous", {"b/2": {"txn": "u"}}, {"attempt": None}, ()),
        ("sent twice, the attempt identifies the writer", {"b/2": {"txn": None}}, nothing, "G1c"),
        ("sent twice, the attempt identifies the other send", {"b/2": {}}, {"attempt": "b/2"}, ()),
        ("also sent to another topic, the only send to this one counts",
         {"b/2": {"topic": "aside", "txn": "t"}}, {"attempt": None}, "G1c"),
        ("also sent to another topic, the attempt is from there",
         {"b/2": {"topic": "aside", "txn": "t"}}, {"attempt": "b/2"}, "G1c"),
        ("the only send of the record was outside of transactions", {"b/1": {"txn": None}},
         {"attempt": None}, ()),
    ):  # fmt: skip
        yield _cycles(
            f"cycle of reads: {title}",
            txns=_TWO,
            sends={**_SENT, **sends},
            reads=[_READ, _BACK | back],
            finds=finds,
        )


def _aborted_findings(log: Sequence[object]) -> dict[str, list[dict[str, str]]]:
    """Additional findings for record b, read although its transaction aborted."""
    names = ("aborted-read", "duplicate") if log else ("aborted-read",)
    return {name: [{"record": "b"}] for name in names}


def _uncertain_outcomes() -> Iterator[Sample]:
    """t and u read each other's writes; the samples vary the evidence that u committed."""
    for title, txn, sends, log, finds in (
        ("an aborted transaction is excluded", {"outcome": "aborted"}, {}, [], ()),
        ("an aborted transaction with a committed entry is excluded",
         {"outcome": "aborted"}, {}, [{}], ()),
        ("no entry shows the outcome", {}, {}, [], ()),
        ("a committed entry with its attempt", {}, {}, [{"attempt": "b/1"}], "G1c"),
        ("a committed entry of its only send", {}, {}, [{}], "G1c"),
        ("an uncommitted entry with its attempt",
         {}, {}, [{"attempt": "b/1", "committed": False}], ()),
        ("an uncommitted entry of its only send", {}, {}, [{"committed": False}], ()),
        ("a marker without attempt", {}, {}, [{"kind": "commit"}], ()),
        ("a marker with its attempt", {}, {}, [{"kind": "commit", "attempt": "b/1"}], ()),
        ("its record was sent twice, the entry has no attempt", {}, {"b/2": {}}, [{}], ()),
        ("its record was sent twice, the entry has its attempt",
         {}, {"b/2": {}}, [{"attempt": "b/1"}], "G1c"),
        ("its record was sent twice, the entry has the other attempt",
         {}, {"b/2": {}}, [{"attempt": "b/2"}], ()),
        ("its record was also sent to another topic", {}, {"b/2": {"topic": "aside"}}, [{}], "G1c"),
        ("committed entries of both its records", {}, {"d/1": {"txn": "u"}},
         [{"attempt": "b/1"}, {"record": "d"}], "G1c"),
        ("it also sent another record", {}, {"d/1": {"txn": "u"}}, [{}], "G1c"),
        ("it also sent its record to another topic", {}, {"b/2": {"topic": "aside", "txn": "u"}},
         [{}], "G1c"),
        ("a committed entry with an unknown attempt", {}, {}, [{"attempt": "z/1"}], ()),
    ):  # fmt: skip
        yield _cycles(
            f"cycle of committed transactions: {title}",
            txns={"t": {}, "u": {"outcome": "info"} | txn},
            sends={**_SENT, **sends},
            log=[{"record": "b"} | entry for entry in log],
            reads=[_READ, _BACK],
            finds=finds,
            other_findings=_aborted_findings(log) if txn else None,
        )
    for title, entry in (
        ("the same record in another topic", {"topic": "aside", "record": "b"}),
        ("its attempt in another topic", {"topic": "aside", "record": "b", "attempt": "b/1"}),
        ("its attempt with another record", {"record": "a", "attempt": "b/1"}),
        ("another record", {"record": "a"}),
    ):
        yield _cycles(
            f"cycle of committed transactions: {title} proves nothing",
            txns={"t": {}, "u": {"outcome": "info"}},
            sends=_SENT,
            log=[entry],
            reads=[_READ, _BACK],
        )


def _write_cycles() -> Iterator[Sample]:
    """t wrote a, u wrote b after it; the samples vary the entry that follows."""
    wrote = [{"record": "a", "attempt": "a/1"}, {"record": "b", "attempt": "b/1"}]
    sends = {**_SENT, "c/1": {"txn": "t"}, "c/2": {"topic": "aside"}}
    for title, last, finds in (
        ("t writes again", {}, "G0"),
        ("t writes again in another partition", {"partition": 1}, ()),
        ("t writes again, not committed", {"committed": False}, ()),
        ("t writes a marker", {"kind": "commit"}, ()),
        ("t writes again, without attempt", {"attempt": None}, "G0"),
        ("t writes again, with another record's attempt", {"attempt": "b/1"}, "G0"),
        ("t writes again, with an attempt to another topic", {"attempt": "c/2"}, "G0"),
        ("t writes again, not committed and without attempt",
         {"attempt": None, "committed": False}, ()),
        ("t writes a marker without attempt",
         {"attempt": None, "kind": "commit"}, ()),
        ("an unknown record with t's attempt", {"record": None}, ()),
        ("an unknown record without attempt", {"record": None, "attempt": None}, ()),
    ):  # fmt: skip
        yield _cycles(
            f"cycle of writes: {title}",
            txns=_TWO,
            sends=sends,
            log=[*wrote, {"record": "c", "attempt": "c/1"} | last],
            finds=finds,
            other_findings={"corrupt": [{"record": "c"}]} if last.get("attempt") == "c/2" else None,
        )
    yield _cycles(
        "cycle of writes: t and u have entries at one offset, then u and t write again",
        txns=_TWO,
        sends={**_SENT, "c/1": {"txn": "t"}, "d/1": {"txn": "u"}},
        log=[
            {"record": record, "attempt": f"{record}/1", "offset": offset}
            for record, offset in (("b", 4), ("a", 4), ("d", 5), ("c", 6))
        ],
        other_findings={"inconsistent-offsets": [{"offset": 4}]},
    )


def _entries_in_between() -> Iterator[Sample]:
    """t wrote a, u wrote b after it, then t wrote c; no entry carries an attempt."""
    sends = {**_SENT, "c/1": {"txn": "t"}}
    for title, more, extra_anomaly in (
        ("an entry of a record never sent", {}, "phantom"),
        ("an entry with two possible writers", {"x/1": {"txn": "w"}, "x/2": {}}, None),
        ("a non-transactional entry", {"x/1": {}}, None),
        ("an entry of an aborted transaction", {"x/1": {"txn": "w"}}, "duplicate"),
    ):
        yield _cycles(
            f"cycle of writes: {title} in between",
            txns=_TWO | {"w": {"outcome": "aborted"}},
            sends={**sends, **more},
            log=[{"record": record} for record in "axbc"],
            finds="G0",
            other_findings={extra_anomaly: [{"record": "x"}]} if extra_anomaly else None,
        )
    for title, txn in (("inside a transaction", "u"), ("outside of transactions", None)):
        yield _cycles(
            f"cycle of writes: a read {title} is not a write",
            txns=_TWO,
            sends=_SENT,
            log=[{"record": "a"}, {"record": "b"}],
            reads=[{"record": "a", "txn": txn, "offset": 2}],
        )
    yield _cycles(
        "cycle of writes: entries in another topic with the same attempts",
        txns=_TWO,
        sends=sends,
        log=[{"topic": "aside", "record": r, "attempt": f"{r}/1"} for r in "abc"],
    )
    yield _cycles(
        "cycle of writes: a non-transactional entry of a record that t sent to another topic",
        txns=_TWO,
        sends={**_SENT, "c/1": {}, "c/2": {"topic": "aside", "txn": "t"}},
        log=[*({"record": r} for r in "abc"), {"record": "c", "topic": "aside"}],
    )
    yield _cycles(
        "cycle of writes: an earlier transaction wrote before t and u",
        txns={"x": {"began_at": 0}, "t": {"began_at": 1}, "u": {"began_at": 2}},
        sends={**sends, "x/1": {"txn": "x"}},
        log=[{"record": r} for r in "xabc"],
        finds="G0",
        alone=True,
    )


def _several_witnesses() -> Iterator[Sample]:
    """With several writes or reads between t and u, the witness is the first of them."""
    yield _cycles(
        "cycle of writes: the witness is the first offset of the first partition",
        txns=_TWO,
        sends={f"{r}/1": {"txn": "t" if r < "p" else "u"} for r in "abcdpqrs"},
        log=[
            {"record": record, "partition": partition, "offset": offset}
            for record, partition, offset in (
                ("a", 9, 0), ("p", 9, 1), ("b", 9, 2), ("q", 9, 3), ("c", 8, 5), ("r", 8, 6),
                ("d", 8, 7), ("s", 8, 8),
            )
        ],
        finds="G0",
    )  # fmt: skip
    yield _cycles(
        "cycle of writes: a transaction that follows two others has an edge from each",
        txns=_TWO | {"v": {}},
        sends={f"{r}/1": {"txn": txn} for r, txn in zip("abcde", "tvtut", strict=True)},
        log=[{"record": record} for record in "abcde"],
        finds="G0",
    )
    yield _cycles(
        "cycle of writes: the witness is the first topic, whatever the partitions",
        txns=_TWO,
        sends={
            **_SENT,
            "c/1": {"txn": "t"},
            "d/1": {"txn": "t", "topic": "aside"},
            "e/1": {"txn": "u", "topic": "aside"},
        },
        log=[
            *({"record": record, "partition": 8} for record in "abc"),
            *({"record": record, "topic": "aside"} for record in "de"),
        ],
        finds="G0",
    )
    read = {"txn": "u"}
    yield _cycles(
        "cycle of reads: the witness is the first topic, whatever the partitions",
        txns=_TWO,
        sends={**_SENT, "c/1": {"txn": "t", "topic": "aside"}},
        reads=[
            {"record": "a", "partition": 8} | read,
            {"record": "c", "topic": "aside"} | read,
            _BACK,
        ],
        finds="G1c",
    )
    yield _cycles(
        "cycle of reads: the witness is the first read of the first partition",
        txns=_TWO | {"s": {}, "v": {}},
        sends={**_SENT, **{f"{r}/1": {"txn": "t"} for r in "cdef"}, "x/1": {"txn": "s"}},
        reads=[
            {"record": "x", "txn": "u", "partition": 0, "offset": 0},
            {"record": "a", "txn": "v", "partition": 0, "offset": 1},
            {"record": "a", "partition": 9, "offset": 1} | read,
            {"record": "e", "partition": 8, "offset": 7} | read,
            {"record": "d", "partition": 8, "offset": 7} | read,
            {"record": "f", "partition": 8, "offset": 7} | read,
            {"record": "c", "partition": 8, "offset": 8} | read,
            _BACK,
        ],
        finds="G1c",
        other_findings={"inconsistent-offsets": [{"partition": 8, "offset": 7}]},
    )


def _across_topics() -> Iterator[Sample]:
    """A cycle is reported on each topic to which one of its transactions sent."""
    by_t, by_u = {"txn": "t"}, {"txn": "u"}
    one_session = {"t": {"session": "p", "began_at": 1}, "u": {"session": "p", "began_at": 2}}
    in_time = {"t": {"began_at": 1, "ended_at": 2}, "u": {"began_at": 3}}
    for kind, txns, log, reads in (
        ("writes", _TWO, "abc", []),
        ("reads", _TWO, "", [_READ, _BACK]),
        ("reads and writes", _TWO, "ab", [_BACK]),
        ("reads and sessions", one_session, "", [_BACK]),
        ("reads and time", in_time, "", [_BACK]),
    ):
        yield _cycles(
            f"cycle of {kind}: entirely in a topic that is not on trial",
            txns=txns,
            sends={
                attempt: {"topic": "aside"} | send
                for attempt, send in (("a/1", by_t), ("b/1", by_u), ("c/1", by_t))
            },
            log=[{"record": record, "topic": "aside"} for record in log],
            reads=[{"topic": "aside"} | read for read in reads],
        )
    base_sends: Rows = {**_SENT, "c/1": {"txn": "u", "topic": "aside"}}
    three = _TWO | {"v": {}}
    of_v = {"txn": "v", "topic": "aside"}
    d_of_v = {"record": "d", "topic": "aside"}
    yield _cycles(
        "cycle of writes: one of its transactions sent only to another topic",
        txns=three,
        sends={**base_sends, "d/1": of_v, "e/1": {"txn": "t", "topic": "aside"}},
        log=[
            {"record": "a"},
            {"record": "b"},
            *({"record": record, "topic": "aside", "offset": n} for n, record in enumerate("cde")),
        ],
        finds="G0",
        cycle="t → u → v → t",
    )
    for kind, log, first, finds in (
        ("reads", [], [_READ], "G1c"),
        ("reads and writes", [{"record": "a"}, {"record": "b"}], [], "G1c-ww"),
    ):
        yield _cycles(
            f"cycle of {kind}: one of its transactions sent only to another topic",
            txns=three,
            sends={**_SENT, "d/1": of_v},
            log=log,
            reads=[*first, {"record": "b", "txn": "v"}, d_of_v | {"txn": "t"}],
            finds=finds,
            cycle="t → u → v → t",
        )


def _ordered_by_time() -> Iterator[Sample]:
    """t read u's write; the samples vary whether t came before u."""
    for title, txns, finds in (
        ("others ended before t and between t and u",
         {"s": {"began_at": 2, "ended_at": 3}, "t": {"began_at": 1, "ended_at": 4},
          "m": {"began_at": 5, "ended_at": 6}, "n": {"began_at": 5, "ended_at": 7},
          "u": {"began_at": 8}}, "G1c-realtime"),
        ("another one ended in between by another clock",
         {"t": {"began_at": 1, "ended_at": 4},
          "m": {"began_at": 2, "ended_at": 5, "clock": "other"},
          "n": {"began_at": 2, "ended_at": 6},
          "u": {"began_at": 8}}, "G1c-realtime"),
        ("u began when t ended", {"t": {"began_at": 1, "ended_at": 3}, "u": {"began_at": 3}}, ()),
        ("the commit was called after t had ended",
         {"t": {"began_at": 1, "ended_at": 2, "commit_called_at": 10},
          "u": {"began_at": 3, "ended_at": 4, "commit_called_at": 3}}, "G1c-realtime"),
        ("in one session, t's commit was called after u's",
         {"t": {"began_at": 1, "commit_called_at": 9, "session": "p"},
          "u": {"began_at": 2, "commit_called_at": 3, "session": "p"}}, "G1c-process"),
        ("in one session, by different clocks",
         {"t": {"began_at": 1, "session": "p"},
          "u": {"began_at": 2, "session": "p", "clock": "other"}}, ()),
        ("in one session, with another session in between",
         {"t": {"began_at": 1, "session": "p"}, "x": {"began_at": 2},
          "u": {"began_at": 3, "session": "p"}}, "G1c-process"),
        ("in one session, s and t began at once and t has the later name",
         {"s": {"began_at": 1, "commit_called_at": 5, "session": "p"},
          "t": {"began_at": 1, "commit_called_at": 2, "session": "p"},
          "u": {"began_at": 2, "commit_called_at": 6, "session": "p"}}, "G1c-process"),
    ):  # fmt: skip
        yield _cycles(
            f"cycle in time: {title}",
            txns=txns,
            sends={f"{txn}/1": {"txn": txn} for txn in txns},
            reads=[{"record": "u", "attempt": "u/1", "txn": "t", "at": 99}],
            finds=finds,
        )
    yield _cycles(
        "cycle in time: in one session, ordered by begin and not by name",
        txns={"t": {"began_at": 2, "session": "p"}, "u": {"began_at": 1, "session": "p"}},
        sends=_SENT,
        reads=[{"record": "a", "txn": "u"}],
        finds="G1c-process",
    )
    yield _cycles(
        "cycle in time: a session edge, then a realtime edge, then a read",
        txns={
            "t": {"began_at": 1, "session": "p"},
            "u": {"began_at": 2, "session": "p", "ended_at": 3},
            "v": {"began_at": 4},
        },
        sends={**_SENT, "d/1": {"txn": "v"}},
        reads=[{"record": "d", "txn": "t"}],
        finds="G1c-realtime",
        cycle="t → u → v → t",
    )


SAMPLES: Final = (
    *_read_cycles(),
    *_uncertain_outcomes(),
    *_write_cycles(),
    *_entries_in_between(),
    *_several_witnesses(),
    *_across_topics(),
    *_ordered_by_time(),
)
