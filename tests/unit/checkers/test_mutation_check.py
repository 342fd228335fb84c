"""The mutation self-check on small histories finds every mutation, or the verdict says why not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from onceproof.checkers import (
    History,
    Judgement,
    Verdict,
    anomalies,
    at_least_once,
    at_least_once_append,
    at_most_once,
    atomic,
    atomic_append,
    check,
    end_to_end,
    engines,
    exactly_once,
    exactly_once_append,
    ordered,
    ordered_append,
)
from onceproof.checkers.engines.overlay import standard_queries

CLAIM = end_to_end("exactly-once", "input", into="ledger", view="table")
ALL = {
    "log entry dropped": "lost-write",
    "log entry copied": "duplicate",
    "log entry altered": "corrupt",
    "effect dropped": "lost-output",
    "effect copied": "duplicate-output",
    "effect altered": "wrong-output",
    "effect dropped before a resume position": "offset-ahead",
    "position set back": "offset-regressed",
    "atomic position set back": "offset-behind",
    "range shifted": "offset-gap",
}


def rows(records: int = 4) -> dict[str, list[dict[str, Any]]]:
    names = [f"r{n}" for n in range(records)]
    phases = ("arrange", "warm-up", "disturb", "heal", "settle", "collect", "tear-down")
    return {
        "sends": [{"record": r, "attempt": r, "partition": 0} for r in names],
        "log": [{"record": r, "attempt": r, "digest": f"in-{r}"} for r in names],
        "effects": [
            {"record": r, "source_topic": "input", "source_partition": 0, "source_offset": n}
            for n, r in enumerate(names)
        ],
        "expected": [{"record": r} for r in names],
        "positions": [
            {"role": role, "offset": offset, "ordinal": ordinal}
            for role in ("resume", "atomic")
            for ordinal, offset in enumerate((1, records))
        ],
        "ranges": [
            {"batch": 0, "start_offset": 0, "end_offset": 1},
            {"batch": 1, "start_offset": 1, "end_offset": records},
        ],
        "phases": [{"phase": p, "outcome": "ok"} for p in phases],
        "hazards": [{"hop": "process"}, {"hop": "produce"}],
    }


def judged(tables: dict[str, list[dict[str, Any]]], *claims: Any) -> Judgement:
    return check(History.of(**tables), claims or (CLAIM,))


def mutations(judgement: Judgement) -> dict[str, bool]:
    return {mutation.name: mutation.found for mutation in judgement.mutation_check}


@pytest.mark.parametrize("records", [1, 2, 20])
def test_finds_every_mutation_in_histories_of_any_size(records: int) -> None:
    judgement = judged(rows(records))
    assert {w.name: w.must_find for w in judgement.mutation_check} == ALL
    assert all(mutations(judgement).values()), judgement.mutation_check
    assert judgement.claims[0].verdict is Verdict.HOLDS
    assert judgement.findings == ()


def test_does_not_mutate_empty_tables() -> None:
    tables = rows() | {"positions": [], "ranges": []}
    assert mutations(judged(tables)).keys() == set(list(ALL)[:6])


def test_missed_mutation_invalidates_only_its_hop() -> None:
    produce = exactly_once_append("input")
    process = exactly_once("input", into="ledger", view="table")
    tables = rows() | {"expected": []}  # content cannot be checked
    hop, pipeline = judged(tables, produce, process).claims
    assert hop.verdict is Verdict.HOLDS
    assert pipeline.verdict is Verdict.INVALID
    assert "«effect altered»" in pipeline.reason


@pytest.mark.parametrize(
    ("table", "verdict"),
    [
        ("sends", Verdict.UNKNOWN),
        ("log", Verdict.INVALID),
        ("effects", Verdict.INVALID),
        ("expected", Verdict.INVALID),
    ],
)
def test_no_claim_holds_with_an_empty_table(table: str, verdict: Verdict) -> None:
    (claim,) = judged(rows() | {table: []}).claims
    assert claim.verdict is verdict


@pytest.mark.parametrize("table", ["log", "effects"])
def test_unreadable_records_make_the_run_invalid(table: str) -> None:
    tables = rows()
    for row in tables[table]:
        row["record"] = None
    (claim,) = judged(tables).claims
    assert claim.verdict is Verdict.INVALID


def test_clean_records_are_mutated_first() -> None:
    tables = rows()
    tables["effects"].append(dict(tables["effects"][0]))
    tables["effects"][1]["digest"] = "wrong"
    judgement = judged(tables)
    assert all(mutations(judgement).values())
    targets = {w.name: w.target for w in judgement.mutation_check}
    for name in ("effect dropped", "effect copied", "effect altered"):
        assert targets[name].startswith(("record r2", "record r3")), targets


def test_history_full_of_one_anomaly_is_judged_for_others() -> None:
    tables = rows()
    tables["effects"] += [dict(e) for e in tables["effects"]]
    scope = {"into": "ledger", "view": "table"}
    judgement = judged(tables, at_least_once("input", **scope), at_most_once("input", **scope))
    assert [c.verdict for c in judgement.claims] == [Verdict.HOLDS, Verdict.VIOLATED]
    (copied,) = [w for w in judgement.mutation_check if w.name == "effect copied"]
    assert copied.found
    assert "already" in copied.detail


def test_broken_query_makes_the_claim_invalid(monkeypatch: pytest.MonkeyPatch) -> None:
    queries = dict(standard_queries())
    answer = queries["found_lost_output"]
    queries["found_lost_output"] = replace(
        answer, sql=f"SELECT * FROM ({answer.sql}) q WHERE 1 = 0"
    )
    monkeypatch.setattr(engines, "standard_queries", lambda: queries)
    (claim,) = judged(rows()).claims
    assert claim.verdict is Verdict.INVALID
    assert "lost-output" in claim.reason


def test_judging_is_deterministic() -> None:
    tables = rows()
    tables["effects"] += [dict(e) for e in tables["effects"]]
    assert judged(tables) == judged(tables)


def test_judges_several_views_together() -> None:
    tables = rows()
    tables["effects"] += [e | {"view": "other"} for e in tables["effects"][:3]]
    claims = [exactly_once("input", into="ledger", view=v) for v in ("table", "other")]
    judgement = judged(tables, *claims)
    assert [c.verdict for c in judgement.claims] == [Verdict.HOLDS, Verdict.VIOLATED]
    assert [f.anomaly for f in judgement.findings] == ["lost-output", "offset-ahead"]
    assert judgement.counts["effects"] == 7
    assert judgement.counts["committed_input"] == 4


def test_interrupted_run_leaves_absence_undecided() -> None:
    tables = rows() | {"effects": [], "phases": [{"phase": "disturb", "outcome": "interrupted"}]}
    judgement = judged(tables)
    assert judgement.findings == ()
    assert any("lost-output: 4 findings are undecided" in note for note in judgement.notes)
    assert "lost-output" in judgement.claims[0].undecided


def complete_tables() -> dict[str, list[dict[str, Any]]]:
    """Tables with transactions, reads, order and state, so that every mutation has a place."""
    tables = rows(6)
    for place, (send, entry) in enumerate(zip(tables["sends"], tables["log"], strict=True)):
        entry |= {"key": "k", "offset": place}
        send |= {"txn": f"t{place // 2}", "key": "k", "partition": 0, "offset": place}
    tables["txns"] = [{"txn": f"t{n}"} for n in range(3)]
    for n, effect in enumerate(tables["effects"]):
        effect["ordinal"] = n
    tables["reads"] = [
        {"record": e["record"], "attempt": e["attempt"], "offset": e["offset"]}
        for e in tables["log"]
    ]
    names = [e["record"] for e in tables["log"]]
    tables["contributions"] = [{"sink": "sums", "record": n, "amount": 2} for n in names]
    tables["state"] = [{"sink": "sums", "amount": 2 * len(names)}]
    tables["journal"] = [
        {key: e[key] for key in e if key != "position"} | {"digest": f"out-{e['record']}"}
        for e in tables["effects"]
    ]
    for table in ("effects", "expected"):
        tables[table] += [row | {"sink": "copies"} for row in tables[table]]
    return tables


def test_finds_every_mutation_of_every_anomaly() -> None:
    scope = {"into": "ledger", "view": "table"}
    judgement = judged(
        complete_tables(),
        CLAIM,
        atomic_append("input"),
        ordered_append("input"),
        ordered("input", **scope),
        exactly_once("input", into="sums", view="table"),
        exactly_once("input", into="ledger", view="journal"),
        ordered("input", into="ledger", view="journal"),
        atomic("input", into=[("ledger", "table"), ("copies", "table")]),
    )
    assert judgement.findings == ()
    assert {w.name for w in judgement.mutation_check} == {
        m.name for a in anomalies().values() for m in a.mutations
    }
    assert all(w.found for w in judgement.mutation_check), judgement.mutation_check
    assert [c.verdict for c in judgement.claims] == [Verdict.HOLDS] * 8, judgement.claims


def test_mutates_order_in_a_history_of_many_partitions() -> None:
    tables = rows(2_000)
    for name in ("sends", "log"):
        tables[name] = [
            row | {"partition": n // 4, "offset": n % 4} for n, row in enumerate(tables[name])
        ]
    tables["reads"] = [dict(entry) for entry in tables["log"]]
    for read in tables["reads"]:
        del read["digest"]
    judgement = judged(tables, ordered_append("input"))
    assert {w.name for w in judgement.mutation_check} == {
        "log entries swapped", "read dropped", "read repeated"
    }  # fmt: skip
    assert [c.verdict for c in judgement.claims] == [Verdict.HOLDS]


@pytest.mark.parametrize("empty", ["reads", "txns", "state"])
def test_claim_does_not_hold_if_its_table_is_empty(empty: str) -> None:
    tables = complete_tables()
    tables[empty] = []
    claim = {
        "reads": ordered_append("input"),
        "txns": atomic_append("input"),
        "state": exactly_once("input", into="sums", view="table"),
    }[empty]
    (result,) = judged(tables, claim).claims
    assert result.verdict is not Verdict.HOLDS


def lanes(count: int, spoil: int | None = None) -> dict[str, list[dict[str, Any]]]:
    """A history of several topics that are alike; one has a duplicate."""
    sends = [
        {"topic": f"lane{lane}", "record": f"r{n}", "attempt": f"{lane}/{n}", "partition": 0}
        for lane in range(count)
        for n in range(4)
    ]
    log = [
        {**send, "offset": n % 4, "digest": f"in-{send['record']}"} for n, send in enumerate(sends)
    ]
    if spoil is not None:
        log.append({**log[4 * spoil], "offset": 4})
    return {"sends": sends, "log": log, "phases": rows()["phases"], "hazards": rows()["hazards"]}


@pytest.mark.parametrize("spoil", [None, 0, 2])
def test_trials_that_are_alike_share_one_self_check(spoil: int | None) -> None:
    tables = lanes(3, spoil)
    claims = [exactly_once_append(f"lane{lane}") for lane in range(3)]
    each = check(History.of(**tables), claims)
    alike = check(History.of(**tables), claims, alike=True)
    expected = [Verdict.VIOLATED if lane == spoil else Verdict.HOLDS for lane in range(3)]
    assert [c.verdict for c in alike.claims] == [c.verdict for c in each.claims] == expected
    assert len(each.mutation_check) == 3 * len(set(mutations(each)))
    assert len(alike.mutation_check) == len(mutations(alike))
    assert all(mutations(alike).values())


def test_trials_of_different_claims_do_not_share_a_self_check() -> None:
    claims = [exactly_once_append("lane0"), at_least_once_append("lane1")]
    judgement = check(History.of(**lanes(2)), claims, alike=True)
    found = [mutation.name for mutation in judgement.mutation_check]
    assert found.count("log entry dropped") == 2
    assert found.count("log entry copied") == 1
