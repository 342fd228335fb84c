"""Message faults: their combinations, when one counts as hit, and their report."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

from onceproof.harness.message_faults.clients import Client, ClientResult, librdkafka
from onceproof.harness.message_faults.combinations import BLOWS, MESSAGES, Combination, combinations
from onceproof.harness.message_faults.table import table, total
from onceproof.harness.message_faults.trial import Result, how_seen, sending, why_missed, why_sent
from onceproof.harness.tools.setup import StageTools

HELD, CLOSED, KILLED = (
    next(blow for blow in BLOWS if blow.name == name)
    for name in ("held 5 s", "connection closed", "broker killed")
)


def test_combinations_cover_messages_and_faults_with_one_rule_each() -> None:
    client = librdkafka(cast("StageTools", None))
    assert client.never_sends == []
    found = combinations(client.sends)
    assert len({(c.message, c.blow.name) for c in found}) == len(found) == 30
    assert {c.message for c in found} == set(MESSAGES)
    for combination in found:
        rule = combination.rule("an-id")
        match = rule.message
        assert (match.api, match.transactional_id, match.nth) == (combination.message, "an-id", 1)
        assert rule.times == 1
    assert len(combinations(("EndTxn",))) == 5


def placed_rule(
    fired: list[dict[str, Any]], delivered: Sequence[object] = (), lost: Sequence[object] = ()
) -> Any:
    return SimpleNamespace(fired=fired, delivered=delivered, lost=lost)


EVENT = {"api": "EndTxn", "at": 1_000_000_000}
IN_TIME, TOO_SOON = {"at": 6_000_000_000}, {"at": 5_999_999_999}
UNUSED_RULE = placed_rule([])


@pytest.mark.parametrize(
    ("blow", "hit", "killed", "expected"),
    [
        (CLOSED, placed_rule([EVENT]), None, None),
        (CLOSED, placed_rule([EVENT, EVENT]), None, "hit 2 messages, expected 1"),
        (CLOSED, None, None, "hit 0 messages, expected 1"),
        (CLOSED, placed_rule([{**EVENT, "api": "Produce"}]), None, "hit Produce instead"),
        (HELD, placed_rule([EVENT], [IN_TIME]), None, None),
        (HELD, placed_rule([EVENT], [TOO_SOON]), None, "was not held, or never delivered"),
        (HELD, placed_rule([EVENT]), None, "was not held, or never delivered"),
        (KILLED, placed_rule([EVENT], (), [EVENT]), "broker-1", None),
        (KILLED, placed_rule([EVENT], (), [EVENT]), None, "reached the broker before the kill"),
        (KILLED, placed_rule([EVENT]), "broker-1", "reached the broker before the kill"),
        (
            KILLED,
            placed_rule([EVENT], [IN_TIME], [EVENT]),
            "broker-1",
            "reached the broker before the kill",
        ),
    ],
)
def test_why_missed_explains_each_miss(
    blow: Any, hit: Any, killed: str | None, expected: str | None
) -> None:
    rules = [UNUSED_RULE, hit] if hit else [UNUSED_RULE]
    missed = why_missed(Combination(message="EndTxn", blow=blow), rules, hit, killed)
    assert (missed or "").startswith(expected or "") and bool(missed) is bool(expected)  # noqa: PT018


def test_messages_that_a_client_never_sends_are_reported() -> None:
    client = Client(name="some", sends=MESSAGES[:5], command=())
    assert client.never_sends == ["EndTxn"]
    rule = sending("EndTxn", "an-id")
    match = rule.message
    assert (match.api, rule.action, match.transactional_id) == ("EndTxn", "report", "an-id")
    assert why_sent([UNUSED_RULE]) is None
    assert why_sent([UNUSED_RULE, placed_rule([EVENT])]) == (
        "sent EndTxn, which this client should never send"
    )


@pytest.mark.parametrize(
    ("values", "offset", "expected"),
    [
        (["one", "two", "three"], 7, "once"),
        ([], -1001, "none"),
        (["one", "two", "three"], -1001, "once, offset not moved"),
        ([], 7, "none, offset moved"),
        (["one", "two", "three"] * 2, 7, "records one,two,three,one,two,three, offset moved"),
        (["one"], 7, "records one, offset moved"),
    ],
)
def test_how_seen_describes_records_and_offset(
    values: list[str], offset: int, expected: str
) -> None:
    assert how_seen(values, offset) == expected


def test_client_result_description() -> None:
    assert ClientResult(committed=True, at=1).describe() == "committed"
    assert ClientResult(committed=True, at=1, again=2).describe() == "committed after retries"
    assert ClientResult(committed=True, at=1, aborted=1).describe() == "aborted, then committed"
    assert ClientResult(committed=False, at=1, error="_FENCED").describe() == "failed: _FENCED"


def result(message: str, seconds: float | None, **more: Any) -> Result:
    values = {
        "client": "java", "missed": None, "outcome": "committed", "seen": "once", **more
    }  # fmt: skip
    return Result(combination=Combination(message=message, blow=CLOSED), seconds=seconds, **values)


def test_table_and_total_of_results() -> None:
    results = [
        result("EndTxn", 1.0),
        result("Produce", None, outcome="hung", seen="none", missed="hit 0 messages, expected 1"),
        result("EndTxn", 3.0, outcome="aborted, then committed"),
        result("EndTxn", 2.0),
        result("EndTxn", 4.0, client="librdkafka"),
    ]
    never_sent = {"java": ["AddOffsetsToTxn"], "librdkafka": []}
    assert [
        [cell.strip() for cell in line.split("  ") if cell.strip()]
        for line in table(results, never_sent)
    ] == [
        ["client", "message", "fault", "hit", "recovered", "client result", "seen"],
        ["java", "EndTxn", "connection closed", "3 of 3", "2.0 s",
         "2 × committed; 1 × aborted, then committed", "once"],
        ["java", "Produce", "connection closed", "0 of 1", "never", "hung", "none"],
        ["java", "AddOffsetsToTxn", "not sent"],
        ["librdkafka", "EndTxn", "connection closed", "1 of 1", "4.0 s", "committed", "once"],
    ]  # fmt: skip
    assert total(results) == [
        "missed: java, Produce, connection closed: hit 0 messages, expected 1",
        "4 of 5 hit",
    ]
    assert len(table([], {"java": ["AddOffsetsToTxn"]})) == 2
