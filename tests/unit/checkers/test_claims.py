"""Claims: builders, refuting anomalies, and JSON round trips."""

from __future__ import annotations

import json
from typing import Any

import pytest

from onceproof.checkers import (
    BadClaim,
    Claim,
    Expectation,
    FinePrint,
    Hop,
    Verdict,
    at_least_once,
    at_least_once_append,
    at_most_once,
    at_most_once_append,
    atomic,
    claim_from_json,
    claim_to_json,
    end_to_end,
    exactly_once,
    exactly_once_append,
)
from onceproof.checkers.claims import GUARANTEES, refutations

INTO: dict[str, Any] = {"into": "ledger", "view": "table"}
CLAIMS = [
    at_most_once("in", **INTO),
    at_least_once("in", **INTO, hazards=["a", "b"], deduplicates=True),
    exactly_once("in", **INTO, expect=Expectation(verdict=Verdict.HOLDS)),
    exactly_once_append(
        "in", expect=Expectation(verdict=Verdict.VIOLATED, anomalies=frozenset({"duplicate"}))
    ),
    at_least_once_append("in"),
    at_most_once_append("in"),
    atomic("in", into=[("ledger", "table"), ("events", "read_committed")], dead_letters="letters"),
    end_to_end(
        "exactly-once", "in", **INTO,
        fine_print=FinePrint(
            promise="p", failures="f", guarantee="g", not_tested="n", covers=frozenset({"crash"})
        ),
    ),
]  # fmt: skip


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_round_trips_json(claim: Claim) -> None:
    assert claim_from_json(json.loads(json.dumps(claim_to_json(claim)))) == claim


def test_names_are_unique() -> None:
    assert len({claim.name for claim in CLAIMS}) == len(CLAIMS)
    assert CLAIMS[2].name == "exactly-once in → ledger"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"guarantee": "thrice"}, "`guarantee`: expected one of at-most-once"),
        ({"hop": "flight"}, "`hop`: expected one of produce"),
        ({"scope": "in"}, "`scope`: expected an object"),
        ({"scope": {"input": 3, "sink": None, "view": None}}, "`input`: expected a string"),
        (
            {"scope": {"input": "in", "sink": "a", "view": "b", "others": [{"sink": "c"}]}},
            "`others`: expected an empty list",
        ),
        ({"hop": "process", "guarantee": "atomic"}, "`others`: expected a list of other sinks"),
        ({"hazards": "a"}, "`hazards`: expected a list of strings"),
        ({"deduplicates": 1}, "`deduplicates`: expected true or false"),
        ({"expect": {"verdict": "fine", "anomalies": []}}, "`verdict`: expected one of violated"),
    ],
)
def test_rejects_invalid_json_field(change: dict[str, Any], message: str) -> None:
    with pytest.raises(BadClaim, match=message):
        claim_from_json(claim_to_json(CLAIMS[0]) | change)


@pytest.mark.parametrize("name", ["guarantee", "hop", "scope", "fine_print", "hazards"])
def test_rejects_json_with_a_missing_field(name: str) -> None:
    data = claim_to_json(CLAIMS[0])
    del data[name]
    with pytest.raises(BadClaim, match=f"`{name}` is missing"):
        claim_from_json(data)


def test_builders_reject_invalid_arguments() -> None:
    with pytest.raises(BadClaim, match="unknown guarantee 'thrice'"):
        end_to_end("thrice", "in", **INTO)
    with pytest.raises(BadClaim, match="expected a set of kinds"):
        exactly_once("in", **INTO, hazards="replayed-batch")
    wrong = Expectation(verdict=Verdict.VIOLATED, anomalies=frozenset({"duplicate-output"}))
    with pytest.raises(BadClaim, match="duplicate-output cannot be expected"):
        at_least_once("in", **INTO, expect=wrong)


def test_end_to_end_refutations_join_both_hops() -> None:
    for guarantee in GUARANTEES:
        produce, process, both = (refutations(guarantee, hop) for hop in Hop)
        assert both == produce | process
        assert not produce & process
    assert refutations("at-most-once", Hop.PRODUCE) == {
        "duplicate", "phantom", "corrupt", "inconsistent-offsets"
    }  # fmt: skip
    assert refutations("at-least-once", Hop.PROCESS) == {
        "lost-output", "phantom-output", "wrong-output", "offset-ahead", "offset-gap"
    }  # fmt: skip


def test_every_claim_has_a_complete_fine_print() -> None:
    for claim in CLAIMS:
        printed = claim.fine_print
        for text in (printed.promise, printed.failures, printed.guarantee, printed.not_tested):
            assert text


def test_atomic_requires_two_or_more_sinks() -> None:
    claim = atomic("in", into=[("ledger", "table"), ("events", "topic")])
    assert claim.name == "atomic in → ledger + events"
    with pytest.raises(BadClaim, match="into 1 sinks: expected two or more"):
        atomic("in", into=[("ledger", "table")])


def test_reads_json_of_an_earlier_version_without_other_sinks() -> None:
    data = claim_to_json(CLAIMS[0])
    del data["scope"]["others"]
    assert claim_from_json(data) == CLAIMS[0]
