"""Events of gates become messages with a purpose and a transaction."""

from __future__ import annotations

from typing import Any

from onceproof.harness.explore.trace import traced


def event(api: str, direction: str = "request", **more: Any) -> dict[str, Any]:
    fields = {"client_id": "lane1-1", "commits": None, "transactional_ids": ["lane1"]}
    return {"api": api, "direction": direction, **fields, **more}


def exchange(api: str, error: str | None = None, **more: Any) -> list[dict[str, Any]]:
    return [event(api, **more), event(api, "response", error=error, **more)]


def kinds(events: list[dict[str, Any]]) -> list[tuple[str, str, int, int]]:
    found = [m for m in traced(events) if m.direction == "request"]
    return [(m.api, m.purpose, m.unit, m.life) for m in found]


def test_purposes_and_transactions() -> None:
    events = [
        *exchange("Metadata", transactional_ids=[]),
        *exchange("InitProducerId"),
        *exchange("AddPartitionsToTxn"),
        *exchange("Produce"),
        *exchange("EndTxn", commits=True),
        *exchange("Produce"),
        *exchange("EndTxn", commits=False),
        *exchange("InitProducerId"),
    ]
    assert kinds(events) == [
        ("Metadata", "start", 0, 1),
        ("InitProducerId", "start", 0, 1),
        ("AddPartitionsToTxn", "start", 0, 1),
        ("Produce", "work", 0, 1),
        ("EndTxn", "commit", 0, 1),
        ("Produce", "work", 1, 1),
        ("EndTxn", "abort", 1, 1),
        ("InitProducerId", "recovery", 2, 1),
    ]


def test_refused_end_does_not_end_the_transaction() -> None:
    events = [
        *exchange("Produce"),
        *exchange("EndTxn", "NOT_COORDINATOR", commits=True),
        *exchange("EndTxn", "no error", commits=True),
        *exchange("Produce"),
    ]
    assert [unit for _, _, unit, _ in kinds(events)] == [0, 0, 0, 1]


def test_messages_of_a_second_life_are_recovery_until_it_writes() -> None:
    again = {"client_id": "lane1-2"}
    events = [
        *exchange("Produce"),
        *exchange("InitProducerId", **again),
        *exchange("Produce", **again),
        *exchange("InitProducerId", **again),
    ]
    assert kinds(events) == [
        ("Produce", "work", 0, 1),
        ("InitProducerId", "recovery", 0, 2),
        ("Produce", "work", 0, 2),
        ("InitProducerId", "recovery", 0, 2),
    ]


def test_without_transactions_each_produce_is_a_unit() -> None:
    plain = {"transactional_ids": []}
    events = [*exchange("Produce", **plain), *exchange("Produce", **plain)]
    assert [unit for _, _, unit, _ in kinds(events)] == [0, 1]


def test_targets() -> None:
    events = [event(api) for api in ("Produce", "EndTxn", "Metadata")]
    assert [m.target for m in traced(events)] == ["leader", "transaction-coordinator", "any-broker"]
