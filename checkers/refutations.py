"""The table of ANOMALIES.md: which guarantee an anomaly refutes, on which hop.

The one thing to know: an anomaly that is not in the table refutes nothing; it is shown, and may
explain another.
"""

from __future__ import annotations

from typing import Final

from checkers.model import Hop

GUARANTEES: Final = ("at-most-once", "at-least-once", "exactly-once")

_AMO, _ALO, _EO = ({guarantee} for guarantee in GUARANTEES)

_PRODUCE: Final[dict[str, set[str]]] = {
    "lost-write": _ALO | _EO,
    "duplicate": _AMO | _EO,
    "phantom": _ALO | _AMO | _EO,
    "corrupt": _ALO | _AMO | _EO,
}
_PROCESS: Final[dict[str, set[str]]] = {
    "lost-output": _ALO | _EO,
    "duplicate-output": _AMO | _EO,
    "unfounded-output": _EO,
    "phantom-output": _ALO | _AMO | _EO,
    "wrong-output": _ALO | _AMO | _EO,
    "offset-ahead": _ALO | _EO,
    "offset-behind": _AMO | _EO,
    "offset-regressed": _EO,
    "offset-gap": _ALO | _EO,  # at-least-once: only by a gap, see `checkers.claims.refutes`
}
_TABLES: Final[dict[Hop, dict[str, set[str]]]] = {
    Hop.PRODUCE: _PRODUCE,
    Hop.PROCESS: _PROCESS,
    Hop.END_TO_END: _PRODUCE | _PROCESS,
}


def refutations(guarantee: str, hop: Hop) -> frozenset[str]:
    """Names of the anomalies that refute a guarantee on a hop."""
    return frozenset(name for name, refuted in _TABLES[hop].items() if guarantee in refuted)
