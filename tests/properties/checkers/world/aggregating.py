"""Contributions of records to the state of a sink, and the resulting state.

Amounts reach the limits of 64 bits: intermediate sums may overflow, final states must not.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tests.properties.checkers.world.rows import Row
from tests.properties.checkers.world.stage import INPUT, Stage

_LARGEST = 2**63 - 1
_AMOUNTS = (0, 1, 5, -3, 250, -(10**12), _LARGEST, -_LARGEST, _LARGEST - 7, -_LARGEST - 1)
_OPERATIONS = {"balance": "sum", "n": "count", "low": "min", "high": "max", "latest": "last"}


def aggregate(stage: Stage, sink: str, views: Iterable[str], processed: list[Row]) -> None:
    """Add the contributions of all records, and the state after processing these inputs."""
    names = [name for name in _OPERATIONS if stage.maybe(0.6)] or ["balance"]
    for record in stage.records:
        if INPUT not in stage.topics_of[record]:
            continue
        for key in dict.fromkeys(
            stage.pick(("k0", "k1@9:00")) for _ in range(stage.pick((0, 1, 2)))
        ):
            for name in names:
                if stage.maybe(0.8):
                    _contribute(stage, sink, record, key, name)
    _limit_sums(stage, sink, processed)
    for (key, name), inputs in _grouped(stage, sink, processed).items():
        value = _value(_OPERATIONS[name], inputs)
        if value is not None:
            for view in views:
                stage.add("state", sink=sink, view=view, state_key=key, aggregate=name, **value)


def _contribute(stage: Stage, sink: str, record: str, key: str, name: str) -> None:
    operation = _OPERATIONS[name]
    amount = digest = None
    if operation in ("sum", "min", "max"):
        amount = stage.pick(_AMOUNTS)
    elif operation == "last":
        digest = stage.known(f"{record} at {key}", 0.8)  # None: the key is deleted
    stage.add(
        "contributions", sink=sink, record=record, state_key=key, aggregate=name,
        operation=operation, amount=amount, digest=digest,
    )  # fmt: skip


def _grouped(
    stage: Stage, sink: str, processed: list[Row]
) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """(state key, aggregate) → contributions in the order of processing."""
    grouped: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for entry in processed:
        for row in stage.rows["contributions"]:
            if row["sink"] == sink and row["record"] == entry["record"]:
                grouped.setdefault((row["state_key"], row["aggregate"]), []).append(row)
    return grouped


def _limit_sums(stage: Stage, sink: str, processed: list[Row]) -> None:
    """Reduce amounts whose sum overflows."""
    for (key, name), inputs in _grouped(stage, sink, processed).items():
        if name == "balance" and abs(sum(row["amount"] for row in inputs)) > _LARGEST:
            for row in stage.rows["contributions"]:
                if (row["sink"], row["state_key"], row["aggregate"]) == (sink, key, name):
                    row["amount"] %= 1_000


def _value(operation: str, inputs: list[dict[str, Any]]) -> dict[str, Any] | None:
    if operation == "last":
        return None if inputs[-1]["digest"] is None else {"digest": inputs[-1]["digest"]}
    if operation == "count":
        return {"amount": len(inputs)}
    amounts = [row["amount"] for row in inputs]
    return {"amount": {"sum": sum, "min": min, "max": max}[operation](amounts)}  # type: ignore[operator]
