"""What leads to each verdict, which verdict takes precedence, and exit codes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from onceproof.checkers import (
    Claim,
    ClaimJudgement,
    Expectation,
    Findings,
    FinePrint,
    History,
    Hop,
    Verdict,
    anomalies,
    at_least_once,
    at_most_once,
    check,
    claim_from_json,
    claim_to_json,
    end_to_end,
    exactly_once,
    exactly_once_append,
    exit_code,
)
from onceproof.checkers.circumstances import Circumstances
from onceproof.checkers.controls import Control
from onceproof.checkers.model import Evidence, Finding, Mutation
from onceproof.checkers.refutations import GUARANTEES, HOPS, refutations, shown_by
from onceproof.checkers.verdict import judge_claim

CLAIM = exactly_once("input", into="ledger", view="table", hazards={"replayed-batch"})
PHASES = ("arrange", "warm-up", "disturb", "heal", "settle", "collect", "tear-down")


def circumstances(
    *, until: str = "tear-down", fault: dict[str, Any] | None = None, hazard: str = "process",
    **outcomes: str | None,
) -> Circumstances:  # fmt: skip
    names = {name.replace("-", "_"): name for name in PHASES}
    reached = PHASES[: PHASES.index(until) + 1]
    phases = [
        {"phase": phase, "outcome": outcomes.get(key, "ok")}
        for key, phase in names.items()
        if phase in reached
    ]
    fault_row = {"armed_at": 1, "injected_at": 2, "healed_at": 3, "fault": "1-kill"}
    return Circumstances.of(
        History.of(phases=phases, faults=[fault_row | (fault or {})], hazards=[{"hop": hazard}])
    )


def findings_of(name: str, evidence: Evidence, **key: Any) -> Findings:
    finding = Finding(
        anomaly=name, hop=Hop.PROCESS, evidence=evidence, key=key, sentence=f"{name} of a",
        witness=(),
    )  # fmt: skip
    return Findings(anomaly=name, hop=Hop.PROCESS, evidence=evidence, count=1, shown=(finding,))


DUPLICATE = findings_of("duplicate-output", Evidence.PRESENCE)
LOST = findings_of("lost-output", Evidence.ABSENCE)
STALL = findings_of("no-progress", Evidence.LIVENESS)
NOT_LOST = replace(LOST, count=0, shown=())
MISSED = Mutation(
    name="effect dropped", target="a", must_find="lost-output", found=False, detail="not found"
)
SEEN = [
    Mutation(name=name, target="a", must_find=name, found=True, detail="found")
    for name in ("duplicate", "lost-write", "duplicate-output", "lost-output")
]
UNPLACED = replace(MISSED, placed=False, detail="there is nothing to mutate in effects")
UNREADABLE = Control(passed=False, detail="no identity could be read")
EMPTY = Control(passed=False, detail="nothing was read", even_if_interrupted=False)


def judge(claim: Claim = CLAIM, **overrides: Any) -> ClaimJudgement:
    defaults: dict[str, Any] = {
        "findings": [NOT_LOST], "circumstances": circumstances(), "mutations": SEEN,
    }  # fmt: skip
    return judge_claim(claim, **defaults | overrides)


@pytest.mark.parametrize(
    ("details", "sentence"),
    [
        (
            ["p#3 wrote nothing"],
            "The pipeline hung once, which refutes nothing: p#3 wrote nothing.",
        ),
        (["one", "two"], "The pipeline hung 2 times, which refutes nothing: one; two."),
    ],
)
def test_hangs_extend_the_reason_but_keep_the_verdict(details: list[str], sentence: str) -> None:
    rows = [{"hazard": "hung", "hop": "process", "detail": detail} for detail in details]
    base = circumstances()
    hung = Circumstances.of(History.of(hazards=rows)).hazards
    for overrides in ({}, {"findings": [DUPLICATE]}):
        without = judge(circumstances=base, **overrides)
        judged = judge(circumstances=replace(base, hazards=(*base.hazards, *hung)), **overrides)
        assert judged.verdict is without.verdict
        assert judged.reason.endswith(f" {sentence}")
        assert "hung" not in without.reason


class TestNotShown:
    @pytest.mark.parametrize("left", ["duplicate-output", "lost-output"])
    def test_unknown_if_an_anomaly_had_no_mutation(self, left: str) -> None:
        judged = judge(mutations=[mutation for mutation in SEEN if mutation.must_find == left])
        assert judged.verdict is Verdict.UNKNOWN
        assert "could not show" in judged.reason
        (lacking,) = {"duplicate-output", "lost-output"} - {left}
        assert lacking in judged.reason
        assert left not in judged.reason.partition(" or ")[0]

    def test_unknown_if_a_refuting_mutation_has_no_place(self) -> None:
        judged = judge(mutations=[*SEEN, UNPLACED])
        assert judged.verdict is Verdict.UNKNOWN
        assert "could not show lost-output: for mutation «effect dropped» there is" in judged.reason
        once = at_most_once("input", into="ledger", view="table")
        assert judge(once, mutations=[*SEEN, UNPLACED]).verdict is Verdict.HOLDS

    def test_findings_outrank_a_mutation_without_a_place(self) -> None:
        assert judge(findings=[DUPLICATE], mutations=[UNPLACED]).verdict is Verdict.VIOLATED
        assert judge(findings=[LOST], mutations=[UNPLACED]).verdict is Verdict.VIOLATED
        stalled = judge(findings=[STALL], mutations=[UNPLACED])
        assert stalled.verdict is Verdict.STALLED

    def test_missed_mutation_outranks_one_without_a_place(self) -> None:
        assert judge(mutations=[UNPLACED, MISSED]).verdict is Verdict.INVALID

    def test_state_mismatch_suffices_for_exactly_once(self) -> None:
        mismatch = replace(SEEN[0], must_find="state-mismatch")
        assert judge(mutations=[mismatch]).verdict is Verdict.HOLDS
        once = at_most_once("input", into="ledger", view="table")
        assert judge(once, mutations=[mismatch]).verdict is Verdict.UNKNOWN

    def test_end_to_end_requires_mutations_on_both_hops(self) -> None:
        claim = end_to_end(
            "exactly-once", "input", into="ledger", view="table", hazards={"replayed-batch"}
        )
        assert judge(claim).verdict is Verdict.HOLDS
        assert judge(claim, mutations=SEEN[2:]).verdict is Verdict.UNKNOWN
        assert judge(claim, mutations=SEEN[:2]).verdict is Verdict.UNKNOWN

    @pytest.mark.parametrize("guarantee", GUARANTEES)
    @pytest.mark.parametrize("hop", [Hop.PRODUCE, Hop.PROCESS])
    def test_required_anomalies_refute_and_have_mutations(self, guarantee: str, hop: Hop) -> None:
        ways = shown_by(guarantee, hop)
        assert bool(ways) is (hop in HOPS.get(guarantee, frozenset(Hop)))
        mutated = {a.name for a in anomalies().values() if a.hop is hop and a.mutations}
        for names in ways:
            assert names
            assert names <= refutations(guarantee, hop) & mutated


def test_holds_and_counts_hazards() -> None:
    judged = judge()
    assert judged.verdict is Verdict.HOLDS
    assert judged.hazards_seen == {"replayed-batch": 1}
    assert "replayed-batch (1)" in judged.reason


class TestViolated:
    def test_presence_counts_in_an_interrupted_run(self) -> None:
        cut = circumstances(until="disturb", disturb="interrupted")
        judged = judge(findings=[DUPLICATE], circumstances=cut)
        assert judged.verdict is Verdict.VIOLATED
        assert judged.refuted_by == ("duplicate-output",)
        assert judged.found == {"duplicate-output": DUPLICATE.count}
        assert "duplicate-output of a" in judged.reason

    def test_outranks_every_other_verdict(self) -> None:
        judged = judge(
            findings=[DUPLICATE, STALL], mutations=[MISSED], controls=[UNREADABLE],
            circumstances=circumstances(arrange="failed", fault={"took_effect": False}),
        )  # fmt: skip
        assert judged.verdict is Verdict.VIOLATED

    def test_absence_counts_if_settled_and_collected(self) -> None:
        assert judge(findings=[LOST]).verdict is Verdict.VIOLATED

    @pytest.mark.parametrize(
        "cut",
        [
            circumstances(until="disturb"),
            circumstances(settle="stalled"),
            circumstances(settle="held-back"),
            circumstances(collect="interrupted"),
            circumstances(settle=None),
            Circumstances(),
        ],
    )
    def test_absence_is_undecided_unless_settled_and_collected(self, cut: Circumstances) -> None:
        judged = judge(findings=[LOST], circumstances=cut)
        assert judged.verdict is Verdict.UNKNOWN
        assert (judged.refuted_by, judged.found) == ((), {})
        assert judged.undecided == ("lost-output",)

    def test_failed_control_outranks_absence(self) -> None:
        for control in (UNREADABLE, EMPTY):
            assert judge(findings=[LOST], controls=[control]).verdict is Verdict.INVALID

    def test_only_refuting_anomalies_count(self) -> None:
        scope = {"into": "ledger", "view": "table"}
        assert judge(at_least_once("input", **scope), findings=[DUPLICATE]).verdict is Verdict.HOLDS
        assert judge(at_most_once("input", **scope), findings=[LOST]).verdict is Verdict.HOLDS
        assert judge(at_least_once("input", **scope), findings=[LOST]).refuted_by

    @pytest.mark.parametrize(("kind", "refuted"), [("gap", True), ("overlap", False)])
    def test_at_least_once_is_refuted_by_gaps_only(self, kind: str, refuted: bool) -> None:
        found = [findings_of("offset-gap", Evidence.PRESENCE, kind=kind)]
        claim = at_least_once("input", into="ledger", view="table")
        assert bool(judge(claim, findings=found).refuted_by) is refuted
        assert judge(findings=found).refuted_by == ("offset-gap",)

    def test_unknown_if_a_fault_is_outside_the_fine_print(self) -> None:
        narrow = FinePrint(
            promise="", failures="", guarantee="", not_tested="", covers=frozenset({"timeout"})
        )
        claim = replace(CLAIM, fine_print=narrow)
        judged = judge(claim, findings=[DUPLICATE])
        assert judged.verdict is Verdict.UNKNOWN
        assert "outside the fine print" in judged.reason
        assert "1-kill" in judged.reason
        never = circumstances(fault={"injected_at": None, "took_effect": False, "required": False})
        judged = judge(claim, findings=[DUPLICATE], circumstances=never)
        assert judged.verdict is Verdict.VIOLATED
        assert judge(claim).verdict is Verdict.HOLDS


class TestInvalid:
    @pytest.mark.parametrize(
        ("fault", "message"),
        [
            ({"took_effect": False}, "«1-kill» left no evidence"),
            (
                {"took_effect": False, "armed_at": None, "injected_at": None},
                "«1-kill» never started",
            ),
            ({"error": "no such node"}, "no such node"),
            ({"healed_at": None}, "no evidence that fault «1-kill» healed"),
        ],
    )
    def test_fault_failed_had_no_effect_or_did_not_heal(
        self, fault: dict[str, Any], message: str
    ) -> None:
        judged = judge(circumstances=circumstances(fault=fault))
        assert judged.verdict is Verdict.INVALID
        assert message in judged.reason

    def test_optional_fault_need_not_take_effect(self) -> None:
        optional = {"took_effect": False, "required": False, "injected_at": None, "healed_at": None}
        assert judge(circumstances=circumstances(fault=optional)).verdict is Verdict.HOLDS

    @pytest.mark.parametrize(
        ("effective", "verdict"),
        [
            ({"link": [False, True], "process": [True]}, Verdict.HOLDS),
            ({"link": [False, False], "process": [True]}, Verdict.INVALID),
            ({"link": [True], "process": [True], "partition": [False]}, Verdict.INVALID),
        ],
    )
    def test_one_fault_of_each_set_must_take_effect(
        self, effective: dict[str, list[bool]], verdict: Verdict
    ) -> None:
        rows = [
            {"fault": f"{name} {n}", "one_of": name, "required": False, "took_effect": took_effect,
             "injected_at": 2, "healed_at": 3}
            for name, many in effective.items() for n, took_effect in enumerate(many)
        ]  # fmt: skip
        phases = [{"phase": phase, "outcome": "ok"} for phase in PHASES]
        seen = Circumstances.of(
            History.of(phases=phases, faults=rows, hazards=[{"hop": "process"}])
        )
        judged = judge(circumstances=seen)
        assert judged.verdict is verdict
        if verdict is Verdict.INVALID:
            assert "had to take effect, but none left evidence" in judged.reason

    def test_phase_failed(self) -> None:
        judged = judge(circumstances=circumstances(until="arrange", arrange="failed"))
        assert judged.verdict is Verdict.INVALID
        assert "arrange" in judged.reason

    def test_mutation_was_missed(self) -> None:
        judged = judge(mutations=[MISSED])
        assert judged.verdict is Verdict.INVALID
        assert "«effect dropped»" in judged.reason

    def test_outranks_stalled(self) -> None:
        failed = circumstances(settle="stalled", tear_down="failed")
        assert judge(findings=[STALL], circumstances=failed).verdict is Verdict.INVALID

    def test_unreadable_identities_in_an_interrupted_run(self) -> None:
        cut = circumstances(until="disturb", disturb="interrupted")
        assert judge(controls=[UNREADABLE], circumstances=cut).verdict is Verdict.INVALID

    def test_interrupted_run_is_not_invalid_for_unreached_checks(self) -> None:
        cut = circumstances(
            until="disturb", disturb="interrupted", fault={"took_effect": False, "healed_at": None}
        )
        judged = judge(mutations=[MISSED], controls=[EMPTY], circumstances=cut)
        assert judged.verdict is Verdict.UNKNOWN
        assert "disturb" in judged.reason


class TestStalled:
    def test_liveness_finding(self) -> None:
        judged = judge(findings=[STALL], circumstances=circumstances(settle="stalled"))
        assert judged.verdict is Verdict.STALLED
        assert judged.reason == "No-progress of a."

    def test_outranks_faults_that_never_started(self) -> None:
        never = {"took_effect": False, "armed_at": None, "injected_at": None, "healed_at": None}
        stalled = circumstances(disturb="stalled", fault=never)
        assert judge(findings=[STALL], circumstances=stalled).verdict is Verdict.STALLED

    def test_outranks_unknown(self) -> None:
        both = circumstances(settle="stalled", collect="interrupted")
        assert judge(findings=[STALL], circumstances=both).verdict is Verdict.STALLED


class TestUnknown:
    @pytest.mark.parametrize(
        ("cut", "message"),
        [
            (circumstances(until="heal", heal="interrupted"), "interrupted in phase heal"),
            (circumstances(until="heal", heal=None), "ended in phase heal"),
            (circumstances(until="heal"), "after phase heal, before settle"),
            (circumstances(until="settle"), "after phase settle, before collect"),
            (Circumstances(), "no phase was recorded"),
        ],
    )
    def test_run_ended_early(self, cut: Circumstances, message: str) -> None:
        judged = judge(circumstances=cut)
        assert judged.verdict is Verdict.UNKNOWN
        assert message in judged.reason[:1].lower() + judged.reason[1:]

    def test_held_back_inputs_are_not_lost(self) -> None:
        rows = circumstances(settle="held-back").phases
        phases = tuple(
            row | {"detail": "3 inputs wait"} if row["phase"] == "settle" else row for row in rows
        )
        held = replace(circumstances(), phases=phases)
        judged = judge(findings=[LOST], circumstances=held)
        assert (judged.verdict, judged.reason) == (Verdict.UNKNOWN, "3 inputs wait.")
        assert judge(circumstances=held).verdict is Verdict.UNKNOWN
        assert judge(controls=[EMPTY], circumstances=held).verdict is Verdict.UNKNOWN
        assert judge(mutations=[MISSED], circumstances=held).verdict is Verdict.UNKNOWN
        assert judge(controls=[UNREADABLE], circumstances=held).verdict is Verdict.INVALID
        assert judge(findings=[DUPLICATE], circumstances=held).verdict is Verdict.VIOLATED

    def test_cut_off_anomalies_are_undecided(self) -> None:
        judged = judge(cut_off=["lost-output", "lost-write"])
        assert judged.verdict is Verdict.UNKNOWN
        assert judged.undecided == ("lost-output",)


class TestUnexercised:
    def test_required_hazard_was_not_observed(self) -> None:
        claim = replace(CLAIM, hazards=frozenset({"replayed-batch", "paused"}))
        judged = judge(claim)
        assert judged.verdict is Verdict.UNEXERCISED
        assert "paused" in judged.reason

    def test_hazard_on_another_hop_does_not_count(self) -> None:
        judged = judge(circumstances=circumstances(hazard="produce"))
        assert judged.verdict is Verdict.UNEXERCISED
        assert judged.hazards_seen == {}
        assert "another hop" in judged.reason

    @pytest.mark.parametrize("hop", ["produce", "process"])
    def test_end_to_end_requires_a_hazard_on_each_hop(self, hop: str) -> None:
        claim = replace(CLAIM, hop=Hop.END_TO_END, hazards=frozenset())
        one = circumstances(hazard=hop)
        judged = judge(claim, circumstances=one)
        assert judged.verdict is Verdict.UNEXERCISED
        other = "process" if hop == "produce" else "produce"
        assert f"no hazard was observed on hop {other}" in judged.reason
        both = replace(one, hazards=(*one.hazards, *circumstances(hazard=other).hazards))
        assert judge(claim, circumstances=both).verdict is Verdict.HOLDS

    def test_any_hazard_of_the_hop_suffices_if_none_is_required(self) -> None:
        claim = exactly_once_append("input")
        assert judge(claim).verdict is Verdict.UNEXERCISED
        assert judge(claim, circumstances=circumstances(hazard="produce")).verdict is Verdict.HOLDS


def test_hazard_of_a_send_exercises_only_its_topic() -> None:
    topics = ("payments", "refunds")
    sends = [
        {"topic": topic, "ordinal": n, "offset": n, "session": topic, "digest": f"{topic} {n}"}
        | {"record": f"{topic}-{n}", "key": f"k{n}", "attempt": f"it's {topic}-{n}"}
        for topic in topics
        for n in range(8)
    ]
    there = ("topic", "offset", "digest", "record", "key", "attempt")
    history = History.of(
        sends=sends,
        log=[{name: send[name] for name in there} for send in sends],
        phases=[{"phase": phase, "outcome": "ok"} for phase in PHASES],
        hazards=[{"hazard": "retried-send", "hop": "produce", "attempt": "it's payments-3"}],
    )
    judged = check(history, [exactly_once_append(topic) for topic in topics]).claims
    assert [claim.verdict for claim in judged] == [Verdict.HOLDS, Verdict.UNEXERCISED]


def expecting(verdict: Verdict, *anomalies: str) -> Claim:
    return exactly_once(
        "input", into="ledger", view="table",
        expect=Expectation(verdict=verdict, anomalies=frozenset(anomalies)),
    )  # fmt: skip


class TestExpectations:
    def test_requires_the_expected_verdict_and_anomalies(self) -> None:
        claim = expecting(Verdict.VIOLATED, "duplicate-output")
        assert judge(claim, findings=[DUPLICATE]).expected is True
        assert judge(claim, findings=[DUPLICATE, LOST]).expected is False
        assert judge(claim, findings=[LOST]).expected is False
        assert judge(claim).expected is False
        assert judge().expected is None

    def test_optional_anomaly_may_be_found(self) -> None:
        claim = expecting(Verdict.VIOLATED, "duplicate-output")
        assert claim.expect is not None
        claim = replace(claim, expect=replace(claim.expect, may=frozenset({"lost-output"})))
        assert judge(claim, findings=[DUPLICATE]).expected is True
        assert judge(claim, findings=[DUPLICATE, LOST]).expected is True
        assert judge(claim, findings=[LOST]).expected is False
        assert claim_from_json(claim_to_json(claim)) == claim
        earlier = claim_to_json(claim)
        del earlier["expect"]["may"]
        assert claim_from_json(earlier) == replace(
            claim, expect=expecting(Verdict.VIOLATED, "duplicate-output").expect
        )

    @pytest.mark.parametrize("verdict", Verdict)
    def test_exit_code_of_each_verdict(self, verdict: Verdict) -> None:
        codes = {"holds": 0, "violated": 1, "invalid": 3, "stalled": 4}
        plain = ClaimJudgement(claim=CLAIM, verdict=verdict, reason="")
        assert exit_code([plain]) == codes.get(verdict.value, 5)
        as_expected = replace(plain, claim=expecting(verdict), expected=True)
        assert exit_code([as_expected]) == 0
        assert exit_code([as_expected, plain]) == codes.get(verdict.value, 5)

    def test_missed_violation_exits_with_1(self) -> None:
        claim = expecting(Verdict.VIOLATED, "duplicate-output")
        assert exit_code([judge(claim)]) == 1

    def test_violation_by_another_anomaly_exits_with_1(self) -> None:
        claim = expecting(Verdict.VIOLATED, "duplicate-output")
        assert exit_code([judge(claim, findings=[LOST])]) == 1

    def test_exit_code_is_that_of_the_highest_verdict(self) -> None:
        made = {v: ClaimJudgement(claim=CLAIM, verdict=v, reason="") for v in Verdict}
        assert exit_code([made[Verdict.UNKNOWN], made[Verdict.INVALID]]) == 3
        assert exit_code([made[Verdict.STALLED], made[Verdict.VIOLATED]]) == 1
        assert exit_code([made[Verdict.UNEXERCISED], made[Verdict.STALLED]]) == 4

    def test_no_claims_exit_with_5(self) -> None:
        assert exit_code([]) == 5

    def test_interruption_exits_with_130(self) -> None:
        assert exit_code([judge()], interrupted=True) == 130


def test_empty_history_never_holds() -> None:
    (judged,) = check(History({}), [CLAIM]).claims
    assert judged.verdict is Verdict.UNKNOWN
    phases = [{"phase": p, "outcome": "ok"} for p in PHASES]
    empty = History.of(phases=phases, hazards=[{}])
    for claim in (CLAIM, exactly_once_append("input")):
        (judged,) = check(empty, [claim]).claims
        assert judged.verdict is Verdict.INVALID
        assert "othing was read from the log of input" in judged.reason
