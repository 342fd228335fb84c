"""Claims about imported histories: parsed from text, or every possible one."""

from __future__ import annotations

import re

import pytest

from onceproof.checkers import BadClaim, History
from onceproof.checkers.imports.claims import all_claims, claim_text, parse_claim
from onceproof.checkers.model import Hop

HISTORY = History.of(
    sends=[{"topic": "pay"}, {"topic": "pay", "txn": "t1"}, {"topic": "audit"}],
    txns=[{"txn": "t1"}],
    reads=[{"topic": "pay"}],
    log=[{"topic": "pay", "record": "r0"}, {"topic": "ledger", "record": "r0"}],
    effects=[
        {"record": "r0"},
        {"record": "r0", "view": "raw"},
        {"record": "r0", "sink": "out", "view": "files", "source_topic": "audit"},
        {"record": "r9", "sink": "dlq", "view": "files", "source_topic": "audit"},
    ],
    journal=[{"sink": "ledger", "record": "r0"}],
    contributions=[{"sink": "sums", "record": "r0"}],
    state=[{"sink": "sums"}],
)


@pytest.mark.parametrize(
    ("text", "hop", "scope"),
    [
        ("exactly-once:pay", Hop.PRODUCE, ("pay", None, None)),
        ("atomic:pay", Hop.PRODUCE, ("pay", None, None)),
        ("at-least-once:pay->ledger@table", Hop.PROCESS, ("pay", "ledger", "table")),
        ("exactly-once:pay->ledger@journal", Hop.PROCESS, ("pay", "ledger", "journal")),
        ("ordered:audit->out", Hop.PROCESS, ("audit", "out", "files")),
        ("exactly-once:producers->pay->ledger@raw", Hop.END_TO_END, ("pay", "ledger", "raw")),
    ],
)
def test_parses_claims(text: str, hop: Hop, scope: tuple[str, ...]) -> None:
    claim = parse_claim(text, HISTORY)
    assert claim.guarantee == text.split(":")[0]
    assert claim.hop is hop
    assert (claim.scope.input, claim.scope.sink, claim.scope.view) == scope
    assert claim.fine_print.promise
    assert claim.expect is None


def test_plus_separates_outputs_of_an_atomic_claim() -> None:
    claim = parse_claim("atomic:pay->ledger@table+out", HISTORY)
    assert (claim.scope.sink, claim.scope.others) == ("ledger", (("out", "files"),))


def test_parses_options() -> None:
    text = "exactly-once:audit->out,deduplicates,dead-letters=dlq,hazard=a,hazard=b"
    claim = parse_claim(text, HISTORY)
    assert claim.deduplicates
    assert claim.scope.dead_letters == "dlq"
    assert claim.hazards == {"a", "b"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pay", "GUARANTEE:TOPIC or GUARANTEE:TOPIC->SINK@VIEW"),
        ("exactly:pay", "expected a guarantee of at-most-once, .* Did you mean exactly-once?"),
        ("exactly-once:pya", r"a topic of the history \(audit, .*\). Did you mean pay?"),
        ("exactly-once:pay-", "Put the claim in quotes, because the shell interprets `>`"),
        ("exactly-once:pay->ledge@table", "a sink of the history .* Did you mean ledger?"),
        ("exactly-once:pay->ledger", r"a view of ledger after @ \(journal, raw, table\)"),
        ("exactly-once:pay->ledger@tabel", "after @ .* Did you mean table?"),
        ("exactly-once:a->b->c", "`producers->` before topic and sink"),
        ("atomic:pay->ledger@table", "two or more sinks, as in atomic:payments->ledger@table"),
        ("atomic:producers->pay->ledger@table", "atomic:TOPIC, because atomic is about a topic"),
        ("exactly-once:pay,deduplicates", "expected a sink"),
        ("exactly-once:pay,dedup", "deduplicates, dead-letters=SINK or hazard=KIND"),
    ],
)
def test_rejects_malformed_claim(text: str, message: str) -> None:
    with pytest.raises(BadClaim, match=f"^claim {re.escape(text)}: .*{message}"):
        parse_claim(text, HISTORY)


def test_all_claims_cover_every_topic_sink_and_view() -> None:
    names = [f"{c.name}{'@' + c.scope.view if c.scope.view else ''}" for c in all_claims(HISTORY)]
    produce = {n.split()[0] for n in names if n.endswith("producers → pay")}
    assert produce == {
        "at-most-once", "at-least-once", "exactly-once", "idempotent", "atomic", "ordered",
    }  # fmt: skip
    audit = {n.split()[0] for n in names if n.endswith("producers → audit")}
    assert audit == produce - {"atomic", "ordered"}
    process = [n for n in names if n.startswith("exactly-once") and "producers" not in n]
    assert process == [
        "exactly-once audit → dlq@files",
        "exactly-once audit → out@files",
        "exactly-once pay → ledger@journal",
        "exactly-once pay → ledger@raw",
        "exactly-once pay → ledger@table",
        "exactly-once pay → sums@table",
    ]


def test_text_of_a_claim_is_parsed_to_the_same_claim() -> None:
    producers = parse_claim("exactly-once:producers->pay->ledger@raw", HISTORY)
    for claim in (*all_claims(HISTORY), producers):
        assert parse_claim(claim_text(claim), HISTORY) == claim


def test_order_of_a_sink_is_claimed_only_on_request() -> None:
    claims = all_claims(HISTORY)
    assert {c.name for c in claims if c.name.startswith("ordered")} == {"ordered producers → pay"}
    assert parse_claim("ordered:pay->ledger@table", HISTORY).hop is Hop.PROCESS


def test_all_claims_rejects_history_without_sends_or_effects() -> None:
    with pytest.raises(BadClaim, match=r"expected rows in sends .* effects, .*, found none"):
        all_claims(History.of(log=[{}]))
