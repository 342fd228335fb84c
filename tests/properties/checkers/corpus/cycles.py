"""Transactions that depend on each other in a circle, and what comes close to it.

The one thing to know: in most of these one dependency is beyond doubt, from t to u, and the sample
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
        ("a transaction that read its own record", {"txn": "u"}, ()),
        ("who read outside of a transaction", {"txn": None}, ()),
        ("who read in a transaction that nobody began", {"txn": "x"}, ()),
        ("a read whose record is not known", {"record": None}, ()),
    ):
        yield _cycles(
            f"cycle of reads: {tells}",
            txns=_TWO,
            sends=_SENT,
            reads=[_READ, _BACK | back],
            finds=finds,
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


def _of_outcomes() -> Iterator[Sample]:
    """u read a, which t wrote, and t read b, which u wrote. Is u committed?"""
    for tells, txn, sends, log, finds in (
        ("an aborted transaction is in no cycle", {"outcome": "aborted"}, {}, [], ()),
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
    ):  # fmt: skip
        yield _cycles(
            f"cycle of committed transactions: {tells}",
            txns={"t": {}, "u": {"outcome": "info"} | txn},
            sends={**_SENT, **sends},
            log=[{"record": "b"} | entry for entry in log],
            reads=[_READ, _BACK],
            finds=finds,
            others=(
                {"aborted-read": [{"record": "b"}]} if txn.get("outcome") == "aborted" else None
            ),
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
    sends = {**_SENT, "c/1": {"txn": "t"}}
    for tells, last, finds in (
        ("t again", {}, "G0"),
        ("t again, in another partition", {"partition": 1}, ()),
        ("t again, not committed", {"committed": False}, ()),
        ("t again, its marker", {"kind": "commit"}, ()),
        ("t again, as the only send of its record says", {"attempt": None}, "G0"),
        ("t again, in spite of an attempt of another record", {"attempt": "b/1"}, "G0"),
        ("nobody knows what", {"record": None}, ()),
        ("nobody knows what, nor of whom", {"record": None, "attempt": None}, ()),
    ):
        yield _cycles(
            f"cycle of writes: {tells}",
            txns=_TWO,
            sends=sends,
            log=[*wrote, {"record": "c", "attempt": "c/1"} | last],
            finds=finds,
        )


SAMPLES: Final = (*_of_reads(), *_of_outcomes(), *_of_writes())
