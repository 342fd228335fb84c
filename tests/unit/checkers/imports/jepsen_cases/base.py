"""A unit-test case of `jepsen.tests.kafka`, and helpers to write one.

`history` has one operation per line, as in `histories.edn`; keys x and y are 5 and 6. `test` names
the test in Jepsen's `kafka_test.clj`, and `case` the case within it. The variant `with final polls`
of a case is the same history read to its end by a fresh client, as in a complete Jepsen test.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Found = Mapping[str, frozenset[str]]
"""Anomaly → the records, offsets, transactions or cycles named by its findings."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """One history, what Jepsen's test asserts about it, and what we find."""

    test: str
    case: str = ""
    history: str
    asserts: str
    """Jepsen's anomalies with their records; empty if the test asserts that there are none."""
    ours: Found = field(default_factory=dict)
    why: str = ""
    """Why our findings differ from Jepsen's, if they do."""

    @property
    def name(self) -> str:
        """The name of the case, in tests and on the page."""
        return f"{self.test}: {self.case}" if self.case else self.test


def found(**records: str) -> Found:
    """Findings by anomaly (name with underscores), with comma-separated records."""
    return {name.replace("_", "-"): frozenset(text.split(", ")) for name, text in records.items()}


def sends(process: int, key: int, *places: tuple[int | None, int], outcome: str = "ok") -> str:
    """One operation that sends (offset, value) pairs; an unreported offset is None."""
    invoked = " ".join(f"[:send {key} {value}]" for _, value in places)
    completed = " ".join(
        f"[:send {key} {value if offset is None else f'[{offset} {value}]'}]"
        for offset, value in places
    )
    return f"{process} invoke send [{invoked}]\n{process} {outcome} send [{completed}]\n"


def polls(process: int, *returned: str, outcome: str = "ok", f: str = "poll") -> str:
    """One operation with a poll for each of the results."""
    invoked = " ".join("[:poll]" for _ in returned)
    completed = " ".join(f"[:poll {{{records}}}]" for records in returned)
    return f"{process} invoke {f} [{invoked}]\n{process} {outcome} {f} [{completed}]\n"


def final_polls(records: str) -> str:
    """A fresh client that polls from the beginning to the end."""
    return f"9 * assign [5 6] | :seek-to-beginning? true\n{polls(9, records)}{polls(9, '')}"
