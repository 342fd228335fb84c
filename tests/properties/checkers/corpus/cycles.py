"""Transactions that depend on each other in a circle, and what comes close to it.

In most of these one dependency is beyond doubt, from t to u, and the sample
asks for the one that would lead back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from tests.properties.checkers.corpus.base import CUT_SHORT, Sample, sample

Rows = dict[str, dict[str, Any]]
_T_U: Final = "t → u → t"


def _cycles(
    tells: str,
    *,
    txns: Mapping[str, Mapping[str, Any]],
    sends: Mapping[str, Mapping[str, Any]],
    log: Sequence[Mapping[str, Any]] = (),
    reads: Sequence[Mapping[str, Any]] = (),
    finds: str | Sequence[str] = (),
    cycle: str = _T_U,
    alone: bool = False,
    others: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
) -> Sample:
    """Sessions, attempts and places are as dull as can be: each transaction and read has its own.

    Nothing is settled or collected, so that nothing can be missed.
    """
    found = [finds] if isinstance(finds, str) else finds
    return sample(
        tells,
        finds={name: [{"cycle": cycle}] for name in found} | dict(others or {}),
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


def _of_reads() -> Iterator[Sample]:
    """u read a, which t wrote. Did t read what u wrote?"""
    nothing: dict[str, Any] = {}
    for tells, back, finds in (
        ("each read what the other wrote", {}, "G1c"),
        ("an uncommitted read promises nothing", {"isolation": "read_uncommitted"}, ()),
        ("a record that was sent once has one origin", {"attempt": None}, "G1c"),
        ("an attempt of another record names nobody", {"attempt": "a/1"}, "G1c"),
        ("an attempt that nobody made names nobody", {"attempt": "z/1"}, "G1c"),
        ("a record of another topic is another record", {"topic": "aside"}, ()),
        ("an attempt to another topic names nobody", {"topic": "aside", "attempt": None}, ()),
        ("an uncommitted read promises nothing, whoever it is of",
         {"isolation": "read_uncommitted", "attempt": None}, ()),
        ("a transaction that read its own record", {"txn": "u"}, ()),
        ("who read outside of a transaction", {"txn": None}, ()),
        ("who read in a transaction that nobody began", {"txn": "x"}, ()),
        ("a read whose record is not known", {"record": None}, ()),
    ):  # fmt: skip
        yield _cycles(
            f"cycle of reads: {tells}",
            txns=_TWO,
            sends=_SENT,
            reads=[_READ, _BACK | back],
            finds=finds,
        )
    yield _cycles(
        "cycle of reads: each record was sent elsewhere as well, and seen there",
        txns=_TWO | {"v": {}},
        sends={**_SENT, "b/2": {"topic": "aside", "txn": "v"}},
        reads=[_READ, _BACK | {"attempt": None}, _BACK | {"attempt": None, "topic": "aside"}],
        finds="G1c",
    )
    yield _cycles(
        "cycle of reads: an earlier transaction was read as well",
        txns={"s": {"began_at": 0}, "t": {"began_at": 1}, "u": {"began_at": 2}},
        sends={**_SENT, "x/1": {"txn": "s"}},
        reads=[{"record": "x", "txn": "t"}, _READ, _BACK],
        finds="G1c",
        alone=True,
    )
    for tells, sends, back, finds in (
        ("sent twice, nobody knows by whom", {"b/2": {"txn": "u"}}, {"attempt": None}, ()),
        ("sent twice, the attempt tells", {"b/2": {"txn": None}}, nothing, "G1c"),
        ("sent twice, the attempt is the other's", {"b/2": {}}, {"attempt": "b/2"}, ()),
        ("sent elsewhere as well, it is still the only one here",
         {"b/2": {"topic": "aside", "txn": "t"}}, {"attempt": None}, "G1c"),
        ("sent elsewhere as well, the attempt is of there",
         {"b/2": {"topic": "aside", "txn": "t"}}, {"attempt": "b/2"}, "G1c"),
        ("the only send of its record was in no transaction", {"b/1": {"txn": None}},
         {"attempt": None}, ()),
    ):  # fmt: skip
        yield _cycles(
            f"cycle of reads: {tells}",
            txns=_TWO,
            sends={**_SENT, **sends},
            reads=[_READ, _BACK | back],
            finds=finds,
        )


def _of_aborted(log: Sequence[object]) -> dict[str, list[dict[str, str]]]:
    """What else is found of record b, which was sent in an aborted transaction and read."""
    names = ("aborted-read", "duplicate") if log else ("aborted-read",)
    return {name: [{"record": "b"}] for name in names}


def _of_outcomes() -> Iterator[Sample]:
    """u read a, which t wrote, and t read b, which u wrote. Is u committed?"""
    for tells, txn, sends, log, finds in (
        ("an aborted transaction is in no cycle", {"outcome": "aborted"}, {}, [], ()),
        ("an aborted transaction is in no cycle, whatever of it is committed",
         {"outcome": "aborted"}, {}, [{}], ()),
        ("nobody knows", {}, {}, [], ()),
        ("its record is committed", {}, {}, [{"attempt": "b/1"}], "G1c"),
        ("its only send is committed", {}, {}, [{}], "G1c"),
        ("its record is not committed", {}, {}, [{"attempt": "b/1", "committed": False}], ()),
        ("its only send is not committed", {}, {}, [{"committed": False}], ()),
        ("a marker proves nothing", {}, {}, [{"kind": "commit"}], ()),
        ("nor does one that names its attempt", {}, {}, [{"kind": "commit", "attempt": "b/1"}], ()),
        ("its record, sent twice, may be the other's", {}, {"b/2": {}}, [{}], ()),
        ("its record, sent twice, is its own", {}, {"b/2": {}}, [{"attempt": "b/1"}], "G1c"),
        ("its record, sent twice, is the other's", {}, {"b/2": {}}, [{"attempt": "b/2"}], ()),
        ("its record was sent elsewhere as well", {}, {"b/2": {"topic": "aside"}}, [{}], "G1c"),
        ("both of its records are committed", {}, {"d/1": {"txn": "u"}},
         [{"attempt": "b/1"}, {"record": "d"}], "G1c"),
        ("it sent another record as well", {}, {"d/1": {"txn": "u"}}, [{}], "G1c"),
        ("it sent its record elsewhere as well", {}, {"b/2": {"topic": "aside", "txn": "u"}},
         [{}], "G1c"),
        ("its only send is not the attempt that is committed", {}, {}, [{"attempt": "z/1"}], ()),
    ):  # fmt: skip
        yield _cycles(
            f"cycle of committed transactions: {tells}",
            txns={"t": {}, "u": {"outcome": "info"} | txn},
            sends={**_SENT, **sends},
            log=[{"record": "b"} | entry for entry in log],
            reads=[_READ, _BACK],
            finds=finds,
            others=_of_aborted(log) if txn else None,
        )
    for tells, entry in (
        ("the same record elsewhere", {"topic": "aside", "record": "b"}),
        ("its attempt elsewhere", {"topic": "aside", "record": "b", "attempt": "b/1"}),
        ("its attempt with another record", {"record": "a", "attempt": "b/1"}),
        ("another record", {"record": "a"}),
    ):
        yield _cycles(
            f"cycle of committed transactions: {tells} proves nothing",
            txns={"t": {}, "u": {"outcome": "info"}},
            sends=_SENT,
            log=[entry],
            reads=[_READ, _BACK],
        )


def _of_writes() -> Iterator[Sample]:
    """t wrote a, u wrote b behind it, and what comes then?"""
    wrote = [{"record": "a", "attempt": "a/1"}, {"record": "b", "attempt": "b/1"}]
    sends = {**_SENT, "c/1": {"txn": "t"}, "c/2": {"topic": "aside"}}
    for tells, last, finds in (
        ("t again", {}, "G0"),
        ("t again, in another partition", {"partition": 1}, ()),
        ("t again, not committed", {"committed": False}, ()),
        ("t again, its marker", {"kind": "commit"}, ()),
        ("t again, as the only send of its record says", {"attempt": None}, "G0"),
        ("t again, in spite of an attempt of another record", {"attempt": "b/1"}, "G0"),
        ("t again, in spite of an attempt to another topic", {"attempt": "c/2"}, "G0"),
        ("t again, not committed, and only its record says so",
         {"attempt": None, "committed": False}, ()),
        ("t again, its marker, and only its record says so",
         {"attempt": None, "kind": "commit"}, ()),
        ("nobody knows what", {"record": None}, ()),
        ("nobody knows what, nor of whom", {"record": None, "attempt": None}, ()),
    ):  # fmt: skip
        yield _cycles(
            f"cycle of writes: {tells}",
            txns=_TWO,
            sends=sends,
            log=[*wrote, {"record": "c", "attempt": "c/1"} | last],
            finds=finds,
            others={"corrupt": [{"record": "c"}]} if last.get("attempt") == "c/2" else None,
        )
    yield _cycles(
        "cycle of writes: what t and u wrote was seen at one offset, before u and t wrote again",
        txns=_TWO,
        sends={**_SENT, "c/1": {"txn": "t"}, "d/1": {"txn": "u"}},
        log=[
            {"record": record, "attempt": f"{record}/1", "offset": offset}
            for record, offset in (("b", 4), ("a", 4), ("d", 5), ("c", 6))
        ],
        others={"inconsistent-offsets": [{"offset": 4}]},
    )


def _of_what_lies_between() -> Iterator[Sample]:
    """t wrote a, u wrote b behind it and t wrote c, and nothing carries an attempt."""
    sends = {**_SENT, "c/1": {"txn": "t"}}
    for tells, more, odd in (
        ("an entry that nobody sent", {}, "phantom"),
        ("an entry that two may have sent", {"x/1": {"txn": "w"}, "x/2": {}}, None),
        ("an entry of no transaction", {"x/1": {}}, None),
        ("an entry of an aborted transaction", {"x/1": {"txn": "w"}}, "duplicate"),
    ):
        yield _cycles(
            f"cycle of writes: {tells} lies between them",
            txns=_TWO | {"w": {"outcome": "aborted"}},
            sends={**sends, **more},
            log=[{"record": record} for record in "axbc"],
            finds="G0",
            others={odd: [{"record": "x"}]} if odd else None,
        )
    for tells, txn in (("in a transaction", "u"), ("in none", None)):
        yield _cycles(
            f"cycle of writes: what was read {tells} was not written there",
            txns=_TWO,
            sends=_SENT,
            log=[{"record": "a"}, {"record": "b"}],
            reads=[{"record": "a", "txn": txn, "offset": 2}],
        )
    yield _cycles(
        "cycle of writes: entries of another topic that carry these attempts",
        txns=_TWO,
        sends=sends,
        log=[{"topic": "aside", "record": r, "attempt": f"{r}/1"} for r in "abc"],
    )
    yield _cycles(
        "cycle of writes: a record that t sent elsewhere alone was written outside of transactions",
        txns=_TWO,
        sends={**_SENT, "c/1": {}, "c/2": {"topic": "aside", "txn": "t"}},
        log=[*({"record": r} for r in "abc"), {"record": "c", "topic": "aside"}],
    )
    yield _cycles(
        "cycle of writes: an earlier transaction wrote before them",
        txns={"x": {"began_at": 0}, "t": {"began_at": 1}, "u": {"began_at": 2}},
        sends={**sends, "x/1": {"txn": "x"}},
        log=[{"record": r} for r in "xabc"],
        finds="G0",
        alone=True,
    )


def _of_several_places() -> Iterator[Sample]:
    """t and u wrote, or read from each other, more than once: the first such place is told."""
    yield _cycles(
        "cycle of writes: the first partition is told, and in it the first offset",
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
        "cycle of writes: who wrote behind several others has a place with each",
        txns=_TWO | {"v": {}},
        sends={f"{r}/1": {"txn": txn} for r, txn in zip("abcde", "tvtut", strict=True)},
        log=[{"record": record} for record in "abcde"],
        finds="G0",
    )
    read = {"txn": "u"}
    yield _cycles(
        "cycle of reads: the first partition is told, and in it the first offset and record",
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
        others={"inconsistent-offsets": [{"partition": 8, "offset": 7}]},
    )


def _of_topics() -> Iterator[Sample]:
    """A cycle is told where one of its transactions sent to, and nowhere else."""
    here, there = {"txn": "t"}, {"txn": "u"}
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
            f"cycle of {kind}: nothing of it is on trial",
            txns=txns,
            sends={
                attempt: {"topic": "aside"} | send
                for attempt, send in (("a/1", here), ("b/1", there), ("c/1", here))
            },
            log=[{"record": record, "topic": "aside"} for record in log],
            reads=[{"topic": "aside"} | read for read in reads],
        )
    a_b_and: Rows = {**_SENT, "c/1": {"txn": "u", "topic": "aside"}}
    three = _TWO | {"v": {}}
    of_v = {"txn": "v", "topic": "aside"}
    d_of_v = {"record": "d", "topic": "aside"}
    yield _cycles(
        "cycle of writes: one of its transactions sent only elsewhere",
        txns=three,
        sends={**a_b_and, "d/1": of_v, "e/1": {"txn": "t", "topic": "aside"}},
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
            f"cycle of {kind}: one of its transactions sent only elsewhere",
            txns=three,
            sends={**_SENT, "d/1": of_v},
            log=log,
            reads=[*first, {"record": "b", "txn": "v"}, d_of_v | {"txn": "t"}],
            finds=finds,
            cycle="t → u → v → t",
        )


def _of_time() -> Iterator[Sample]:
    """t read what u wrote. Did t come before u?"""
    for tells, txns, finds in (
        ("others ended before t, and between the two",
         {"s": {"began_at": 2, "ended_at": 3}, "t": {"began_at": 1, "ended_at": 4},
          "m": {"began_at": 5, "ended_at": 6}, "n": {"began_at": 5, "ended_at": 7},
          "u": {"began_at": 8}}, "G1c-realtime"),
        ("one ended between the two by another clock",
         {"t": {"began_at": 1, "ended_at": 4},
          "m": {"began_at": 2, "ended_at": 5, "clock": "other"},
          "n": {"began_at": 2, "ended_at": 6},
          "u": {"began_at": 8}}, "G1c-realtime"),
        ("u began when t ended", {"t": {"began_at": 1, "ended_at": 3}, "u": {"began_at": 3}}, ()),
        ("the commit was called when t had ended",
         {"t": {"began_at": 1, "ended_at": 2, "commit_called_at": 10},
          "u": {"began_at": 3, "ended_at": 4, "commit_called_at": 3}}, "G1c-realtime"),
        ("in one session, where the commit of t was called later",
         {"t": {"began_at": 1, "commit_called_at": 9, "session": "p"},
          "u": {"began_at": 2, "commit_called_at": 3, "session": "p"}}, "G1c-process"),
        ("in one session, by another clock",
         {"t": {"began_at": 1, "session": "p"},
          "u": {"began_at": 2, "session": "p", "clock": "other"}}, ()),
        ("in one session, beside that of another",
         {"t": {"began_at": 1, "session": "p"}, "x": {"began_at": 2},
          "u": {"began_at": 3, "session": "p"}}, "G1c-process"),
        ("two began at once in its session, and t is the last of them by name",
         {"s": {"began_at": 1, "commit_called_at": 5, "session": "p"},
          "t": {"began_at": 1, "commit_called_at": 2, "session": "p"},
          "u": {"began_at": 2, "commit_called_at": 6, "session": "p"}}, "G1c-process"),
    ):  # fmt: skip
        yield _cycles(
            f"cycle in time: {tells}",
            txns=txns,
            sends={f"{txn}/1": {"txn": txn} for txn in txns},
            reads=[{"record": "u", "attempt": "u/1", "txn": "t", "at": 99}],
            finds=finds,
        )
    yield _cycles(
        "cycle in time: in one session, in which names do not say what came first",
        txns={"t": {"began_at": 2, "session": "p"}, "u": {"began_at": 1, "session": "p"}},
        sends=_SENT,
        reads=[{"record": "a", "txn": "u"}],
        finds="G1c-process",
    )
    yield _cycles(
        "cycle in time: a session leads on, but only time leads back to what was read",
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
    *_of_reads(),
    *_of_outcomes(),
    *_of_writes(),
    *_of_what_lies_between(),
    *_of_several_places(),
    *_of_topics(),
    *_of_time(),
)
