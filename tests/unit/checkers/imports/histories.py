"""Build, import and judge small handwritten Jepsen histories."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from onceproof.checkers import check
from onceproof.checkers.imports import Imported, read
from onceproof.checkers.imports.claims import all_claims
from onceproof.checkers.judging import find
from onceproof.checkers.model import Finding, Findings, Judgement

FINAL_POLLS = """
9 * assign [5 6] | :seek-to-beginning? true
9 invoke poll [[:poll]]
9 ok poll [[:poll {%s}]]
9 invoke poll [[:poll]]
9 ok poll [[:poll {}]]
"""
"""Final polls; `%` fills in the records they return."""


def send(process: int, key: int, offset: object, value: int, outcome: str = "ok") -> str:
    pair = value if outcome == "info" else f"[{offset} {value}]"
    return f"""
    {process} invoke send [[:send {key} {value}]]
    {process} {outcome} send [[:send {key} {pair}]]
    """


def polls(process: int, *returned: str, outcome: str = "ok") -> str:
    return "\n".join(
        f"{process} invoke poll [[:poll]]\n{process} {outcome} poll [[:poll {{{records}}}]]"
        for records in returned
    )


THREE_SENDS = send(0, 5, 0, 1) + send(0, 5, 1, 2) + send(0, 5, 2, 3)


def edn(text: str) -> str:
    """Convert lines such as `0 ok send [[:send 5 [0 1]]]` to operations.

    Further fields follow `|`; `0 * f value` stands for invocation and completion.
    """
    lines = []
    for line in filter(None, map(str.strip, text.splitlines())):
        process, type_, f, value = line.split(maxsplit=3)
        value, _, extra = value.partition("|")
        types = ("invoke", "ok") if type_ == "*" else (type_,)
        lines += [
            f"{{:process {process}, :type :{t}, :f :{f}, :value {value}, {extra}}}" for t in types
        ]
    return "\n".join(lines) + "\n"


def imported(folder: Path, text: str, **options: Any) -> Imported:
    """Import the history of these lines."""
    path = folder / "history.edn"
    path.write_text(edn(text), encoding="utf-8")
    return read(path, **options)


def judged(folder: Path, text: str, **options: Any) -> Judgement:
    """Judge every claim that the history allows."""
    history = imported(folder, text, **options).history
    return check(history, all_claims(history))


def found(folder: Path, text: str, **options: Any) -> dict[str, set[str]]:
    """Map each anomaly to the records, transactions or offsets of its findings."""
    history = imported(folder, text, **options).history
    return named(find(history, all_claims(history)))


def named(groups: Iterable[Findings]) -> dict[str, set[str]]:
    """Map each anomaly to what its findings name, as `found` does."""
    return {
        group.anomaly: {_named(finding) for finding in group.shown}
        for group in groups
        if group.count
    }


def _named(finding: Finding) -> str:
    for name in ("record", "txn", "attempt", "cycle"):
        if finding.key.get(name) is not None:
            return str(finding.key[name])
    records = {row.get("record") for row in finding.witness}
    return str(records.pop() if len(records) == 1 else finding.key["offset"])
