"""The table of ANOMALIES.md: which guarantee an anomaly refutes, on which hop.

An anomaly that is not in the table refutes nothing; it is shown, and may
explain another.
"""

from __future__ import annotations

from typing import Final

from onceproof.checkers.model import Hop

GUARANTEES: Final = (
    "at-most-once", "at-least-once", "exactly-once", "idempotent", "atomic", "ordered"
)  # fmt: skip
HOPS: Final[dict[str, frozenset[Hop]]] = {
    "idempotent": frozenset({Hop.PRODUCE}),
    "atomic": frozenset({Hop.PRODUCE}),
}
"""The hops that a guarantee can speak of, where it is not all of them."""

_AMO, _ALO, _EO, _IDEM, _ATOM, _ORD = ({guarantee} for guarantee in GUARANTEES)

_PRODUCE: Final[dict[str, set[str]]] = {
    "lost-write": _ALO | _EO | _IDEM | _ATOM,
    "duplicate": _AMO | _EO | _IDEM,
    "phantom": _ALO | _AMO | _EO | _IDEM | _ATOM,
    "corrupt": _ALO | _AMO | _EO | _IDEM | _ATOM,
    "inconsistent-offsets": _ALO | _AMO | _EO | _IDEM | _ATOM,
    "aborted-read": _EO | _ATOM,
    "precommitted-read": _EO | _ATOM,
    "torn-transaction": _EO | _ATOM,
    "reordered-send": _IDEM | _ORD,
    "skipped-read": _ORD,
    "repeated-read": _ORD,
    "G1c": _ATOM,
    "G1c-process": _ATOM,
    "G1c-realtime": _ATOM,
}
_PROCESS: Final[dict[str, set[str]]] = {
    "lost-output": _ALO | _EO,
    "duplicate-output": _AMO | _EO,
    "unfounded-output": _EO,
    "phantom-output": _ALO | _AMO | _EO,
    "wrong-output": _ALO | _AMO | _EO,
    "reordered-output": _ORD,
    "state-mismatch": _EO,
    "offset-ahead": _ALO | _EO,
    "offset-behind": _AMO | _EO,
    "offset-regressed": _EO,
    "offset-gap": _ALO
    | _EO,  # at-least-once: only by a gap, see `onceproof.checkers.claims.refutes`
}
_TABLES: Final[dict[Hop, dict[str, set[str]]]] = {
    Hop.PRODUCE: _PRODUCE,
    Hop.PROCESS: _PROCESS,
    Hop.END_TO_END: _PRODUCE | _PROCESS,
}


def refutations(guarantee: str, hop: Hop) -> frozenset[str]:
    """Names of the anomalies that refute a guarantee on a hop."""
    return frozenset(name for name, refuted in _TABLES[hop].items() if guarantee in refuted)


_SHOWN_BY: Final[dict[Hop, dict[str, tuple[set[str], ...]]]] = {
    Hop.PRODUCE: {
        "at-most-once": ({"duplicate"},),
        "at-least-once": ({"lost-write"},),
        "exactly-once": ({"duplicate", "lost-write"},),
        "idempotent": ({"duplicate", "lost-write"},),
        "atomic": ({"torn-transaction", "aborted-read"},),
        "ordered": ({"reordered-send"}, {"skipped-read", "repeated-read"}),
    },
    Hop.PROCESS: {
        "at-most-once": ({"duplicate-output"},),
        "at-least-once": ({"lost-output"},),
        "exactly-once": ({"duplicate-output", "lost-output"}, {"state-mismatch"}),
        "ordered": ({"reordered-output"},),
    },
}


def shown_by(guarantee: str, hop: Hop) -> tuple[frozenset[str], ...]:
    """Anomalies that a history must be able to show on a hop before a guarantee holds there.

    One of these sets, whole: in a history where none of them could turn up nothing was looked for.
    """
    return tuple(frozenset(names) for names in _SHOWN_BY[hop].get(guarantee, ()))


_TOLD_WITH: Final[dict[str, set[str]]] = {
    "G0": _ATOM,
    "G1c-ww": _ATOM,
    "zombie-write": _AMO | _ALO | _EO | _ORD,
}
"""Anomalies that refute nothing by themselves, and with which claims they are told."""


def told_with(guarantee: str) -> frozenset[str]:
    """Names of the anomalies that are shown with a guarantee because they explain others."""
    return frozenset(name for name, told in _TOLD_WITH.items() if guarantee in told)
