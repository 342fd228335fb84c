"""Small Jepsen histories, written down by hand."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from onceproof.checkers import check
from onceproof.checkers.imports import Imported, read
from onceproof.checkers.imports.claims import all_claims
from onceproof.checkers.judging import find
from onceproof.checkers.model import Finding, Findings, Judgement

END = """
9 * assign [5 6] | :seek-to-beginning? true
9 invoke poll [[:poll]]
9 ok poll [[:poll {%s}]]
9 invoke poll [[:poll]]
9 ok poll [[:poll {}]]
"""
"""Final polls, with what they return."""


def send(process: int, key: int, offset: object, value: int, outcome: str = "ok") -> str:
    """One send and what became of it."""
    pair = value if outcome == "info" else f"[{offset} {value}]"
    return f"""
    {process} invoke send [[:send {key} {value}]]
    {process} {outcome} send [[:send {key} {pair}]]
    """


def polls(process: int, *returned: str, outcome: str = "ok") -> str:
    """Polls and what they return."""
    return "\n".join(
        f"{process} invoke poll [[:poll]]\n{process} {outcome} poll [[:poll {{{records}}}]]"
        for records in returned
    )


THREE = send(0, 5, 0, 1) + send(0, 5, 1, 2) + send(0, 5, 2, 3)


def edn(text: str) -> str:
    """Operations from lines such as `0 ok send [[:send 5 [0 1]]]`, further fields behind `|`.

    `0 ok` may stand for both lines, call and return, with `0 * f value`.
    """
    lines = []
    for line in filter(None, map(str.strip, text.splitlines())):
        process, type_, f, value = line.split(maxsplit=3)
        value, _, more = value.partition("|")
        types = ("invoke", "ok") if type_ == "*" else (type_,)
        lines += [
            f"{{:process {process}, :type :{t}, :f :{f}, :value {value}, {more}}}" for t in types
        ]
    return "\n".join(lines) + "\n"


def imported(folder: Path, text: str, **options: Any) -> Imported:
    """The history of these lines."""
    path = folder / "history.edn"
    path.write_text(edn(text), encoding="utf-8")
    return read(path, **options)


def judged(folder: Path, text: str, **options: Any) -> Judgement:
    """What all claims come to."""
    history = imported(folder, text, **options).history
    return check(history, all_claims(history))


def found(folder: Path, text: str, **options: Any) -> dict[str, set[str]]:
    """Anomaly → the records, transactions or offsets that its findings name."""
    history = imported(folder, text, **options).history
    return named(find(history, all_claims(history)))


def named(groups: Iterable[Findings]) -> dict[str, set[str]]:
    """Anomaly → what its findings name, see `found`."""
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
