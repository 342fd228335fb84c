"""The verdict of a trial on given outputs.

Only brokers and faults are left out: expected effects, output readers, claims and checkers are
the real ones.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import asdict, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import pytest

from onceproof.checkers import ClaimJudgement, History, Judgement, Verdict, check
from onceproof.harness.kafka.log_reader import LogReader
from onceproof.harness.user_pipeline.final_state import contributions
from onceproof.verify.options import VerifyOptions
from tests.unit.onceproof.verify.profiles_made_up import trial_of

PHASES = ("arrange", "warm-up", "disturb", "heal", "settle", "collect", "tear-down")
LETTERS = VerifyOptions(
    command=("job",),
    folder=Path("/somewhere"),
    outputs=("json:{work}/out",),
    dead_letters="json:{work}/dead",
    dead_letter_identity="json:$.original.order_id",
    records=2000,
)
UPSERTS = replace(LETTERS, dead_letters=None, dead_letter_identity=None, upserts="json:$.customer")


def orders(options: VerifyOptions) -> list[dict[str, Any]]:
    workload = trial_of(options).workload
    sent = [r for n in range(workload.producers) for r in workload.sends(producer=n, seed=1)]
    return sorted((json.loads(r.value) for r in sent), key=lambda order: order["order_id"])


def claim_judgement(
    options: VerifyOptions, work: Path, **written: list[dict[str, Any]]
) -> ClaimJudgement:
    """Judge the only claim of a trial with these rows in its output folders."""
    (claim,) = judgement(options, work, **written).claims
    return claim


def judgement(options: VerifyOptions, work: Path, **written: list[dict[str, Any]]) -> Judgement:
    for folder, rows in written.items():
        (work / folder).mkdir()
        (work / folder / "a.json").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    scenario = trial_of(options)
    workload, subject = scenario.workload, scenario.subject
    sink = subject.open_sink(database="", reader=cast("LogReader", None), work=work)
    arguments = {"producer": 0, "seed": 1}
    one = replace(workload, producers=1)
    sent = list(one.sends(producer=0, seed=1))
    history = History.of(
        sends=[{"record": r.record, "topic": "orders"} for r in sent],
        log=[
            {"record": r.record, "topic": "orders", "offset": n, "key": r.key}
            for n, r in enumerate(sent)
        ],
        effects=[asdict(effect) for effect in sink.effects()],
        state=[asdict(state) for state in sink.states()],
        expected=list(one.expected(subject, **arguments)),
        contributions=[
            *one.contributed(subject, **arguments),
            *(
                row
                for name, _ in one.states
                for row in contributions(
                    one.final(name), [[(r.record, r.value) for r in sent]], sink=name
                )
            ),
        ],
        phases=[{"phase": phase, "outcome": "ok"} for phase in PHASES],
        hazards=[
            {"hazard": hazard, "hop": "process"} for hazard in sorted(scenario.claims[0].hazards)
        ],
    )
    return check(history, scenario.claims)


Rows = list[dict[str, Any]]


@pytest.mark.parametrize(
    ("change", "verdict", "sentence"),
    [
        (lambda out, events: None, Verdict.HOLDS, None),
        (lambda out, events: out.append(out[0]), Verdict.HOLDS, None),
        (
            lambda out, events: events.pop(7),
            Verdict.VIOLATED,
            "order-000014 has effects in out and none in events",
        ),
        (
            lambda out, events: out.pop(7),
            Verdict.VIOLATED,
            "order-000014 has effects in events and none in out",
        ),
    ],
    ids=["together", "twice", "no-event", "no-row"],
)
def test_atomic_orders_have_effects_in_both_outputs_or_in_neither(
    tmp_path: Path, change: Callable[[Rows, Rows], object], verdict: Verdict, sentence: str | None
) -> None:
    """Every other order has no effect, which --effects 0..1 permits."""
    outputs = ("json:{work}/out", "json:{work}/events")
    options = replace(
        LETTERS, outputs=outputs, dead_letters=None, dead_letter_identity=None,
        effects="0..1", claims=("atomic",),
    )  # fmt: skip
    out, events = orders(options)[::2], orders(options)[::2]
    change(out, events)
    found = judgement(options, tmp_path, out=out, events=events)
    assert found.claims[0].verdict is verdict, found.claims[0].reason
    shown = [each.sentence for f in found.findings if f.count for each in f.shown]
    assert [each for each in shown if "none in" in each] == ([sentence] if sentence else [])


def dead_letter(order: dict[str, Any]) -> dict[str, Any]:
    return {"error": "too much", "original": order}


class TestEffectOrDeadLetter:
    """Every tenth order becomes a dead letter."""

    @pytest.mark.parametrize(
        ("change", "verdict", "anomalies"),
        [
            (lambda out, dead, all_: None, Verdict.HOLDS, ()),
            (lambda out, dead, all_: out.append(all_[0]), Verdict.VIOLATED, ("duplicate-output",)),
            (
                lambda out, dead, all_: dead.append(dead_letter(all_[1])),
                Verdict.VIOLATED,
                ("duplicate-output",),
            ),
            (lambda out, dead, all_: dead.append(dead[0]), Verdict.VIOLATED, ("duplicate-output",)),
            (lambda out, dead, all_: dead.pop(), Verdict.VIOLATED, ("lost-output",)),
            (lambda out, dead, all_: out.pop(), Verdict.VIOLATED, ("lost-output",)),
            (
                lambda out, dead, all_: dead.append(dead_letter({"order_id": "nobody"})),
                Verdict.VIOLATED,
                ("phantom-output",),
            ),
            (lambda out, dead, all_: dead.append({"error": "?"}), Verdict.INVALID, ()),
        ],
        ids=["either", "both-out", "both-dead", "two-dead", "no-dead", "no-out", "foreign", "?"],
    )
    def test_each_order_has_exactly_one_of_them(
        self,
        tmp_path: Path,
        change: Callable[[Rows, Rows, Rows], object],
        verdict: Verdict,
        anomalies: tuple[str, ...],
    ) -> None:
        all_ = orders(LETTERS)
        dead = [dead_letter(order) for order in all_[::10]]
        out = [order for n, order in enumerate(all_) if n % 10]
        change(out, dead, all_)
        found = claim_judgement(LETTERS, tmp_path, out=out, dead=dead)
        assert (found.verdict, found.refuted_by) == (verdict, anomalies), found.reason

    def test_findings_name_the_outputs_of_each_order(self, tmp_path: Path) -> None:
        all_ = orders(LETTERS)
        dead = [dead_letter(all_[0]), dead_letter(all_[1]), dead_letter(all_[1])]
        out = [all_[0], *all_[2:], all_[2]]
        (found,) = (f for f in judgement(LETTERS, tmp_path, out=out, dead=dead).findings if f.count)
        assert [each.sentence for each in found.shown] == [
            "order-000000 has a dead letter and also an effect in out",
            "order-000001 has 2 dead letters for out; 1 expected",
            "order-000002 has 2 effects in out; 1 expected",
        ]

    def test_undeclared_dead_letters_are_lost_outputs(self, tmp_path: Path) -> None:
        options = replace(LETTERS, dead_letters=None, dead_letter_identity=None)
        found = claim_judgement(options, tmp_path, out=orders(options)[1:])
        assert found.refuted_by == ("lost-output",)


def test_findings_name_one_of_several_effects(tmp_path: Path) -> None:
    options = replace(LETTERS, dead_letters=None, dead_letter_identity=None, effects="2")
    twice = [order | {"line": line} for order in orders(options) for line in (1, 2)]
    found = judgement(options, tmp_path, out=[*twice[1:], twice[5]]).findings
    sentences = {f.anomaly: f.shown[0].sentence for f in found if f.count}
    assert re.fullmatch(
        r"order-000000 at orders-0@\d+ has 0 of 1 expected effects named «2» in out",
        sentences["lost-output"],
    )
    assert (
        sentences["duplicate-output"] == "order-000002 has 2 effects named «2» in out; 1 expected"
    )


def last_order_of_each(all_: Rows) -> Rows:
    return list({order["customer"]: order for order in all_}.values())


class TestUpserts:
    def test_last_orders_of_customers_are_spread_over_the_input(self) -> None:
        all_ = orders(UPSERTS)
        last = {order["customer"]: n for n, order in enumerate(all_)}
        ends = sorted(last.values())
        assert max(b - a for a, b in pairwise(ends)) <= 4
        repeated = [c for c in last if sum(order["customer"] == c for order in all_) == 4]
        assert len(repeated) > 200

    @pytest.mark.parametrize(
        ("change", "verdict", "anomalies"),
        [
            (lambda rows, all_: None, Verdict.HOLDS, ()),
            (lambda rows, all_: rows.reverse(), Verdict.HOLDS, ()),
            (lambda rows, all_: rows.pop(7), Verdict.VIOLATED, ("state-mismatch",)),
            (
                lambda rows, all_: rows.__setitem__(40, older_order(rows[40], all_)),
                Verdict.VIOLATED,
                ("state-mismatch",),
            ),
            (
                lambda rows, all_: rows.append(older_order(rows[40], all_)),
                Verdict.VIOLATED,
                ("state-mismatch",),
            ),
            (
                lambda rows, all_: rows.append({"customer": "nobody", "order_id": "order-000001"}),
                Verdict.VIOLATED,
                ("state-mismatch",),
            ),
            (
                lambda rows, all_: rows.append({"customer": None, "order_id": "order-000001"}),
                Verdict.INVALID,
                (),
            ),
            (lambda rows, all_: rows[3].pop("order_id"), Verdict.INVALID, ()),
        ],
        ids=["last", "in-any-order", "missing", "older", "two-rows", "foreign", "no-key", "no-id"],
    )
    def test_output_has_the_last_value_of_each_key(
        self,
        tmp_path: Path,
        change: Callable[[Rows, Rows], object],
        verdict: Verdict,
        anomalies: tuple[str, ...],
    ) -> None:
        all_ = orders(UPSERTS)
        rows = last_order_of_each(all_)
        change(rows, all_)
        found = claim_judgement(UPSERTS, tmp_path, out=rows)
        assert (found.verdict, found.refuted_by) == (verdict, anomalies), found.reason

    def test_orders_without_effect_are_not_expected(self, tmp_path: Path) -> None:
        rules = tmp_path / "rules.py"
        rules.write_text("def keeps(order): return int(order['quantity'] > 2)\n")
        options = replace(UPSERTS, effects=f"{rules}:keeps")
        kept = [order for order in orders(options) if order["quantity"] > 2]
        assert (
            claim_judgement(options, tmp_path, out=last_order_of_each(kept)).verdict
            is Verdict.HOLDS
        )
        (tmp_path / "other").mkdir()
        wrong = claim_judgement(
            options, tmp_path / "other", out=last_order_of_each(orders(options))
        )
        assert wrong.refuted_by == ("state-mismatch",)


def older_order(row: dict[str, Any], all_: Rows) -> dict[str, Any]:
    return next(order for order in all_ if order["customer"] == row["customer"] and order != row)


IGNORED = ("at", "item", "quantity", "amount_cents", "order_id")


class TestUpsertsWithContents:
    """The output must have the last input of each key, with the right content."""

    @pytest.mark.parametrize(
        ("change", "verdict", "sentence"),
        [
            (lambda row, all_: None, Verdict.HOLDS, None),
            (lambda row, all_: row.update(at="now"), Verdict.HOLDS, None),
            (
                lambda row, all_: row.update(cents=-1),
                Verdict.VIOLATED,
                r"content of customer-\d+ in out differs: cents: expected \d+, found -1",
            ),
            (
                lambda row, all_: row.update(older_order(row, all_), cents=row["cents"]),
                Verdict.VIOLATED,
                r"latest input of customer-\d+ in out is order-\d+, but .* yield order-\d+",
            ),
        ],
        ids=["right", "ignored", "another-content", "an-older-input"],
    )
    def test_contents_are_compared_field_by_field(
        self,
        tmp_path: Path,
        change: Callable[[dict[str, Any], Rows], object],
        verdict: Verdict,
        sentence: str | None,
    ) -> None:
        rules = tmp_path / "rules.py"
        rules.write_text(
            "def row(order):\n"
            "    if order['quantity'] > 2:\n"
            "        cents = order['quantity'] * order['amount_cents']\n"
            "        return {'order_id': order['order_id'], 'customer': order['customer'],\n"
            "                'cents': cents}\n"
        )
        ignored = tuple(f"json:$.{name}" for name in IGNORED)
        options = replace(UPSERTS, expects=(f"{rules}:row",), ignored=ignored)
        all_ = [order for order in orders(options) if order["quantity"] > 2]
        rows = [
            row | {"cents": row["quantity"] * row["amount_cents"]}
            for row in last_order_of_each(all_)
        ]
        change(next(r for r in rows if earlier_orders(r, all_)), all_)
        found = judgement(options, tmp_path, out=rows)
        (claim,) = found.claims
        assert claim.verdict is verdict, claim.reason
        shown = [each.sentence for f in found.findings if f.count for each in f.shown]
        assert len(shown) == (sentence is not None)
        assert all(re.fullmatch(sentence or "", each) for each in shown), shown
        assert {m.must_find for m in found.mutation_check if m.placed} >= {"state-mismatch"}


def earlier_orders(row: dict[str, Any], all_: Rows) -> Rows:
    return [o for o in all_ if o["customer"] == row["customer"] and o["order_id"] < row["order_id"]]


def totals(all_: Rows) -> dict[str, int]:
    found: dict[str, int] = {}
    for order in all_:
        found[order["customer"]] = found.get(order["customer"], 0) + order["amount_cents"]
    return found


class TestTableOfState:
    """The output has a total per customer, and names no orders."""

    @pytest.mark.parametrize(
        ("change", "verdict", "sentence"),
        [
            (lambda rows, all_: None, Verdict.HOLDS, None),
            (lambda rows, all_: rows.reverse(), Verdict.HOLDS, None),
            (lambda rows, all_: rows[0].update(at="now"), Verdict.HOLDS, None),
            (
                lambda rows, all_: add_again(rows, all_[500]),
                Verdict.VIOLATED,
                r"content of customer-\d+ in out differs: cents: expected \d+, found \d+",
            ),
            (
                lambda rows, all_: rows.pop(30),
                Verdict.VIOLATED,
                r"content of customer-\d+ in out is absent, but .* yield \{.*\}",
            ),
            (
                lambda rows, all_: rows.append({"customer": "nobody", "cents": 1}),
                Verdict.VIOLATED,
                r"content of nobody in out is \{.*\}, but the committed inputs yield nothing",
            ),
            (
                lambda rows, all_: rows.append(dict(rows[3])),
                Verdict.VIOLATED,
                r"content of customer-\d+ in out is in 2 rows: .*",
            ),
            (lambda rows, all_: rows[3].pop("customer"), Verdict.INVALID, None),
        ],
        ids=["right", "any-order", "ignored", "twice", "lost", "made-up", "two-rows", "no-key"],
    )
    def test_final_state_is_compared_with_the_returned_one(
        self,
        tmp_path: Path,
        change: Callable[[Rows, Rows], object],
        verdict: Verdict,
        sentence: str | None,
    ) -> None:
        rules = Path("tests/power/pairs/total-added-again/rules.py").absolute()
        options = replace(UPSERTS, states=(f"{rules}:totals",), ignored=("json:$.at",))
        all_ = orders(options)
        rows: Rows = [{"customer": name, "cents": n} for name, n in totals(all_).items()]
        change(rows, all_)
        found = judgement(options, tmp_path, out=rows)
        (claim,) = found.claims
        assert claim.verdict is verdict, claim.reason
        if verdict is Verdict.INVALID:
            return
        shown = [each.sentence for f in found.findings if f.count for each in f.shown]
        assert len(shown) == (sentence is not None)
        assert all(re.fullmatch(sentence or "", each) for each in shown), shown
        assert {m.must_find for m in found.mutation_check if m.placed} >= {"state-mismatch"}
        assert all(m.found for m in found.mutation_check if m.placed)
        assert f"{rules}:totals returns" in claim.claim.fine_print.promise


def add_again(rows: Rows, order: dict[str, Any]) -> None:
    row = next(row for row in rows if row["customer"] == order["customer"])
    row["cents"] += order["amount_cents"]
