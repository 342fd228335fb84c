"""The mutation self-check of a journal view finds each mutation of its changes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from onceproof.checkers import History, Judgement, Verdict, check, engines, exactly_once, ordered
from onceproof.checkers.engines.overlay import standard_queries

JOURNAL = {"into": "ledger", "view": "journal"}
CLAIMS = (exactly_once("input", **JOURNAL), ordered("input", **JOURNAL))
MUTATIONS = {
    "change dropped": "lost-output",
    "change copied": "duplicate-output",
    "change altered": "wrong-output",
    "change dropped before a resume position": "offset-ahead",
    "changes swapped": "reordered-output",
}
Rows = dict[str, list[dict[str, Any]]]


def journalled(records: int = 4, **change: Any) -> Rows:
    """A correct history; `change` sets fields of every journal row."""
    names = [f"r{n}" for n in range(records)]
    return {
        "sends": [{"record": r, "attempt": r, "key": "k", "partition": 0} for r in names],
        "log": [{"record": r, "attempt": r, "key": "k", "digest": f"in-{r}"} for r in names],
        "journal": [
            {"record": r, "digest": f"out-{r}", "source_topic": "input", "source_partition": 0}
            | {"source_offset": n, "ordinal": n}
            | change
            for n, r in enumerate(names)
        ],
        "expected": [{"record": r} for r in names],
        "positions": [{"role": "resume", "offset": records, "ordinal": 0}],
        "phases": [{"phase": p, "outcome": "ok"} for p in ("settle", "collect")],
        "hazards": [{"hop": "process"}, {"hop": "produce"}],
    }


def judged(tables: Rows, *claims: Any) -> Judgement:
    return check(History.of(**tables), claims or CLAIMS)


def found_mutations(judgement: Judgement) -> dict[str, str]:
    """Map each journal mutation that was found to the anomaly it had to show."""
    return {
        w.name: w.must_find for w in judgement.mutation_check if w.found and w.name in MUTATIONS
    }


@pytest.mark.parametrize("records", [2, 3, 20])
@pytest.mark.parametrize("operation", ["append", "upsert"])
def test_finds_every_mutation(records: int, operation: str) -> None:
    judgement = judged(journalled(records, operation=operation))
    assert found_mutations(judgement) == MUTATIONS, judgement.mutation_check
    assert judgement.findings == ()
    assert [c.verdict for c in judgement.claims] == [Verdict.HOLDS] * 2


def test_mutates_records_without_source_positions() -> None:
    no_source = {"source_topic": None, "source_partition": None, "source_offset": None}
    judgement = judged(journalled(**no_source))
    assert found_mutations(judgement) == MUTATIONS, judgement.mutation_check
    assert judgement.findings == ()


def test_mutates_changes_that_were_repeated_and_deleted() -> None:
    tables = journalled(operation="upsert")
    tables["journal"] += [
        {**change, "operation": operation, "ordinal": 10 * n + place, "digest": digest}
        for place, change in enumerate(list(tables["journal"]))
        for n, (operation, digest) in enumerate(
            [("upsert", change["digest"]), ("delete", None)], start=1
        )
    ]
    judgement = judged(tables)
    assert judgement.findings == ()
    # A repeated change has no single place; its first occurrence determines the order.
    assert found_mutations(judgement) == MUTATIONS, judgement.mutation_check


def test_mutates_only_the_view_of_the_claim() -> None:
    tables = journalled()
    tables["effects"] = [
        {"record": j["record"], "source_topic": "input", "source_partition": 0}
        | {"source_offset": j["source_offset"]}
        for j in tables["journal"]
    ]
    judgement = judged(tables, exactly_once("input", into="ledger", view="table"))
    assert not found_mutations(judgement)
    assert "effect dropped" in {w.name for w in judgement.mutation_check}
    names = {w.name for w in judged(tables).mutation_check}
    assert not {name for name in names if name.startswith("effect")}


def test_does_not_mutate_dead_letters() -> None:
    tables = journalled()
    tables["journal"][0] |= {"sink": "dead", "ordinal": 0}
    claim = exactly_once("input", **JOURNAL, dead_letters="dead")
    judgement = judged(tables, claim)
    assert judgement.findings == ()
    assert found_mutations(judgement) == {
        n: a for n, a in MUTATIONS.items() if n != "changes swapped"
    }
    assert all(
        "r0" not in mutation.target
        for mutation in judgement.mutation_check
        if mutation.name in MUTATIONS
    )


def test_clean_records_are_mutated_first() -> None:
    tables = journalled()
    tables["journal"].append({**tables["journal"][0], "ordinal": 9})
    judgement = judged(tables, CLAIMS[0])
    assert judgement.claims[0].refuted_by == ("duplicate-output",)
    for mutation in judgement.mutation_check:
        if mutation.name in ("change dropped", "change copied", "change altered"):
            assert mutation.found
            assert not mutation.target.startswith("record r0"), mutation


def test_missing_digests_make_the_verdict_unknown() -> None:
    (claim,) = judged(journalled(digest=None), CLAIMS[0]).claims
    assert claim.verdict is Verdict.UNKNOWN
    assert "«change altered»" in claim.reason


def test_accepts_effects_of_a_view_named_journal() -> None:
    tables = journalled()
    taken = tables["journal"].pop()
    tables["effects"] = [{k: v for k, v in taken.items() if k != "operation"} | {"view": "journal"}]
    judgement = judged(tables, CLAIMS[0])
    assert judgement.findings == ()
    assert all(mutation.found for mutation in judgement.mutation_check), judgement.mutation_check


@pytest.mark.parametrize(
    ("query", "mutation"),
    [
        ("found_lost_output", "change dropped"),
        ("found_duplicate_output", "change copied"),
        ("found_wrong_output", "change altered"),
        ("found_offset_ahead", "change dropped before a resume position"),
        ("found_reordered_output", "changes swapped"),
    ],
)
def test_broken_query_makes_a_claim_invalid(
    query: str, mutation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    queries = dict(standard_queries())
    broken = f"SELECT * FROM ({queries[query].sql}) q WHERE q.view <> 'journal'"
    queries[query] = replace(queries[query], sql=broken)
    monkeypatch.setattr(engines, "standard_queries", lambda: queries)
    judgement = judged(journalled())
    assert mutation not in found_mutations(judgement)
    assert Verdict.INVALID in [claim.verdict for claim in judgement.claims]


def test_empty_journal_never_holds() -> None:
    (claim,) = judged(journalled() | {"journal": []}, CLAIMS[0]).claims
    assert claim.verdict is not Verdict.HOLDS
