"""What a case of the unit tests of `jepsen.tests.kafka` is, and short ways to write one.

`history` has one operation per line, as in `histories.edn`; keys x and y are 5 and 6. `test` is the
test in Jepsen's `kafka_test.clj`, and `case` which of its cases. A case that is here twice, `with
final polls`, is the same history read to its end by a fresh client, as a whole test of Jepsen's is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Found = Mapping[str, frozenset[str]]
"""Anomaly → the records, offsets, transactions or cycles that its findings name."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """One history, what Jepsen's test asserts of it, and what we find."""

    test: str
    case: str = ""
    history: str
    asserts: str
    """Jepsen's anomalies with their records; empty: that there is none of the test's kind."""
    ours: Found = field(default_factory=dict)
    why: str = ""
    """Why we say something else, where we do."""

    @property
    def name(self) -> str:
        """What the case is called, in tests and on the page."""
        return f"{self.test}: {self.case}" if self.case else self.test


def found(**records: str) -> Found:
    """Findings by anomaly (its name with underscores), records with commas between."""
    return {name.replace("_", "-"): frozenset(text.split(", ")) for name, text in records.items()}


def sends(process: int, key: int, *places: tuple[int | None, int], outcome: str = "ok") -> str:
    """One operation that sends; (offset, value), the offset None where it is not told."""
    called = " ".join(f"[:send {key} {value}]" for _, value in places)
    told = " ".join(
        f"[:send {key} {value if offset is None else f'[{offset} {value}]'}]"
        for offset, value in places
    )
    return f"{process} invoke send [{called}]\n{process} {outcome} send [{told}]\n"


def polls(process: int, *returned: str, outcome: str = "ok", f: str = "poll") -> str:
    """One operation that polls as often as something is returned."""
    called = " ".join("[:poll]" for _ in returned)
    told = " ".join(f"[:poll {{{records}}}]" for records in returned)
    return f"{process} invoke {f} [{called}]\n{process} {outcome} {f} [{told}]\n"


def to_the_end(records: str) -> str:
    """Final polls."""
    return f"9 * assign [5 6] | :seek-to-beginning? true\n{polls(9, records)}{polls(9, '')}"
