"""Events of gates become messages with a purpose and a transaction."""

from __future__ import annotations

from typing import Any

from onceproof.harness.explore.bench.trace import lane_and_life, merged, traced


def event(api: str, direction: str = "request", **more: Any) -> dict[str, Any]:
    fields = {
        "client_id": "lane1-1", "life": 1, "commits": None, "transactional_ids": ["lane1"],
        "positions": [],
    }  # fmt: skip
    return {"api": api, "direction": direction, **fields, **more}


def exchange(api: str, error: str | None = None, **more: Any) -> list[dict[str, Any]]:
    return [event(api, **more), event(api, "response", error=error, **more)]


def kinds(events: list[dict[str, Any]], **more: Any) -> list[tuple[str, str, int, int]]:
    found = [m for m in traced(events, role="producer", **more) if m.direction == "request"]
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
    again = {"client_id": "lane1-2", "life": 2}
    events = [
        *exchange("Produce"),
        *exchange("InitProducerId", **again),
        *exchange("Produce", **again),
        *exchange("InitProducerId", **again),
        *exchange("EndTxn", commits=True, **again),
    ]
    assert kinds(events) == [
        ("Produce", "work", 0, 1),
        ("InitProducerId", "recovery", 0, 2),
        ("Produce", "work", 0, 2),
        ("InitProducerId", "recovery", 0, 2),
        ("EndTxn", "commit", 0, 2),
    ]


def test_without_transactions_each_produce_is_a_unit() -> None:
    plain = {"transactional_ids": []}
    events = [*exchange("Produce", **plain), *exchange("Produce", **plain)]
    assert [unit for _, _, unit, _ in kinds(events)] == [0, 1]


def test_group_that_commits_outside_of_transactions() -> None:
    events = [
        *exchange("JoinGroup"),
        *exchange("Fetch"),
        *exchange("Produce"),
        *exchange("OffsetCommit", "NOT_COORDINATOR"),
        *exchange("OffsetCommit"),
        *exchange("Fetch"),
        *exchange("JoinGroup"),
    ]
    assert kinds(events) == [
        ("JoinGroup", "start", 0, 1),
        ("Fetch", "start", 0, 1),
        ("Produce", "work", 0, 1),
        ("OffsetCommit", "commit", 0, 1),
        ("OffsetCommit", "commit", 0, 1),
        ("Fetch", "work", 1, 1),
        ("JoinGroup", "recovery", 1, 1),
    ]


def test_client_that_only_reads_works_on_what_each_fetch_brings() -> None:
    brought = event("Fetch", "response", positions=[("in", 0, 3)])
    events = [
        *exchange("JoinGroup"),
        *exchange("Fetch"),
        event("Fetch"),
        brought,
        *exchange("Heartbeat"),
        *exchange("Fetch"),
        event("Fetch"),
        brought,
        *exchange("JoinGroup"),
    ]
    assert kinds(events, reads=True) == [
        ("JoinGroup", "start", 0, 1),
        ("Fetch", "start", 0, 1),
        ("Fetch", "start", 0, 1),
        ("Heartbeat", "work", 1, 1),
        ("Fetch", "work", 1, 1),
        ("Fetch", "work", 1, 1),
        ("JoinGroup", "recovery", 2, 1),
    ]
    ends = [message.ends for message in traced(events, role="consumer", reads=True)]
    assert [events[n] for n, ended in enumerate(ends) if ended] == [brought, brought]
    # One that has not written yet has not begun to work.
    assert {purpose for _, purpose, _, _ in kinds(events)} == {"start"}


def test_lane_and_life_are_at_the_beginning_of_client_ids() -> None:
    assert lane_and_life("lane7-2") == ("lane7", 2)
    assert lane_and_life("lane7-2-StreamThread-1-producer") == ("lane7", 2)
    assert lane_and_life("lane7-other-1") is None
    assert lane_and_life("onceproof-auditor") is None


def test_targets() -> None:
    targets = {
        "Produce": "leader",
        "EndTxn": "transaction-coordinator",
        "TxnOffsetCommit": "group-coordinator",
        "Fetch": "input-leader",
        "Metadata": "any-broker",
    }
    found = traced(list(map(event, targets)), role="producer")
    assert {m.api: m.target for m in found} == targets


def window(api: str, *, purpose: str = "commit", life: int = 1, **more: Any) -> dict[str, Any]:
    fields = {
        "direction": "window",
        "target": "checkpoint",
        "purpose": purpose,
        "life": life,
        "ends": api == "committed",
    }
    return {"api": api, **fields, **more}


def test_windows_take_their_place_among_the_messages() -> None:
    messages = [event("Fetch", at=1), event("Fetch", at=3), event("Fetch", at=3)]
    windows = [window("planned", at=2), window("committed", at=4)]
    found = merged(messages, windows)
    assert [e["api"] for e in found] == ["Fetch", "planned", "Fetch", "Fetch", "committed"]


def test_window_ends_a_unit_instead_of_a_transaction() -> None:
    events = [
        *exchange("ListOffsets"),
        window("planned", purpose="work"),
        *exchange("Produce"),
        *exchange("EndTxn", commits=True),
        window("committed"),
        *exchange("ListOffsets"),
    ]
    found = [
        (m.api, m.purpose, m.unit, m.ends)
        for m in traced(events, role="query")
        if m.direction != "response"
    ]
    assert found == [
        ("ListOffsets", "start", 0, False),
        ("planned", "work", 0, False),
        ("Produce", "work", 0, False),
        ("EndTxn", "commit", 0, False),
        ("committed", "commit", 0, True),
        ("ListOffsets", "work", 1, False),
    ]


def test_life_that_repeats_a_batch_is_not_at_work_yet() -> None:
    events = [
        window("planned", purpose="work"),
        *exchange("Fetch", life=2),
        window("committed", purpose="recovery", life=2),
        *exchange("ListOffsets", life=2),
        window("planned", purpose="work", life=2),
        *exchange("Fetch", life=2),
    ]
    found = [
        (m.api, m.purpose, m.target)
        for m in traced(events, role="query")
        if m.direction != "response"
    ]
    assert found == [
        ("planned", "work", "checkpoint"),
        ("Fetch", "recovery", "input-leader"),
        ("committed", "recovery", "checkpoint"),
        ("ListOffsets", "recovery", "input-leader"),
        ("planned", "work", "checkpoint"),
        ("Fetch", "work", "input-leader"),
    ]
