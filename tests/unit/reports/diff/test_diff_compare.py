"""Comparison of two runs: findings that are new, gone, still there or undecided."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onceproof.checkers.model import Evidence, Hop, Verdict
from onceproof.reports.diff.claims import change
from onceproof.reports.diff.compare import compare, same_records
from onceproof.reports.diff.model import Change, ClaimVerdict, Diff, FoundPair, Outcome, Status
from onceproof.reports.diff.side import Side, WorkloadOfSide
from tests.unit.reports.diff.making import HAZARD, SENT, bad, claim, finding, good, group, judged

MIRROR = {
    Status.NEW: Status.GONE,
    Status.GONE: Status.NEW,
    Status.PERHAPS_NEW: Status.PERHAPS_GONE,
    Status.PERHAPS_GONE: Status.PERHAPS_NEW,
    Status.STILL_THERE: Status.STILL_THERE,
}


def only_finding(diff: Diff) -> FoundPair:
    (pair,) = diff.findings
    return pair


def record_statuses(diff: Diff) -> dict[str, Status]:
    return {str(dict(r.key)["record"]): r.status for p in diff.findings for r in p.records}


# New, gone, still there.


def test_finding_only_in_the_later_run_is_new() -> None:
    found = compare(good(), bad("p0-1", "p0-2"))
    assert only_finding(found).status is Status.NEW
    assert record_statuses(found) == {"p0-1": Status.NEW, "p0-2": Status.NEW}
    assert (only_finding(found).a.count, only_finding(found).b.count) == (0, 2)
    assert found.outcome is Outcome.NEW


def test_finding_only_in_the_earlier_run_is_gone() -> None:
    found = compare(bad("p0-1"), good())
    assert only_finding(found).status is Status.GONE
    assert record_statuses(found) == {"p0-1": Status.GONE}
    assert found.outcome is Outcome.NOTHING_NEW


def test_compares_findings_record_by_record() -> None:
    found = compare(bad("p0-1", "p0-2"), bad("p0-2", "p0-3"))
    assert only_finding(found).status is Status.STILL_THERE
    assert record_statuses(found) == {
        "p0-2": Status.STILL_THERE,
        "p0-3": Status.NEW,
        "p0-1": Status.GONE,
    }
    assert found.outcome is Outcome.NEW


def test_compares_each_sink_separately() -> None:
    other = bad(claims=(claim(sink="archive", verdict=Verdict.VIOLATED),))
    other = replace(other, findings=(group("duplicate-output", finding("p0-1", sink="archive")),))
    both = (*bad("p0-1").claims, claim(sink="archive"))
    found = compare(
        replace(bad("p0-1"), claims=both), replace(other, claims=(*other.claims, claim()))
    )
    assert {(p.place, p.status) for p in found.findings} == {
        ("archive (table)", Status.NEW),
        ("ledger (table)", Status.GONE),
    }


# Findings that could not be detected are not gone.


@pytest.mark.parametrize(
    ("later", "why"),
    [
        (judged(good(), Verdict.UNEXERCISED), "exactly-once payments → ledger is unexercised"),
        (judged(good(), Verdict.UNKNOWN), "is unknown: Because."),
        (judged(good(), Verdict.INVALID), "is invalid"),
        (judged(good(), Verdict.STALLED), "is stalled"),
        (replace(good(), incomplete="it did not reach phase settle"), "did not reach phase settle"),
        (judged(good(), Verdict.HOLDS, undecided=("duplicate-output",)), "is undecided there"),
        (judged(good(), Verdict.HOLDS, guarantee="at-least-once"), "no claim on ledger (table)"),
        (judged(good(), Verdict.HOLDS, sink="archive"), "no claim on ledger (table) checks for it"),
        (judged(good(), Verdict.HOLDS, view="journal"), "no claim on ledger (table) checks for it"),
        (
            replace(good(), hazards=frozenset({("other", Hop.PROCESS)})),
            f"{HAZARD} was not observed",
        ),
    ],
)
def test_finding_the_other_run_could_not_detect_is_undecided(later: Side, why: str) -> None:
    for found in (compare(bad("p0-1"), later), compare(later, bad("p0-1"))):
        assert only_finding(found).status in (Status.PERHAPS_GONE, Status.PERHAPS_NEW)
        assert set(record_statuses(found).values()) == {only_finding(found).status}
        assert why in str(only_finding(found).because)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({}, None),
        ({"flaw": "its fault «kill» had no effect"}, "its fault «kill» had no effect"),
        ({"hazards": frozenset()}, "no hazard was observed on hop process"),
        ({"hazards": frozenset({(HAZARD, Hop.PRODUCE)})}, "no hazard was observed on hop process"),
    ],
)
def test_claim_violated_by_another_anomaly_proves_absence_only_if_exercised(
    changes: dict[str, Any], why: str | None
) -> None:
    later = replace(bad("p0-9", anomaly="lost-output"), **changes)
    (gone,) = (p for p in compare(bad("p0-1"), later).findings if p.anomaly == "duplicate-output")
    assert gone.status is (Status.GONE if why is None else Status.PERHAPS_GONE)
    assert (why or "") in (gone.because or "")


def test_violated_claim_without_its_required_hazard_proves_no_absence() -> None:
    later = bad("p0-9", anomaly="lost-output")
    lacks = later.claims[0].model_copy(update={"hazards_required": ("fenced",)})
    found = compare(bad("p0-1"), replace(later, claims=(lacks,)))
    (pair,) = (p for p in found.findings if p.anomaly == "duplicate-output")
    assert "exactly-once payments → ledger requires fenced" in str(pair.because)


def test_gone_requires_the_hazards_of_the_refuted_claim() -> None:
    """Even if no finding names it, because a lost record shares no batch with a hazard."""
    alone = group("duplicate-output", finding("p0-1", hazards=()))
    later = replace(good(), hazards=frozenset({("other", Hop.PROCESS)}))
    found = compare(bad(findings=(alone,)), later)
    assert only_finding(found).status is Status.PERHAPS_GONE
    assert compare(bad(findings=(alone,)), good()).findings[0].status is Status.GONE


def test_gone_requires_the_hazards_related_to_the_finding() -> None:
    beside = group("duplicate-output", finding("p0-1", hazards=("zombie",)))
    found = only_finding(compare(bad(findings=(beside,)), good()))
    assert found.status is Status.PERHAPS_GONE
    assert "zombie was not observed there" in str(found.because)
    both = good(hazards=frozenset({("zombie", Hop.PRODUCE), (HAZARD, Hop.PROCESS)}))
    assert only_finding(compare(bad(findings=(beside,)), both)).status is Status.GONE
    nameless = group("duplicate-output", finding("p0-1", hazards=("unknown hazard",)))
    assert only_finding(compare(bad(findings=(nameless,)), good())).status is Status.GONE


def test_gone_requires_decided_claims_on_every_input_of_the_sink() -> None:
    unsure = claim(verdict=Verdict.UNKNOWN, input="refunds")
    later = replace(good(), claims=(claim(), unsure))
    found = only_finding(compare(bad("p0-1"), later))
    assert found.status is Status.PERHAPS_GONE
    assert "is unknown" in str(found.because)
    both = replace(good(), claims=(claim(), claim(input="refunds")))
    assert only_finding(compare(bad("p0-1"), both)).status is Status.GONE


def test_finding_of_the_whole_run_is_gone_if_claims_hold() -> None:
    stuck = finding("p").model_copy(update={"key": {"phase": "settle"}})
    stall = group("no-progress", stuck, evidence=Evidence.LIVENESS)
    earlier = replace(judged(good(), Verdict.STALLED), findings=(stall,))
    two_sinks = good(claims=(claim(), claim(sink="archive")))
    found = only_finding(compare(earlier, two_sinks))
    assert (found.place, found.status) == ("the run", Status.GONE)
    unsure = judged(two_sinks, Verdict.UNKNOWN)
    assert only_finding(compare(earlier, unsure)).status is Status.PERHAPS_GONE


def test_one_holding_claim_suffices_for_gone() -> None:
    later = replace(good(), claims=(claim("at-most-once", Verdict.UNEXERCISED), claim()))
    assert only_finding(compare(bad("p0-1"), later)).status is Status.GONE


def test_process_claim_also_detects_producer_anomalies_of_its_input() -> None:
    copies = group(
        "duplicate",
        finding("p0-1").model_copy(update={"key": {"topic": "payments", "record": "p0-1"}}),
        hop=Hop.PRODUCE,
    )
    earlier = replace(good(), findings=(copies,), hazards=frozenset({(HAZARD, Hop.PRODUCE)}))
    later = replace(good(), hazards=earlier.hazards)
    assert only_finding(compare(earlier, later)).status is Status.GONE
    assert only_finding(compare(earlier, good())).status is Status.PERHAPS_GONE
    other_input = replace(later, claims=(claim(input="refunds"),))
    assert only_finding(compare(earlier, other_input)).status is Status.PERHAPS_GONE
    # A claim on the order of sends checks only for anomalies that refute it.
    ordered = claim("ordered", hop=Hop.PRODUCE)
    with_order = replace(later, claims=(*later.claims, ordered))
    assert only_finding(compare(earlier, with_order)).status is Status.PERHAPS_GONE


# Truncated lists.


def test_records_past_the_end_of_a_truncated_list_are_undecided() -> None:
    names = [f"p0-{n:02d}" for n in range(5)]
    cut = bad(findings=(group("duplicate-output", *map(finding, names), count=300),))
    found = record_statuses(compare(bad("p0-01", "p0-015", "p0-77"), cut))
    assert found["p0-01"] is Status.STILL_THERE
    assert found["p0-015"] is Status.GONE
    assert found["p0-77"] is Status.PERHAPS_GONE
    assert found["p0-00"] is Status.NEW
    again = compare(cut, bad("p0-01", "p0-77"))
    assert record_statuses(again)["p0-77"] is Status.PERHAPS_NEW
    assert again.outcome is Outcome.OPEN
    assert "lists only the first 5 of 300" in str(
        next(r.because for r in only_finding(again).records if r.status is Status.PERHAPS_NEW)
    )


def test_unsorted_truncated_list_proves_no_absence() -> None:
    cut = bad(findings=(group("duplicate-output", finding("p0-9"), finding("p0-1"), count=300),))
    assert record_statuses(compare(bad("p0-0"), cut))["p0-0"] is Status.PERHAPS_GONE


def test_findings_with_other_key_columns_are_not_compared_by_record() -> None:
    """After the key of an anomaly has changed, each record would be both new and gone."""
    key = {"sink": "ledger", "view": "table", "record": "p0-1"}
    other = finding("p").model_copy(update={"key": key})
    found = only_finding(compare(bad("p0-1"), bad(findings=(group("duplicate-output", other),))))
    assert (found.status, found.records) == (Status.STILL_THERE, ())


def test_truncated_list_may_omit_a_whole_place() -> None:
    two = (claim(verdict=Verdict.VIOLATED), claim(sink="archive", verdict=Verdict.UNKNOWN))
    cut = group("duplicate-output", finding("p0-1", sink="archive"), count=300)
    later = replace(good(), claims=two, findings=(cut,))
    (pair,) = (p for p in compare(bad("p0-1"), later).findings if p.place == "ledger (table)")
    assert pair.status is Status.GONE  # a violated claim names every anomaly that refutes it
    unsure = replace(later, claims=(claim(verdict=Verdict.UNKNOWN), two[1]))
    (pair,) = (p for p in compare(bad("p0-1"), unsure).findings if p.place == "ledger (table)")
    assert (pair.status, pair.b.count, pair.b.total) == (Status.PERHAPS_GONE, None, 300)
    assert "does not list all its findings" in str(pair.because)


@pytest.mark.parametrize("role", ["refuted by it", "undecided"])
def test_claim_that_names_the_anomaly_does_not_prove_its_absence(role: str) -> None:
    here = (
        claim(verdict=Verdict.VIOLATED, refuted_by=("duplicate-output",))
        if role == "refuted by it"
        else claim(
            verdict=Verdict.VIOLATED,
            refuted_by=("wrong-output",),
            undecided=("duplicate-output",),
        )
    )
    cut = group("duplicate-output", finding("p0-1", sink="archive"), count=300)
    archive = claim(sink="archive", verdict=Verdict.VIOLATED)
    later = replace(good(), claims=(here, archive), findings=(cut,))
    (pair,) = (p for p in compare(bad("p0-1"), later).findings if p.place == "ledger (table)")
    assert (pair.status, pair.b.count) == (Status.PERHAPS_GONE, None)


def test_holding_at_least_once_claim_does_not_exclude_offset_overlaps() -> None:
    least = [claim("at-least-once", sink=s, verdict=Verdict.HOLDS) for s in ("ledger", "archive")]
    gap = finding("p", sink="archive").model_copy(
        update={"key": {"kind": "overlap", "sink": "archive", "view": "table", "batch": 1}}
    )
    cut = replace(good(), claims=tuple(least), findings=(group("offset-gap", gap, count=99),))
    (pair,) = compare(good(claims=tuple(least)), cut).findings
    assert pair.b.count is None


def test_truncated_list_of_a_place_judged_twice_proves_no_absence() -> None:
    """One list is truncated, and its records cannot be separated from those of the other."""
    twice = (claim(verdict=Verdict.VIOLATED), claim(verdict=Verdict.VIOLATED))
    cut = group("duplicate-output", finding("p0-1"), finding("p0-5"), count=300)
    later = replace(good(), claims=twice, findings=(cut,))
    assert record_statuses(compare(bad("p0-3"), later))["p0-3"] is Status.PERHAPS_GONE
    other = (twice[0], claim(verdict=Verdict.VIOLATED, input="refunds"))
    assert record_statuses(compare(bad("p0-3"), replace(later, claims=other)))["p0-3"] is (
        Status.PERHAPS_GONE
    )


def test_truncated_or_incomparable_keys_are_not_compared() -> None:
    for odd in ({"record": "x" * 301}, {"record": None}, {"record": "p0-1", "offset": 7}):
        key = {"sink": "ledger", "view": "table", "effect_key": "", **odd}
        found = finding("p").model_copy(update={"key": key})
        one = bad(findings=(group("duplicate-output", found),))
        assert only_finding(compare(one, one)).records == ()


def test_total_counts_for_a_place_only_if_no_other_place_may_have_findings() -> None:
    cut = group("duplicate-output", finding("p0-1"), count=300)
    one = only_finding(compare(good(), bad(findings=(cut,))))
    assert (one.b.count, one.b.listed, one.b.total) == (300, 1, 300)
    two = replace(bad(findings=(cut,)), claims=(*bad().claims, claim(sink="archive")))
    assert only_finding(compare(good(), two)).b.count == 300
    unsure = (*bad().claims, claim(sink="archive", verdict=Verdict.UNKNOWN))
    assert only_finding(compare(good(), replace(two, claims=unsure))).b.count is None


# Comparison by record or by anomaly.


@pytest.mark.parametrize(
    ("sent", "same", "why"),
    [
        (SENT, True, "same seed, same workload"),
        (WorkloadOfSide(seed=8, workload=SENT.workload), False, "different seeds (7 and 8)"),
        (WorkloadOfSide(seed=7, workload={"records": 1}), False, "different workloads"),
        (None, False, "unknown"),
    ],
)
def test_compares_by_record_only_if_the_same_records_were_sent(
    sent: WorkloadOfSide | None, same: bool, why: str
) -> None:
    found = compare(bad("p0-1"), bad("p0-2", sent=sent))
    assert found.by_record is same
    assert why in found.by_why
    assert bool(only_finding(found).records) is same
    assert found.outcome is (Outcome.NEW if same else Outcome.NOTHING_NEW)


def test_workloads_from_a_file_may_differ() -> None:
    sent = WorkloadOfSide(seed=7, workload={"file": "orders.jsonl"})
    assert same_records(good(sent=sent), good(sent=sent))[0] is False


def test_one_history_judged_twice_has_the_same_records() -> None:
    once = bad("p0-1", sent=None, history="20250101T000000Z-small-7")
    assert compare(once, once).by_record
    assert not compare(once, replace(once, history="20250101T000000Z-small-8")).by_record


def test_comparison_by_record_can_be_forced_on_or_off() -> None:
    by_anomaly = compare(bad("p0-1"), bad("p0-2"), by_record=False)
    assert not only_finding(by_anomaly).records
    assert by_anomaly.outcome is Outcome.NOTHING_NEW
    unknown = bad("p0-2", sent=None)
    by_record = compare(bad("p0-1"), unknown, by_record=True)
    assert record_statuses(by_record) == {"p0-2": Status.NEW, "p0-1": Status.GONE}
    assert "as requested" in by_record.by_why
    assert "unknown" in by_record.by_why


def test_anomaly_without_a_record_is_compared_by_place() -> None:
    def regressed(ordinal: int) -> Side:
        key = {"sink": "ledger", "view": "table", "partition": 0, "ordinal": ordinal}
        found = finding("p").model_copy(update={"key": key})
        return bad(anomaly="offset-regressed", findings=(group("offset-regressed", found),))

    found = compare(regressed(1), regressed(2))
    assert only_finding(found).status is Status.STILL_THERE
    assert only_finding(found).records == ()
    assert found.outcome is Outcome.NOTHING_NEW


def test_groups_findings_by_related_hazards() -> None:
    one = group("duplicate-output", finding("p0-1"), finding("p0-2", hazards=()))
    two = group("duplicate-output", finding("p0-3", hazards=("zombie", HAZARD)), finding("p0-4"))
    found = only_finding(compare(bad(findings=(one,)), bad(findings=(two,))))
    assert {(shape.says, shape.a, shape.b) for shape in found.shapes} == {
        ("with replayed-batch by fault «kill»", 1, 1),
        ("with replayed-batch by fault «kill» and zombie by fault «kill»", 0, 1),
        ("without a related hazard", 1, 0),
    }


# Claims and the outcome.


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("holds", "violated", Change.WORSE),
        ("unexercised", "violated", Change.WORSE),
        ("unknown", "violated", Change.WORSE),
        ("stalled", "violated", Change.WORSE),
        ("holds", "stalled", Change.WORSE),
        ("violated", "holds", Change.BETTER),
        ("stalled", "holds", Change.BETTER),
        ("violated", "unexercised", Change.LESS_KNOWN),
        ("violated", "unknown", Change.LESS_KNOWN),
        ("violated", "invalid", Change.LESS_KNOWN),
        ("violated", "stalled", Change.LESS_KNOWN),
        ("holds", "unexercised", Change.LESS_KNOWN),
        ("unexercised", "invalid", Change.LESS_KNOWN),
        ("unexercised", "holds", Change.MORE_KNOWN),
        ("unknown", "unexercised", Change.MORE_KNOWN),
        ("unknown", "invalid", Change.OTHER),
        ("unknown", "unknown", Change.SAME),
    ],
)
def test_change_of_a_claim(a: str, b: str, expected: Change) -> None:
    one, other = (
        ClaimVerdict(verdict=Verdict(v), reason="", refuted_by=(), expected=None) for v in (a, b)
    )
    assert change(one, other) is expected
    assert change(replace(one, expected=True), replace(other, expected=True)) is expected
    odd = change(replace(one, expected=True), replace(other, expected=False))
    assert odd is (Change.WORSE if expected is Change.WORSE else Change.UNEXPECTED)


@pytest.mark.parametrize(
    ("a", "b", "outcome"),
    [
        (good(), good(), Outcome.NOTHING_NEW),
        (good(), judged(good(), Verdict.VIOLATED), Outcome.NEW),
        (good(), judged(good(), Verdict.UNEXERCISED), Outcome.OPEN),
        (bad("p0-1"), judged(good(), Verdict.UNKNOWN), Outcome.OPEN),
        (bad("p0-1"), replace(bad("p0-1"), incomplete="it broke off"), Outcome.OPEN),
        (replace(good(), claims=(*good().claims, claim("ordered"))), good(), Outcome.OPEN),
        (good(), replace(good(), claims=(*good().claims, claim("ordered"))), Outcome.NOTHING_NEW),
        (judged(good(), Verdict.UNKNOWN), good(), Outcome.NOTHING_NEW),
        (good(), replace(good(), claims=()), Outcome.NOT_COMPARABLE),
        (good(), good(claims=(claim(input="x", sink="y"),)), Outcome.NOT_COMPARABLE),
        # The sink is the same, but A's claim is not judged in B.
        (good(), good(claims=(claim(input="x"),)), Outcome.OPEN),
    ],
)
def test_outcome_of_a_comparison(a: Side, b: Side, outcome: Outcome) -> None:
    assert compare(a, b).outcome is outcome


# Properties of any two runs.

records = st.lists(st.sampled_from([f"p0-{n}" for n in range(8)]), unique=True).map(sorted)
anomalies = st.sampled_from(["duplicate-output", "lost-output", "wrong-output"])


@st.composite
def sides(draw: st.DrawFn, *, decided: bool = False) -> Side:
    """Runs with findings in one or two sinks, some of them truncated or undecided."""
    sinks = draw(st.sampled_from([("ledger",), ("ledger", "archive")]))
    groups: list[Any] = []
    there: dict[str, set[str]] = {sink: set() for sink in sinks}
    for anomaly in draw(st.lists(anomalies, unique=True)):
        found = [finding(r, sink=s) for s in sinks for r in draw(records)]
        for f in found:
            there[str(f.key["sink"])].add(anomaly)
        unlisted = 0 if decided else draw(st.sampled_from([0, 0, 30]))
        evidence = Evidence.ABSENCE if anomaly == "lost-output" else Evidence.PRESENCE
        if found:
            count = len(found) + unlisted
            groups.append(group(anomaly, *found, count=count, evidence=evidence))
    undecided = [Verdict.UNKNOWN, Verdict.UNEXERCISED, Verdict.INVALID, Verdict.STALLED]
    claims = tuple(
        claim(
            sink=sink,
            verdict=Verdict.VIOLATED
            if there[sink]
            else Verdict.HOLDS
            if decided
            else draw(st.sampled_from([Verdict.HOLDS, *undecided])),
            refuted_by=tuple(sorted(there[sink])),
        )
        for sink in sinks
    )
    return good(
        claims=claims,
        findings=tuple(groups),
        incomplete=None if decided else draw(st.sampled_from([None, None, "it broke off"])),
        flaw=None
        if decided
        else draw(st.sampled_from([None, None, "none of its faults took effect"])),
    )


def statuses_by_place(diff: Diff) -> dict[tuple[str, str], tuple[Status, dict[object, Status]]]:
    return {
        (p.anomaly, p.place): (p.status, {r.key: r.status for r in p.records})
        for p in diff.findings
    }


@given(sides())
def test_run_compared_with_itself_has_no_changes(a: Side) -> None:
    found = compare(a, a)
    assert found.outcome is Outcome.NOTHING_NEW
    assert {pair.change for pair in found.claims} == {Change.SAME}
    for pair in found.findings:
        assert pair.status is Status.STILL_THERE
        assert {record.status for record in pair.records} == {Status.STILL_THERE}
    assert not found.differences


@given(sides(), sides(), st.booleans())
def test_comparison_is_symmetric(a: Side, b: Side, by_record: bool) -> None:
    forward = statuses_by_place(compare(a, b, by_record=by_record))
    backward = statuses_by_place(compare(b, a, by_record=by_record))
    assert {
        what: (MIRROR[status], {key: MIRROR[s] for key, s in found.items()})
        for what, (status, found) in forward.items()
    } == backward


@given(sides(decided=True), sides(decided=True))
def test_decided_runs_compare_as_sets(a: Side, b: Side) -> None:
    """Oracle: if everything is listed and decided, each record is in one of three sets."""

    def keys(side: Side) -> set[tuple[str, str, str]]:
        return {
            (g.anomaly, str(f.key["sink"]), str(f.key["record"]))
            for g in side.findings
            for f in g.shown
        }

    common = {c.sink for c in a.claims} & {c.sink for c in b.claims}
    found: dict[Status, set[tuple[str, str, str]]] = {status: set() for status in Status}
    for pair in compare(a, b).findings:
        for record in pair.records:
            key = dict(record.key)
            found[record.status].add((pair.anomaly, str(key["sink"]), str(key["record"])))
    one, other = ({k for k in keys(side) if k[1] in common} for side in (a, b))
    assert found[Status.NEW] == other - one
    assert found[Status.GONE] == one - other
    assert found[Status.STILL_THERE] == one & other
    # A sink without a claim in the other run was not checked there.
    assert found[Status.PERHAPS_NEW] == keys(b) - other
    assert found[Status.PERHAPS_GONE] == keys(a) - one


@given(sides(), sides())
def test_nothing_is_gone_in_an_interrupted_run(a: Side, b: Side) -> None:
    found = compare(a, replace(b, incomplete="it broke off"))
    statuses = {p.status for p in found.findings} | {
        r.status for p in found.findings for r in p.records
    }
    assert Status.GONE not in statuses


@given(sides(), sides(), st.randoms())
def test_order_of_claims_and_findings_does_not_matter(a: Side, b: Side, draw: Any) -> None:
    def shuffled(side: Side) -> Side:
        claims, groups = list(side.claims), list(side.findings)
        draw.shuffle(claims)
        draw.shuffle(groups)
        return replace(side, claims=tuple(claims), findings=tuple(groups))

    one, other = compare(a, b), compare(shuffled(a), shuffled(b))
    assert statuses_by_place(one) == statuses_by_place(other)
    assert one.outcome is other.outcome
    assert {(c.name, c.change) for c in one.claims} == {(c.name, c.change) for c in other.claims}
