"""Handwritten histories of a few rows: anomalies with their exact witness, and near misses."""

from __future__ import annotations

from typing import Any

import pytest

from onceproof.checkers import Findings, History, anomalies, check, end_to_end
from onceproof.checkers.judging import find
from onceproof.checkers.refutations import GUARANTEES
from tests.implications import implied

Rows = list[dict[str, Any]]
DONE: Rows = [{"phase": "settle", "outcome": "ok"}, {"phase": "collect", "outcome": "ok"}]
CLAIM = end_to_end("exactly-once", "input", into="ledger", view="table")
DEDUPLICATES = end_to_end("exactly-once", "input", into="ledger", view="table", deduplicates=True)
BACKGROUND = "z"
"""A record that is always correct, so that no table is empty."""


def history(
    *,
    sends: Rows | None = None,
    log: Rows | None = None,
    effects: Rows | None = None,
    expected: Rows | None = None,
    phases: Rows | None = None,
    **tables: Rows,
) -> History:
    """A history with one more, correct record at input-9@99."""
    z = {"record": BACKGROUND}
    return History.of(
        sends=[*(sends or []), {**z, "attempt": "z/1", "partition": 9, "offset": 99}],
        log=[*(log or []), {**z, "attempt": "z/1", "partition": 9, "offset": 99}],
        effects=[*(effects or []), {**z, "position": "row z"} | at(9, 99, effects)],
        expected=[*(expected or [{"record": r} for r in "abc"]), z],
        phases=DONE if phases is None else phases,
        **tables,
    )


def at(partition: int, offset: int, like: Rows | None = None) -> dict[str, Any]:
    """The source position of an effect; with `like`, only if one of those effects has one."""
    if like and not any("source_offset" in row for row in like):
        return {}
    return {"source_topic": "input", "source_partition": partition, "source_offset": offset}


def found(history: History, claim: Any = CLAIM) -> dict[str, Findings]:
    return {f.anomaly: f for f in find(history, claim)}


def records(findings: Findings) -> list[Any]:
    return [finding.key["record"] for finding in findings.shown]


def assert_only(history: History, name: str) -> Findings:
    """Return the findings of one anomaly; assert that all others are implied by it."""
    seen = found(history)
    assert name in seen, f"found only {sorted(seen)}"
    assert seen.keys() <= implied(name)
    return seen[name]


def assert_no_findings(
    history: History, *, except_for: tuple[str, ...] = (), claim: Any = CLAIM
) -> None:
    assert sorted(found(history, claim)) == sorted(except_for)


A = {"record": "a", "attempt": "a/1"}
A2 = {"record": "a", "attempt": "a/2"}
B = {"record": "b", "attempt": "b/1"}
EA, EB = {"record": "a"}, {"record": "b"}


class TestLostWrite:
    def test_acknowledged_send_missing_from_the_log(self) -> None:
        bad = history(sends=[A | {"partition": 0, "offset": 7}, B], log=[B], effects=[EB])
        (finding,) = assert_only(bad, "lost-write").shown
        assert finding.key == {"topic": "input", "record": "a"}
        (row,) = finding.witness
        assert (row["attempt"], row["acknowledged_offset"]) == ("a/1", 7)
        assert "a was acknowledged by input" in finding.sentence

    def test_one_of_two_sends_of_a_record_is_lost(self) -> None:
        bad = history(sends=[A, A2], log=[A], effects=[EA])
        (finding,) = assert_only(bad, "lost-write").shown
        assert [row["attempt"] for row in finding.witness] == ["a/2"]

    def test_counts_decide_without_attempt_ids(self) -> None:
        anonymous = {"record": "a"}
        assert_only(history(sends=[A, A2], log=[anonymous], effects=[EA]), "lost-write")
        assert_no_findings(history(sends=[A, A2], log=[anonymous, anonymous], effects=[EA, EA]))

    @pytest.mark.parametrize("outcome", ["info", "fail"])
    def test_unacknowledged_send_may_be_missing(self, outcome: str) -> None:
        assert_no_findings(history(sends=[A | {"outcome": outcome}]))

    def test_aborted_or_unproven_transaction_may_be_missing(self) -> None:
        assert_no_findings(
            history(sends=[A | {"txn": "t"}], txns=[{"txn": "t", "outcome": "aborted"}])
        )
        assert_no_findings(
            history(sends=[A | {"txn": "t"}], txns=[{"txn": "t", "outcome": "info"}])
        )

    def test_one_record_proves_its_whole_transaction(self) -> None:
        txns = [{"txn": "t", "outcome": "info"}]
        sends = [A | {"txn": "t"}, B | {"txn": "t", "outcome": "info"}]
        bad = history(sends=sends, txns=txns, log=[B], effects=[EB])
        assert records(assert_only(bad, "lost-write")) == ["a"]

    def test_uncommitted_record_proves_no_transaction(self) -> None:
        txns = [{"txn": "t", "outcome": "info"}]
        sends = [A | {"txn": "t"}, B | {"txn": "t"}]
        assert_no_findings(history(sends=sends, txns=txns, log=[B | {"committed": False}]))

    def test_witness_excludes_deleted_offsets(self) -> None:
        cut = [{"partition": 0, "log_start": 5}]
        sends = [A | {"partition": 0, "offset": 4}, A2 | {"partition": 0, "offset": 6}]
        (finding,) = assert_only(history(sends=sends, partitions=cut), "lost-write").shown
        assert [row["attempt"] for row in finding.witness] == ["a/2"]

    def test_uncommitted_entry_does_not_count(self) -> None:
        bad = history(sends=[A], log=[A | {"committed": False}])
        assert records(assert_only(bad, "lost-write")) == ["a"]

    def test_deleted_offsets_are_undecided(self) -> None:
        cut = [{"partition": 0, "log_start": 5}]
        low, high = A | {"partition": 0, "offset": 4}, A | {"partition": 0, "offset": 5}
        gone = history(sends=[low], partitions=cut)
        assert_no_findings(gone)
        (judged,) = check(gone, [CLAIM]).claims
        assert "lost-write" in judged.undecided
        assert_only(history(sends=[high], partitions=cut), "lost-write")
        compacted = [{"partition": 0, "cleanup_policy": "compact,delete"}]
        assert_no_findings(history(sends=[high], partitions=compacted))


class TestDuplicate:
    def test_one_attempt_at_two_offsets(self) -> None:
        bad = history(sends=[A], log=[A | {"offset": 3}, A | {"offset": 8}], effects=[EA, EA])
        (finding,) = assert_only(bad, "duplicate").shown
        assert sorted(row["offset"] for row in finding.witness) == [3, 8]

    def test_counts_each_attempt_separately(self) -> None:
        """Attempt a/1 is in the log twice and a/2 never: two entries, but not one per send."""
        bad = history(sends=[A, A2 | {"outcome": "info"}], log=[A, A], effects=[EA, EA])
        assert records(assert_only(bad, "duplicate")) == ["a"]

    def test_two_attempts_may_have_an_entry_each(self) -> None:
        assert_no_findings(history(sends=[A, A2], log=[A, A2], effects=[EA, EA]))

    def test_send_in_doubt_may_have_an_entry(self) -> None:
        anonymous = {"record": "a"}
        sends = [A, A2 | {"outcome": "info"}]
        assert_no_findings(history(sends=sends, log=[anonymous, anonymous], effects=[EA, EA]))
        sends = [A, A2 | {"outcome": "fail"}]
        assert_only(history(sends=sends, log=[anonymous, anonymous], effects=[EA, EA]), "duplicate")

    @pytest.mark.parametrize(
        "send", [A | {"outcome": "fail"}, A | {"txn": "t"}], ids=["failed", "aborted"]
    )
    def test_failed_or_aborted_send_must_have_no_committed_entry(self, send: Any) -> None:
        txns = [{"txn": "t", "outcome": "aborted"}]
        assert_only(history(sends=[send], txns=txns, log=[A], effects=[EA]), "duplicate")
        assert_no_findings(history(sends=[send], txns=txns, log=[A | {"committed": False}]))

    def test_ignores_entries_of_other_topics(self) -> None:
        assert_no_findings(history(sends=[A], log=[A, A | {"topic": "copies"}], effects=[EA]))


class TestPhantom:
    def test_entry_of_a_record_never_sent(self) -> None:
        bad = history(log=[{"record": "x", "offset": 4}], expected=[{"record": "x"}])
        (finding,) = assert_only(bad, "phantom").shown
        assert finding.key["record"] == "x"
        assert "input-0@4" in finding.sentence

    def test_effect_of_a_phantom_is_no_anomaly(self) -> None:
        bad = history(log=[{"record": "x"}], effects=[{"record": "x"}])
        assert_no_findings(bad, except_for=("phantom",))

    def test_no_phantom_without_any_sends(self) -> None:
        assert_no_findings(History.of(log=[EA], effects=[EA], expected=[EA], phases=DONE))

    def test_unreadable_record_is_no_phantom(self) -> None:
        assert_no_findings(history(log=[{"record": None}]))


class TestCorrupt:
    @pytest.mark.parametrize(
        ("change", "differs"),
        [({"digest": "?"}, "digest"), ({"key": "?"}, "key"), ({"partition": 2}, "partition")],
    )
    def test_entry_differs_from_its_send(self, change: dict[str, Any], differs: str) -> None:
        send = A | {"partition": 0, "key": "k", "digest": "d"}
        entry = A | {"partition": 0, "key": "k", "digest": "d"} | change
        bad = history(sends=[send], log=[entry], effects=[EA])
        (finding,) = assert_only(bad, "corrupt").shown
        (row,) = finding.witness
        assert str(row["differs"]).split() == [differs]

    def test_entry_is_in_another_topic(self) -> None:
        bad = history(sends=[A | {"topic": "other"}], log=[A], effects=[EA])
        assert records(assert_only(bad, "corrupt")) == ["a"]

    def test_partition_counts_only_if_acknowledged(self) -> None:
        send = A | {"partition": 1, "outcome": "info"}
        assert_no_findings(history(sends=[send], log=[A], effects=[EA]))

    def test_unknown_fields_never_differ(self) -> None:
        assert_no_findings(
            history(sends=[A | {"key": "k"}], log=[A | {"digest": None}], effects=[EA])
        )

    def test_one_matching_send_suffices_without_attempt_ids(self) -> None:
        sends = [A | {"digest": "1"}, A2 | {"digest": "2"}]
        log = [{"record": "a", "digest": "1"}, {"record": "a", "digest": "2"}]
        assert_no_findings(history(sends=sends, log=log, effects=[EA, EA]))

    def test_effect_of_corrupt_input_is_not_wrong_output(self) -> None:
        bad = history(
            sends=[A | {"digest": "d"}], log=[A | {"digest": "?"}], effects=[EA | {"digest": "?"}]
        )
        assert_no_findings(bad, except_for=("corrupt",))


LOG_A = A | {"partition": 0, "offset": 6}
LOG_A2 = A2 | {"partition": 0, "offset": 9}


class TestLostOutput:
    def test_input_without_effect(self) -> None:
        bad = history(sends=[A], log=[LOG_A])
        (finding,) = assert_only(bad, "lost-output").shown
        assert finding.key == {
            "sink": "ledger", "view": "table", "record": "a", "effect_key": ""
        }  # fmt: skip
        (row,) = finding.witness
        assert (row["partition"], row["offset"], row["expected"], row["seen"]) == (0, 6, 1, 0)

    def test_two_sends_need_two_effects_unless_deduplicated(self) -> None:
        one = history(sends=[A, A2], log=[LOG_A, LOG_A2], effects=[EA])
        assert_only(one, "lost-output")
        assert_no_findings(one, claim=DEDUPLICATES)

    def test_duplicate_entry_needs_no_effect_of_its_own(self) -> None:
        log = [LOG_A, A | {"offset": 8}]
        one = history(sends=[A], log=log, effects=[EA])
        assert_no_findings(one, except_for=("duplicate",))
        claim = check(one, [CLAIM]).claims[0]
        assert "lost-output" not in claim.undecided
        none = found(history(sends=[A], log=log))
        assert none["lost-output"].shown[0].witness[0]["expected"] == 1
        sent_again = history(sends=[A, A2], log=[*log, LOG_A2], effects=[EA])
        assert found(sent_again)["lost-output"].shown[0].witness[0]["expected"] == 2

    def test_surplus_effects_of_another_key_do_not_count(self) -> None:
        expected = [EA | {"effect_key": k, "digest": k} for k in "xy"]
        x = EA | {"effect_key": "x", "digest": "x"}
        seen = found(history(sends=[A], log=[LOG_A], expected=expected, effects=[x, x]))
        assert sorted(seen) == ["duplicate-output", "lost-output"]
        assert seen["lost-output"].shown[0].key["effect_key"] == "y"

    def test_surplus_effects_of_another_source_position_do_not_count(self) -> None:
        twice = [EA | at(0, 6), EA | at(0, 6)]
        seen = found(history(sends=[A, A2], log=[LOG_A, LOG_A2], effects=twice))
        assert sorted(seen) == ["duplicate-output", "lost-output"]
        assert seen["lost-output"].shown[0].witness[0]["offset"] == 9

    def test_counts_by_record_if_any_effect_lacks_a_source_position(self) -> None:
        assert_no_findings(history(sends=[A, A2], log=[LOG_A, LOG_A2], effects=[EA | at(0, 6), EA]))

    def test_witness_names_the_micro_batch(self) -> None:
        ranges = [{"batch": 4, "partition": 0, "start_offset": 5, "end_offset": 8}]
        bad = history(sends=[A], log=[LOG_A], ranges=ranges)
        assert assert_only(bad, "lost-output").shown[0].witness[0]["batch"] == 4

    def test_filtered_input_needs_no_effect(self) -> None:
        assert_no_findings(history(sends=[A], log=[LOG_A], expected=[{"record": "b"}]))

    def test_aborted_records_and_markers_need_no_effect(self) -> None:
        log = [LOG_A | {"committed": False}, {"record": None, "kind": "abort", "offset": 7}]
        txns = [{"txn": "t", "outcome": "aborted"}]
        assert_no_findings(history(sends=[A | {"txn": "t"}], txns=txns, log=log))

    def test_undecided_below_the_log_start(self) -> None:
        cut = [{"partition": 0, "log_start": 7}]
        bad = history(sends=[A], log=[LOG_A], partitions=cut)
        assert_no_findings(bad)
        assert "lost-output" in check(bad, [CLAIM]).claims[0].undecided

    def test_nothing_is_lost_in_an_interrupted_run(self) -> None:
        cut = history(sends=[A], log=[LOG_A], phases=[{"phase": "disturb", "outcome": "ok"}])
        assert_no_findings(cut)

    @pytest.mark.parametrize("claim", [CLAIM, DEDUPLICATES])
    def test_late_input_may_have_no_effect(self, claim: Any) -> None:
        late = A | {"lateness": "late"}
        assert_no_findings(history(sends=[A, B], log=[late, B], effects=[EB]), claim=claim)
        assert_no_findings(history(sends=[A, B], log=[late, B], effects=[EA, EB]), claim=claim)
        (judged,) = check(history(sends=[A, B], log=[late, B], effects=[EB]), [claim]).claims
        assert "lost-output" not in judged.undecided
        assert records(assert_only(history(sends=[A, B], log=[late, B]), "lost-output")) == ["b"]

    def test_late_input_must_not_have_two_effects(self) -> None:
        late = A | {"lateness": "late"}
        two = history(sends=[A], log=[late], effects=[EA, EA | {"position": "row 2"}])
        assert records(assert_only(two, "duplicate-output")) == ["a"]

    @pytest.mark.parametrize("claim", [CLAIM, DEDUPLICATES])
    def test_missing_effect_of_possibly_late_input_is_undecided(self, claim: Any) -> None:
        unclear = A | {"lateness": "unclear"}
        missing = history(sends=[A, B], log=[unclear, B], effects=[EB])
        assert_no_findings(missing, claim=claim)
        (judged,) = check(missing, [claim]).claims
        assert "lost-output" in judged.undecided
        there = history(sends=[A, B], log=[unclear, B], effects=[EA, EB])
        (judged,) = check(there, [claim]).claims
        assert "lost-output" not in judged.undecided

    def test_late_entry_of_a_record_needs_no_effect(self) -> None:
        late = A | {"lateness": "late", "offset": 7}
        log = [late, A2 | {"offset": 8}]
        assert_no_findings(history(sends=[A, A2], log=log, effects=[EA]))
        (finding,) = assert_only(history(sends=[A, A2], log=log), "lost-output").shown
        assert finding.witness[0]["expected"] == 1

    def test_judgement_notes_count_late_inputs(self) -> None:
        late = [A | {"lateness": "late"}, B | {"lateness": "late"}]
        judged = check(history(sends=[A, B], log=late, effects=[EB]), [CLAIM])
        assert judged.notes[-1].endswith("by design; 1 of them have no effect in ledger (table)")
        assert judged.notes[-1].startswith("2 inputs of input came later than allowed")
        plain = check(history(sends=[A, B], log=[A, B], effects=[EA, EB]), [CLAIM])
        assert not any("late" in note for note in plain.notes)


class TestDuplicateOutput:
    def test_two_effects_of_one_input(self) -> None:
        ranges = [{"batch": 4, "partition": 0, "start_offset": 5, "end_offset": 8, "owner": "q"}]
        hazards = [
            {"hazard": "replayed-batch", "owner": "q", "batch": 4, "fault": "1-kill"},
            {"hazard": "replayed-batch", "owner": "q", "batch": 5, "fault": "2-kill"},
            {"hazard": "replayed-batch", "owner": "p", "batch": 4, "fault": "3-kill"},
        ]
        bad = history(
            sends=[A], log=[LOG_A], ranges=ranges, hazards=hazards,
            effects=[EA | {"position": "row 1"}, EA | {"position": "row 2"}],
        )  # fmt: skip
        (finding,) = assert_only(bad, "duplicate-output").shown
        assert [row["position"] for row in finding.witness] == ["row 1", "row 2"]
        for row in finding.witness:
            assert (row["expected"], row["seen"]) == (1, 2)
            assert (row["topic"], row["partition"], row["offset"]) == ("input", 0, 6)
            assert (row["batch"], row["owner"]) == (4, "q")
        assert [cause["fault"] for cause in finding.causes] == ["1-kill"]

    def test_batch_of_the_effect_takes_precedence(self) -> None:
        ranges = [{"batch": 4, "partition": 0, "start_offset": 5, "end_offset": 8, "owner": "q"}]
        own = EA | at(0, 6) | {"batch": 3, "owner": "q"}
        bad = history(sends=[A], log=[LOG_A], ranges=ranges, effects=[own, own])
        assert {r["batch"] for r in assert_only(bad, "duplicate-output").shown[0].witness} == {3}

    def test_two_sends_allow_two_effects(self) -> None:
        assert_no_findings(history(sends=[A, A2], log=[LOG_A, LOG_A2], effects=[EA, EA]))
        assert_no_findings(
            history(sends=[A, A2], log=[LOG_A, LOG_A2], effects=[EA | at(0, 6), EA | at(0, 9)])
        )

    def test_two_sends_allow_one_effect_if_deduplicated(self) -> None:
        both = history(sends=[A, A2], log=[LOG_A, LOG_A2], effects=[EA, EA])
        assert_no_findings(both, except_for=("duplicate-output",), claim=DEDUPLICATES)

    def test_duplicate_log_entry_allows_a_second_effect(self) -> None:
        log = [LOG_A, A | {"offset": 8}]
        assert_no_findings(history(sends=[A], log=log, effects=[EA, EA]), except_for=("duplicate",))

    def test_aborted_entry_allows_no_effect(self) -> None:
        log = [LOG_A | {"committed": False}, LOG_A2]
        bad = history(sends=[A | {"outcome": "info"}, A2], log=log, effects=[EA, EA])
        assert_only(bad, "duplicate-output")

    @pytest.mark.parametrize("phase", ["settle", "collect"])
    def test_partial_log_proves_no_duplicate(self, phase: str) -> None:
        cut = [p for p in DONE if p["phase"] != phase]
        sends = [A | {"outcome": "info"}, A2 | {"outcome": "info"}]
        assert_no_findings(history(sends=sends, log=[LOG_A], effects=[EA, EA], phases=cut))

    def test_equal_source_positions_prove_a_duplicate_in_an_interrupted_run(self) -> None:
        cut = [{"phase": "disturb", "outcome": "interrupted"}]
        effects = [EA | at(0, 6), EA | at(0, 6), EA]
        assert_only(
            history(sends=[A], log=[LOG_A], effects=effects, phases=cut), "duplicate-output"
        )
        assert_only(history(sends=[A], effects=effects, phases=cut), "duplicate-output")
        effects = [EA | at(0, 6), EA | at(0, 7)]
        assert_no_findings(history(sends=[A], log=[LOG_A], effects=effects, phases=cut))

    def test_stalled_run_proves_a_duplicate_if_sends_ended_before_collecting(self) -> None:
        stalled = [
            {"phase": "settle", "outcome": "stalled"},
            {"phase": "collect", "outcome": "ok", "started_at": 50},
        ]
        over = A | {"returned_at": 49}
        assert_no_findings(
            history(sends=[over], log=[LOG_A], effects=[EA, EA], phases=stalled),
            except_for=("duplicate-output", "no-progress"),
        )
        for send in (A | {"returned_at": 51}, over | {"clock": "another"}):
            unsure = history(sends=[send], log=[LOG_A], effects=[EA, EA], phases=stalled)
            assert_no_findings(unsure, except_for=("no-progress",))

    def test_undecided_if_offsets_were_deleted(self) -> None:
        cut = [{"partition": 0, "log_start": 5}]
        bad = history(sends=[A], log=[LOG_A], effects=[EA, EA], partitions=cut)
        assert_no_findings(bad)
        assert "duplicate-output" in check(bad, [CLAIM]).claims[0].undecided

    def test_ignores_other_views_and_sinks(self) -> None:
        elsewhere = [EA | {"view": "uncommitted"}, EA | {"sink": "copy"}]
        assert_no_findings(history(sends=[A], log=[LOG_A], effects=[EA, *elsewhere]))


class TestUnfoundedOutput:
    def test_effect_of_an_aborted_record(self) -> None:
        txns = [{"txn": "t", "outcome": "aborted"}]
        bad = history(
            sends=[A | {"txn": "t"}], txns=txns, log=[LOG_A | {"committed": False}], effects=[EA]
        )
        (finding,) = assert_only(bad, "unfounded-output").shown
        assert finding.witness[0]["position"] == "row 0"

    def test_source_position_decides_which_effect_is_unfounded(self) -> None:
        txns = [{"txn": "t", "outcome": "aborted"}]
        bad = history(
            sends=[A | {"txn": "t"}, A2], txns=txns,
            log=[LOG_A | {"committed": False}, LOG_A2],
            effects=[EA | at(0, 6), EA | at(0, 9)],
        )  # fmt: skip
        (finding,) = assert_only(bad, "unfounded-output").shown
        assert [row["offset"] for row in finding.witness] == [6]

    def test_ignores_records_of_other_topics(self) -> None:
        assert_no_findings(history(sends=[A | {"topic": "other"}], effects=[EA]))
        assert_no_findings(history(effects=[EA | {"source_topic": "other"}]))

    def test_deleted_offsets_are_undecided(self) -> None:
        cut = [{"partition": 0, "log_start": 5}]
        bad = history(sends=[A | {"partition": 0, "offset": 3}], effects=[EA], partitions=cut)
        assert_no_findings(bad)
        assert "unfounded-output" in check(bad, [CLAIM]).claims[0].undecided


class TestPhantomOutput:
    def test_effect_of_a_record_never_sent(self) -> None:
        bad = history(effects=[{"record": "x", "position": "row 7"}])
        (finding,) = assert_only(bad, "phantom-output").shown
        assert finding.key["record"] == "x"
        assert "row 7" in finding.sentence

    def test_unreadable_identity_makes_the_claim_invalid(self) -> None:
        bad = history(effects=[{"record": None}])
        assert_no_findings(bad)
        (judged,) = check(bad, [CLAIM]).claims
        assert judged.verdict.value == "invalid"
        assert "o identity could be read in 1 of 2 entries of view table" in judged.reason


class TestWrongOutput:
    def test_effect_with_unexpected_digest(self) -> None:
        bad = history(sends=[A], log=[LOG_A], effects=[EA | {"digest": "?"}])
        (finding,) = assert_only(bad, "wrong-output").shown
        (row,) = finding.witness
        assert (row["digest"], row["expected_digest"]) == ("?", "out-a")

    def test_effect_with_unexpected_key(self) -> None:
        bad = history(sends=[A], log=[LOG_A], effects=[EA, EA | {"effect_key": "extra"}])
        assert assert_only(bad, "wrong-output").shown[0].key["effect_key"] == "extra"

    def test_effect_of_a_filtered_record(self) -> None:
        bad = history(sends=[A], log=[LOG_A], effects=[EA], expected=[{"record": "b"}])
        assert records(assert_only(bad, "wrong-output")) == ["a"]

    def test_ignores_expectations_of_other_sinks(self) -> None:
        others = [EA | {"sink": "other", "digest": "?"}, EA]
        assert_no_findings(history(sends=[A], log=[LOG_A], effects=[EA], expected=others))


def position(offset: int, **fields: Any) -> dict[str, Any]:
    return {"partition": 0, "offset": offset, "owner": "q"} | fields


class TestOffsetAhead:
    def test_position_past_an_input_without_effect(self) -> None:
        bad = history(sends=[A], log=[LOG_A], positions=[position(3), position(7)])
        seen = found(bad)
        assert sorted(seen) == ["lost-output", "offset-ahead"]
        (finding,) = seen["offset-ahead"].shown
        assert finding.key["owner"] == "q"
        (row,) = finding.witness
        assert (row["position"], row["record"], row["offset"]) == (7, "a", 6)

    @pytest.mark.parametrize(
        "change", [{"kind": "planned"}, {"role": "advisory"}, {"by": "harness"}]
    )
    def test_ignores_planned_advisory_and_harness_positions(self, change: dict[str, Any]) -> None:
        bad = history(sends=[A], log=[LOG_A], positions=[position(7, **change)])
        assert_no_findings(bad, except_for=("lost-output",))

    def test_position_at_the_input_is_not_ahead(self) -> None:
        assert_no_findings(
            history(sends=[A], log=[LOG_A], positions=[position(6)]), except_for=("lost-output",)
        )

    def test_newest_position_counts(self) -> None:
        back = [position(7, ordinal=1), position(5, ordinal=2, by="subject")]
        seen = found(history(sends=[A], log=[LOG_A], positions=back))
        assert sorted(seen) == ["lost-output", "offset-regressed"]

    def test_ignores_owners_of_other_sinks(self) -> None:
        other = {"record": "a", "sink": "copy", "owner": "q"}
        bad = history(sends=[A], log=[LOG_A], effects=[other], positions=[position(7)])
        assert_no_findings(bad, except_for=("lost-output",))

    def test_position_between_two_inputs_with_one_effect_is_not_ahead(self) -> None:
        """Of two inputs with one effect, the one past the position is yet to be processed."""
        bad = history(sends=[A, A2], log=[LOG_A, LOG_A2], effects=[EA], positions=[position(7)])
        assert_no_findings(bad, except_for=("lost-output",))


class TestOffsetBehind:
    def test_atomic_position_at_an_input_with_effect(self) -> None:
        atomic = position(6, role="atomic", sink="ledger")
        bad = history(sends=[A], log=[LOG_A], effects=[EA], positions=[atomic])
        (finding,) = assert_only(bad, "offset-behind").shown
        (row,) = finding.witness
        assert (row["position"], row["record"], row["offset"]) == (6, "a", 6)

    @pytest.mark.parametrize(
        "change",
        [
            {"offset": 7}, {"role": "resume"}, {"role": "advisory"}, {"kind": "planned"},
            {"sink": "copy"}, {"by": "harness"}, {"partition": 1},
        ],
    )  # fmt: skip
    def test_ignores_correct_and_unjudged_positions(self, change: dict[str, Any]) -> None:
        atomic = position(6, role="atomic", sink="ledger") | change
        assert_no_findings(history(sends=[A], log=[LOG_A], effects=[EA], positions=[atomic]))

    def test_position_of_an_older_owner_is_not_behind(self) -> None:
        atomic = [
            position(3, role="atomic", owner="old"), position(9, role="atomic", owner="new")
        ]  # fmt: skip
        for effect in (EA | {"owner": "new"}, EA):
            assert_no_findings(history(sends=[A], log=[LOG_A], effects=[effect], positions=atomic))


class TestOffsetRegressed:
    def test_position_moves_back(self) -> None:
        bad = history(positions=[position(9), position(7)])
        (finding,) = assert_only(bad, "offset-regressed").shown
        assert (finding.witness[0]["previous"], finding.witness[0]["position"]) == (9, 7)

    def test_ignores_positions_set_by_the_harness(self) -> None:
        assert_no_findings(history(positions=[position(9), position(2, by="harness"), position(5)]))

    def test_repeated_planned_and_other_partitions_positions_are_fine(self) -> None:
        assert_no_findings(history(positions=[position(9), position(9), position(3, partition=1)]))
        assert_no_findings(history(positions=[position(9, kind="planned"), position(7)]))


def executed(batch: int, start: int, end: int, **fields: Any) -> dict[str, Any]:
    return {"batch": batch, "start_offset": start, "end_offset": end, "owner": "q"} | fields


class TestOffsetGap:
    def test_gap_between_batches(self) -> None:
        bad = history(ranges=[executed(1, 0, 5), executed(2, 7, 9)])
        (finding,) = assert_only(bad, "offset-gap").shown
        assert (finding.key["kind"], finding.key["batch"]) == ("gap", 2)
        assert (finding.witness[0]["reached"], finding.witness[0]["start_offset"]) == (5, 7)

    def test_overlap_is_measured_from_the_furthest_end(self) -> None:
        bad = history(ranges=[executed(1, 0, 5), executed(2, 2, 3), executed(3, 5, 6)])
        assert [f.key["kind"] for f in assert_only(bad, "offset-gap").shown] == ["overlap"]

    def test_replayed_batch_is_no_overlap(self) -> None:
        replay = [
            executed(1, 0, 5), executed(2, 5, 9, execution="a", committed=False),
            executed(2, 5, 9, execution="b"), executed(3, 9, 9), executed(5, 9, 12),
        ]  # fmt: skip
        assert_no_findings(history(ranges=replay))

    def test_owners_partitions_and_topics_are_independent(self) -> None:
        assert_no_findings(
            history(
                ranges=[
                    executed(1, 0, 5), executed(2, 7, 9, owner="p"),
                    executed(2, 7, 9, partition=1), executed(2, 7, 9, topic="other"),
                ]
            )
        )  # fmt: skip

    def test_gap_over_deleted_offsets_is_allowed(self) -> None:
        cut = [{"partition": 0, "log_start": 7}]
        assert_no_findings(history(ranges=[executed(1, 0, 5), executed(2, 7, 9)], partitions=cut))
        bad = history(ranges=[executed(1, 0, 5), executed(2, 8, 9)], partitions=cut)
        assert_only(bad, "offset-gap")


class TestLiveness:
    @pytest.mark.parametrize("phase", ["warm-up", "heal", "settle"])
    def test_stalled_phase_is_no_progress(self, phase: str) -> None:
        phases = [{"phase": phase, "outcome": "stalled", "detail": "stood still"}]
        bad = history(phases=[*phases, DONE[1]])
        (findings,) = check(bad, [CLAIM]).findings
        assert (findings.anomaly, findings.shown[0].key) == ("no-progress", {"phase": phase})
        assert "stood still" in findings.shown[0].sentence

    def test_last_stable_offset_below_high_watermark_hangs(self) -> None:
        hanging = [{"partition": 1, "last_stable_offset": 5, "high_watermark": 9}]
        (findings,) = check(history(partitions=hanging), [CLAIM]).findings
        assert findings.anomaly == "hanging-transaction"
        assert findings.shown[0].key == {"topic": "input", "partition": 1}
        before = [{"phase": "disturb", "outcome": "interrupted"}]
        assert check(history(partitions=hanging, phases=before), [CLAIM]).findings == ()

    def test_last_stable_offset_at_high_watermark_is_fine(self) -> None:
        level = [{"partition": 1, "last_stable_offset": 9, "high_watermark": 9}]
        assert check(history(partitions=level), [CLAIM]).findings == ()


def test_every_anomaly_is_documented() -> None:
    for anomaly in anomalies().values():
        assert anomaly.definition.endswith(".")
        assert anomaly.example
        assert anomaly.source
        assert anomaly.key


def test_anomalies_refer_to_known_anomalies_and_guarantees() -> None:
    for anomaly in anomalies().values():
        assert set(anomaly.implies) <= anomalies().keys() - {anomaly.name}
        assert {*anomaly.refutes, *anomaly.shown_with, *anomaly.refutes_only_if} <= set(GUARANTEES)
        assert not set(anomaly.refutes) & set(anomaly.shown_with)
        assert anomaly.refutes_only_if.keys() <= set(anomaly.refutes)


def test_counts_all_findings_and_shows_the_first() -> None:
    many = [{"record": f"r{n:02}", "attempt": f"r{n:02}/1", "offset": n} for n in range(30)]
    bad = found(history(sends=many, log=[]))["lost-write"]
    assert bad.count == 30
    assert records(bad) == [f"r{n:02}" for n in range(20)]


def test_truncated_witness_keeps_its_full_count() -> None:
    effects = [EA | {"position": f"row {n:03}"} for n in range(60)]
    (finding,) = assert_only(
        history(sends=[A], log=[LOG_A], effects=effects), "duplicate-output"
    ).shown
    assert len(finding.witness) == 50
    assert finding.witness[0]["seen"] == 60
