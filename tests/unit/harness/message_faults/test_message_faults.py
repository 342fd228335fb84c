"""What exact faults are made of, when one counts as hit, and how it is told."""

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


def test_thirty_combinations_and_their_rules() -> None:
    client = librdkafka(cast("StageTools", None))
    assert client.never_sends == []
    found = combinations(client.sends)
    assert len({(c.message, c.blow.name) for c in found}) == len(found) == 30
    assert {c.message for c in found} == set(MESSAGES)
    for combination in found:
        rule = combination.rule("an-id")
        which = rule.message
        assert (which.api, which.transactional_id, which.nth) == (combination.message, "an-id", 1)
        assert rule.times == 1
    assert len(combinations(("EndTxn",))) == 5


def placed(
    fired: list[dict[str, Any]], delivered: Sequence[object] = (), lost: Sequence[object] = ()
) -> Any:
    return SimpleNamespace(fired=fired, delivered=delivered, lost=lost)


EVENT = {"api": "EndTxn", "at": 1_000_000_000}
IN_TIME, TOO_SOON = {"at": 6_000_000_000}, {"at": 5_999_999_999}
NOBODY = placed([])


@pytest.mark.parametrize(
    ("blow", "hit", "killed", "why"),
    [
        (CLOSED, placed([EVENT]), None, None),
        (CLOSED, placed([EVENT, EVENT]), None, "hit 2 messages, expected 1"),
        (CLOSED, None, None, "hit 0 messages, expected 1"),
        (CLOSED, placed([{**EVENT, "api": "Produce"}]), None, "hit Produce instead"),
        (HELD, placed([EVENT], [IN_TIME]), None, None),
        (HELD, placed([EVENT], [TOO_SOON]), None, "was not held, or never delivered"),
        (HELD, placed([EVENT]), None, "was not held, or never delivered"),
        (KILLED, placed([EVENT], (), [EVENT]), "broker-1", None),
        (KILLED, placed([EVENT], (), [EVENT]), None, "reached the broker before the kill"),
        (KILLED, placed([EVENT]), "broker-1", "reached the broker before the kill"),
        (
            KILLED,
            placed([EVENT], [IN_TIME], [EVENT]),
            "broker-1",
            "reached the broker before the kill",
        ),
    ],
)
def test_what_counts_as_hit(blow: Any, hit: Any, killed: str | None, why: str | None) -> None:
    rules = [NOBODY, hit] if hit else [NOBODY]
    missed = why_missed(Combination(message="EndTxn", blow=blow), rules, hit, killed)
    assert (missed or "").startswith(why or "") and bool(missed) is bool(why)  # noqa: PT018


def test_what_is_never_sent_is_looked_for() -> None:
    client = Client(name="some", sends=MESSAGES[:5], command=())
    assert client.never_sends == ["EndTxn"]
    rule = sending("EndTxn", "an-id")
    which = rule.message
    assert (which.api, rule.action, which.transactional_id) == ("EndTxn", "report", "an-id")
    assert why_sent([NOBODY]) is None
    assert why_sent([NOBODY, placed([EVENT])]) == (
        "sent EndTxn, which this client should never send"
    )


@pytest.mark.parametrize(
    ("values", "offset", "said"),
    [
        (["one", "two", "three"], 7, "once"),
        ([], -1001, "none"),
        (["one", "two", "three"], -1001, "once, offset not moved"),
        ([], 7, "none, offset moved"),
        (["one", "two", "three"] * 2, 7, "records one,two,three,one,two,three, offset moved"),
        (["one"], 7, "records one, offset moved"),
    ],
)
def test_what_a_reader_finds(values: list[str], offset: int, said: str) -> None:
    assert how_seen(values, offset) == said


def test_what_a_client_says() -> None:
    assert ClientResult(committed=True, at=1).describe() == "committed"
    assert ClientResult(committed=True, at=1, again=2).describe() == "committed after retries"
    assert ClientResult(committed=True, at=1, aborted=1).describe() == "aborted, then committed"
    assert ClientResult(committed=False, at=1, error="_FENCED").describe() == "failed: _FENCED"


def result(message: str, seconds: float | None, **more: Any) -> Result:
    values = {
        "client": "java", "missed": None, "outcome": "committed", "seen": "once", **more
    }  # fmt: skip
    return Result(combination=Combination(message=message, blow=CLOSED), seconds=seconds, **values)


def test_the_table() -> None:
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
