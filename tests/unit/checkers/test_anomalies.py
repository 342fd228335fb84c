"""Hand-written histories of a few rows: the bad one with its exact witness, and its neighbours."""

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
"""A record that always went right, so that no table is ever empty."""


def history(
    *,
    sends: Rows | None = None,
    log: Rows | None = None,
    effects: Rows | None = None,
    expected: Rows | None = None,
    phases: Rows | None = None,
    **tables: Rows,
) -> History:
    """A history with one more record that went right, at input-9@99."""
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
    """The source position of an effect; with `like` only if those have one."""
    if like and not any("source_offset" in row for row in like):
        return {}
    return {"source_topic": "input", "source_partition": partition, "source_offset": offset}


def found(history: History, claim: Any = CLAIM) -> dict[str, Findings]:
    return {f.anomaly: f for f in find(history, claim)}


def records(findings: Findings) -> list[Any]:
    return [finding.key["record"] for finding in findings.shown]


def only(history: History, name: str) -> Findings:
    """The findings of one anomaly, beside which there are only implied others."""
    seen = found(history)
    assert name in seen, f"found only {sorted(seen)}"
    assert seen.keys() <= implied(name)
    return seen[name]


def quiet(history: History, *, but: tuple[str, ...] = (), claim: Any = CLAIM) -> None:
    assert sorted(found(history, claim)) == sorted(but)


A = {"record": "a", "attempt": "a/1"}
A2 = {"record": "a", "attempt": "a/2"}
B = {"record": "b", "attempt": "b/1"}
EA, EB = {"record": "a"}, {"record": "b"}


class TestLostWrite:
    def test_an_acknowledged_send_is_not_in_the_log(self) -> None:
        bad = history(sends=[A | {"partition": 0, "offset": 7}, B], log=[B], effects=[EB])
        (finding,) = only(bad, "lost-write").shown
        assert finding.key == {"topic": "input", "record": "a"}
        (row,) = finding.witness
        assert (row["attempt"], row["acknowledged_offset"]) == ("a/1", 7)
        assert "a was acknowledged by input" in finding.sentence

    def test_one_of_two_sends_is_lost_although_the_record_is_there(self) -> None:
        bad = history(sends=[A, A2], log=[A], effects=[EA])
        (finding,) = only(bad, "lost-write").shown
        assert [row["attempt"] for row in finding.witness] == ["a/2"]

    def test_without_attempt_ids_counts_decide(self) -> None:
        anonymous = {"record": "a"}
        only(history(sends=[A, A2], log=[anonymous], effects=[EA]), "lost-write")
        quiet(history(sends=[A, A2], log=[anonymous, anonymous], effects=[EA, EA]))

    @pytest.mark.parametrize("outcome", ["info", "fail"])
    def test_what_was_not_acknowledged_may_be_missing(self, outcome: str) -> None:
        quiet(history(sends=[A | {"outcome": outcome}]))

    def test_an_aborted_transaction_is_expected_nowhere(self) -> None:
        quiet(history(sends=[A | {"txn": "t"}], txns=[{"txn": "t", "outcome": "aborted"}]))
        quiet(history(sends=[A | {"txn": "t"}], txns=[{"txn": "t", "outcome": "info"}]))

    def test_one_record_proves_its_whole_transaction(self) -> None:
        txns = [{"txn": "t", "outcome": "info"}]
        sends = [A | {"txn": "t"}, B | {"txn": "t", "outcome": "info"}]
        bad = history(sends=sends, txns=txns, log=[B], effects=[EB])
        assert records(only(bad, "lost-write")) == ["a"]

    def test_an_uncommitted_record_proves_no_transaction(self) -> None:
        txns = [{"txn": "t", "outcome": "info"}]
        sends = [A | {"txn": "t"}, B | {"txn": "t"}]
        quiet(history(sends=sends, txns=txns, log=[B | {"committed": False}]))

    def test_only_what_was_not_deleted_is_a_witness(self) -> None:
        cut = [{"partition": 0, "log_start": 5}]
        sends = [A | {"partition": 0, "offset": 4}, A2 | {"partition": 0, "offset": 6}]
        (finding,) = only(history(sends=sends, partitions=cut), "lost-write").shown
        assert [row["attempt"] for row in finding.witness] == ["a/2"]

    def test_an_uncommitted_entry_is_no_position(self) -> None:
        bad = history(sends=[A], log=[A | {"committed": False}])
        assert records(only(bad, "lost-write")) == ["a"]

    def test_what_was_deleted_is_undecided(self) -> None:
        cut = [{"partition": 0, "log_start": 5}]
        low, high = A | {"partition": 0, "offset": 4}, A | {"partition": 0, "offset": 5}
        gone = history(sends=[low], partitions=cut)
        quiet(gone)
        (judged,) = check(gone, [CLAIM]).claims
        assert "lost-write" in judged.undecided
        only(history(sends=[high], partitions=cut), "lost-write")
        compacted = [{"partition": 0, "cleanup_policy": "compact,delete"}]
        quiet(history(sends=[high], partitions=compacted))


class TestDuplicate:
    def test_two_positions_of_one_attempt(self) -> None:
        bad = history(sends=[A], log=[A | {"offset": 3}, A | {"offset": 8}], effects=[EA, EA])
        (finding,) = only(bad, "duplicate").shown
        assert sorted(row["offset"] for row in finding.witness) == [3, 8]

    def test_attempts_are_told_apart(self) -> None:
        """a/1 appears twice, a/2 never: two positions and two sends, but not one each."""
        bad = history(sends=[A, A2 | {"outcome": "info"}], log=[A, A], effects=[EA, EA])
        assert records(only(bad, "duplicate")) == ["a"]

    def test_the_application_may_send_twice(self) -> None:
        quiet(history(sends=[A, A2], log=[A, A2], effects=[EA, EA]))

    def test_info_may_have_happened(self) -> None:
        anonymous = {"record": "a"}
        sends = [A, A2 | {"outcome": "info"}]
        quiet(history(sends=sends, log=[anonymous, anonymous], effects=[EA, EA]))
        sends = [A, A2 | {"outcome": "fail"}]
        only(history(sends=sends, log=[anonymous, anonymous], effects=[EA, EA]), "duplicate")

    @pytest.mark.parametrize(
        "send", [A | {"outcome": "fail"}, A | {"txn": "t"}], ids=["failed", "aborted"]
    )
    def test_what_certainly_did_not_happen_has_one_position_too_many(self, send: Any) -> None:
        txns = [{"txn": "t", "outcome": "aborted"}]
        only(history(sends=[send], txns=txns, log=[A], effects=[EA]), "duplicate")
        quiet(history(sends=[send], txns=txns, log=[A | {"committed": False}]))

    def test_another_topic_is_not_counted(self) -> None:
        quiet(history(sends=[A], log=[A, A | {"topic": "copies"}], effects=[EA]))


class TestPhantom:
    def test_nobody_sent_it(self) -> None:
        bad = history(log=[{"record": "x", "offset": 4}], expected=[{"record": "x"}])
        (finding,) = only(bad, "phantom").shown
        assert finding.key["record"] == "x"
        assert "input-0@4" in finding.sentence

    def test_the_pipeline_that_processed_it_is_not_to_blame(self) -> None:
        bad = history(log=[{"record": "x"}], effects=[{"record": "x"}])
        quiet(bad, but=("phantom",))

    def test_without_any_send_nothing_is_known(self) -> None:
        quiet(History.of(log=[EA], effects=[EA], expected=[EA], phases=DONE))

    def test_an_unreadable_record_is_no_phantom(self) -> None:
        quiet(history(log=[{"record": None}]))


class TestCorrupt:
    @pytest.mark.parametrize(
        ("change", "differs"),
        [({"digest": "?"}, "digest"), ({"key": "?"}, "key"), ({"partition": 2}, "partition")],
    )
    def test_it_is_not_what_was_sent(self, change: dict[str, Any], differs: str) -> None:
        send = A | {"partition": 0, "key": "k", "digest": "d"}
        entry = A | {"partition": 0, "key": "k", "digest": "d"} | change
        bad = history(sends=[send], log=[entry], effects=[EA])
        (finding,) = only(bad, "corrupt").shown
        (row,) = finding.witness
        assert str(row["differs"]).split() == [differs]

    def test_it_stands_in_another_topic(self) -> None:
        bad = history(sends=[A | {"topic": "other"}], log=[A], effects=[EA])
        assert records(only(bad, "corrupt")) == ["a"]

    def test_the_partition_counts_only_if_acknowledged(self) -> None:
        send = A | {"partition": 1, "outcome": "info"}
        quiet(history(sends=[send], log=[A], effects=[EA]))

    def test_what_is_not_known_differs_from_nothing(self) -> None:
        quiet(history(sends=[A | {"key": "k"}], log=[A | {"digest": None}], effects=[EA]))

    def test_without_attempt_id_one_fitting_send_is_enough(self) -> None:
        sends = [A | {"digest": "1"}, A2 | {"digest": "2"}]
        log = [{"record": "a", "digest": "1"}, {"record": "a", "digest": "2"}]
        quiet(history(sends=sends, log=log, effects=[EA, EA]))

    def test_wrong_output_of_corrupt_input_is_not_the_pipelines(self) -> None:
        bad = history(
            sends=[A | {"digest": "d"}], log=[A | {"digest": "?"}], effects=[EA | {"digest": "?"}]
        )
        quiet(bad, but=("corrupt",))


LOG_A = A | {"partition": 0, "offset": 6}
LOG_A2 = A2 | {"partition": 0, "offset": 9}


class TestLostOutput:
    def test_no_effect(self) -> None:
        bad = history(sends=[A], log=[LOG_A])
        (finding,) = only(bad, "lost-output").shown
        assert finding.key == {
            "sink": "ledger", "view": "table", "record": "a", "effect_key": ""
        }  # fmt: skip
        (row,) = finding.witness
        assert (row["partition"], row["offset"], row["expected"], row["seen"]) == (0, 6, 1, 0)

    def test_sent_twice_needs_two_effects_unless_the_subject_deduplicates(self) -> None:
        one = history(sends=[A, A2], log=[LOG_A, LOG_A2], effects=[EA])
        only(one, "lost-output")
        quiet(one, claim=DEDUPLICATES)

    def test_a_copy_that_its_producer_made_needs_no_effect_of_its_own(self) -> None:
        log = [LOG_A, A | {"offset": 8}]
        one = history(sends=[A], log=log, effects=[EA])
        quiet(one, but=("duplicate",))
        claim = check(one, [CLAIM]).claims[0]
        assert "lost-output" not in claim.undecided
        none = found(history(sends=[A], log=log))
        assert none["lost-output"].shown[0].witness[0]["expected"] == 1
        sent_again = history(sends=[A, A2], log=[*log, LOG_A2], effects=[EA])
        assert found(sent_again)["lost-output"].shown[0].witness[0]["expected"] == 2

    def test_effects_cannot_cancel_out_between_keys(self) -> None:
        expected = [EA | {"effect_key": k, "digest": k} for k in "xy"]
        x = EA | {"effect_key": "x", "digest": "x"}
        seen = found(history(sends=[A], log=[LOG_A], expected=expected, effects=[x, x]))
        assert sorted(seen) == ["duplicate-output", "lost-output"]
        assert seen["lost-output"].shown[0].key["effect_key"] == "y"

    def test_effects_cannot_cancel_out_between_positions(self) -> None:
        twice = [EA | at(0, 6), EA | at(0, 6)]
        seen = found(history(sends=[A, A2], log=[LOG_A, LOG_A2], effects=twice))
        assert sorted(seen) == ["duplicate-output", "lost-output"]
        assert seen["lost-output"].shown[0].witness[0]["offset"] == 9

    def test_one_effect_without_a_position_and_records_are_judged_as_a_whole(self) -> None:
        quiet(history(sends=[A, A2], log=[LOG_A, LOG_A2], effects=[EA | at(0, 6), EA]))

    def test_the_micro_batch_is_named(self) -> None:
        ranges = [{"batch": 4, "partition": 0, "start_offset": 5, "end_offset": 8}]
        bad = history(sends=[A], log=[LOG_A], ranges=ranges)
        assert only(bad, "lost-output").shown[0].witness[0]["batch"] == 4

    def test_a_filter_yields_nothing(self) -> None:
        quiet(history(sends=[A], log=[LOG_A], expected=[{"record": "b"}]))

    def test_aborted_records_and_markers_need_none(self) -> None:
        log = [LOG_A | {"committed": False}, {"record": None, "kind": "abort", "offset": 7}]
        txns = [{"txn": "t", "outcome": "aborted"}]
        quiet(history(sends=[A | {"txn": "t"}], txns=txns, log=log))

    def test_below_the_start_of_the_log_it_is_undecided(self) -> None:
        cut = [{"partition": 0, "log_start": 7}]
        bad = history(sends=[A], log=[LOG_A], partitions=cut)
        quiet(bad)
        assert "lost-output" in check(bad, [CLAIM]).claims[0].undecided

    def test_an_interrupted_run_has_lost_nothing(self) -> None:
        cut = history(sends=[A], log=[LOG_A], phases=[{"phase": "disturb", "outcome": "ok"}])
        quiet(cut)

    @pytest.mark.parametrize("claim", [CLAIM, DEDUPLICATES])
    def test_an_input_that_may_be_dropped_as_late_need_have_no_effect(self, claim: Any) -> None:
        late = A | {"lateness": "late"}
        quiet(history(sends=[A, B], log=[late, B], effects=[EB]), claim=claim)
        quiet(history(sends=[A, B], log=[late, B], effects=[EA, EB]), claim=claim)
        (judged,) = check(history(sends=[A, B], log=[late, B], effects=[EB]), [claim]).claims
        assert "lost-output" not in judged.undecided
        assert records(only(history(sends=[A, B], log=[late, B]), "lost-output")) == ["b"]

    def test_an_input_that_may_be_dropped_as_late_may_have_no_effect_too_many(self) -> None:
        late = A | {"lateness": "late"}
        two = history(sends=[A], log=[late], effects=[EA, EA | {"position": "row 2"}])
        assert records(only(two, "duplicate-output")) == ["a"]

    @pytest.mark.parametrize("claim", [CLAIM, DEDUPLICATES])
    def test_whether_an_input_was_late_may_be_unclear(self, claim: Any) -> None:
        unclear = A | {"lateness": "unclear"}
        missing = history(sends=[A, B], log=[unclear, B], effects=[EB])
        quiet(missing, claim=claim)
        (judged,) = check(missing, [claim]).claims
        assert "lost-output" in judged.undecided
        there = history(sends=[A, B], log=[unclear, B], effects=[EA, EB])
        (judged,) = check(there, [claim]).claims
        assert "lost-output" not in judged.undecided

    def test_only_positions_in_time_are_due(self) -> None:
        late = A | {"lateness": "late", "offset": 7}
        log = [late, A2 | {"offset": 8}]
        quiet(history(sends=[A, A2], log=log, effects=[EA]))
        (finding,) = only(history(sends=[A, A2], log=log), "lost-output").shown
        assert finding.witness[0]["expected"] == 1

    def test_the_judgement_tells_how_many_may_have_been_dropped_as_late(self) -> None:
        late = [A | {"lateness": "late"}, B | {"lateness": "late"}]
        judged = check(history(sends=[A, B], log=late, effects=[EB]), [CLAIM])
        assert judged.notes[-1].endswith("by design; 1 of them have no effect in ledger (table)")
        assert judged.notes[-1].startswith("2 inputs of input came later than allowed")
        plain = check(history(sends=[A, B], log=[A, B], effects=[EA, EB]), [CLAIM])
        assert not any("late" in note for note in plain.notes)


class TestDuplicateOutput:
    def test_two_effects_of_one_position(self) -> None:
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
        (finding,) = only(bad, "duplicate-output").shown
        assert [row["position"] for row in finding.witness] == ["row 1", "row 2"]
        for row in finding.witness:
            assert (row["expected"], row["seen"]) == (1, 2)
            assert (row["topic"], row["partition"], row["offset"]) == ("input", 0, 6)
            assert (row["batch"], row["owner"]) == (4, "q")
        assert [cause["fault"] for cause in finding.causes] == ["1-kill"]

    def test_the_effects_own_batch_counts_first(self) -> None:
        ranges = [{"batch": 4, "partition": 0, "start_offset": 5, "end_offset": 8, "owner": "q"}]
        own = EA | at(0, 6) | {"batch": 3, "owner": "q"}
        bad = history(sends=[A], log=[LOG_A], ranges=ranges, effects=[own, own])
        assert {r["batch"] for r in only(bad, "duplicate-output").shown[0].witness} == {3}

    def test_the_application_sent_it_twice(self) -> None:
        quiet(history(sends=[A, A2], log=[LOG_A, LOG_A2], effects=[EA, EA]))
        quiet(history(sends=[A, A2], log=[LOG_A, LOG_A2], effects=[EA | at(0, 6), EA | at(0, 9)]))

    def test_a_subject_that_deduplicates_may_not_have_two(self) -> None:
        both = history(sends=[A, A2], log=[LOG_A, LOG_A2], effects=[EA, EA])
        quiet(both, but=("duplicate-output",), claim=DEDUPLICATES)

    def test_the_producers_duplicate_does_not_convict_the_pipeline(self) -> None:
        log = [LOG_A, A | {"offset": 8}]
        quiet(history(sends=[A], log=log, effects=[EA, EA]), but=("duplicate",))

    def test_an_aborted_position_between_is_none(self) -> None:
        log = [LOG_A | {"committed": False}, LOG_A2]
        bad = history(sends=[A | {"outcome": "info"}, A2], log=log, effects=[EA, EA])
        only(bad, "duplicate-output")

    @pytest.mark.parametrize("phase", ["settle", "collect"])
    def test_a_partial_log_proves_no_duplicate(self, phase: str) -> None:
        cut = [p for p in DONE if p["phase"] != phase]
        sends = [A | {"outcome": "info"}, A2 | {"outcome": "info"}]
        quiet(history(sends=sends, log=[LOG_A], effects=[EA, EA], phases=cut))

    def test_equal_source_positions_prove_themselves(self) -> None:
        cut = [{"phase": "disturb", "outcome": "interrupted"}]
        effects = [EA | at(0, 6), EA | at(0, 6), EA]
        only(history(sends=[A], log=[LOG_A], effects=effects, phases=cut), "duplicate-output")
        only(history(sends=[A], effects=effects, phases=cut), "duplicate-output")
        effects = [EA | at(0, 6), EA | at(0, 7)]
        quiet(history(sends=[A], log=[LOG_A], effects=effects, phases=cut))

    def test_sends_that_were_over_before_collecting_cannot_grow(self) -> None:
        stalled = [
            {"phase": "settle", "outcome": "stalled"},
            {"phase": "collect", "outcome": "ok", "started_at": 50},
        ]
        over = A | {"returned_at": 49}
        quiet(
            history(sends=[over], log=[LOG_A], effects=[EA, EA], phases=stalled),
            but=("duplicate-output", "no-progress"),
        )
        for send in (A | {"returned_at": 51}, over | {"clock": "another"}):
            unsure = history(sends=[send], log=[LOG_A], effects=[EA, EA], phases=stalled)
            quiet(unsure, but=("no-progress",))

    def test_what_was_deleted_makes_it_undecided(self) -> None:
        cut = [{"partition": 0, "log_start": 5}]
        bad = history(sends=[A], log=[LOG_A], effects=[EA, EA], partitions=cut)
        quiet(bad)
        assert "duplicate-output" in check(bad, [CLAIM]).claims[0].undecided

    def test_other_views_and_sinks_are_not_counted(self) -> None:
        elsewhere = [EA | {"view": "uncommitted"}, EA | {"sink": "copy"}]
        quiet(history(sends=[A], log=[LOG_A], effects=[EA, *elsewhere]))


class TestUnfoundedOutput:
    def test_an_effect_of_an_aborted_record(self) -> None:
        txns = [{"txn": "t", "outcome": "aborted"}]
        bad = history(
            sends=[A | {"txn": "t"}], txns=txns, log=[LOG_A | {"committed": False}], effects=[EA]
        )
        (finding,) = only(bad, "unfounded-output").shown
        assert finding.witness[0]["position"] == "row 0"

    def test_the_very_position_counts_where_effects_name_it(self) -> None:
        txns = [{"txn": "t", "outcome": "aborted"}]
        bad = history(
            sends=[A | {"txn": "t"}, A2], txns=txns,
            log=[LOG_A | {"committed": False}, LOG_A2],
            effects=[EA | at(0, 6), EA | at(0, 9)],
        )  # fmt: skip
        (finding,) = only(bad, "unfounded-output").shown
        assert [row["offset"] for row in finding.witness] == [6]

    def test_a_record_of_another_topic_is_not_on_trial(self) -> None:
        quiet(history(sends=[A | {"topic": "other"}], effects=[EA]))
        quiet(history(effects=[EA | {"source_topic": "other"}]))

    def test_what_was_deleted_is_undecided(self) -> None:
        cut = [{"partition": 0, "log_start": 5}]
        bad = history(sends=[A | {"partition": 0, "offset": 3}], effects=[EA], partitions=cut)
        quiet(bad)
        assert "unfounded-output" in check(bad, [CLAIM]).claims[0].undecided


class TestPhantomOutput:
    def test_nobody_sent_it(self) -> None:
        bad = history(effects=[{"record": "x", "position": "row 7"}])
        (finding,) = only(bad, "phantom-output").shown
        assert finding.key["record"] == "x"
        assert "row 7" in finding.sentence

    def test_an_unreadable_identity_is_a_failed_control(self) -> None:
        bad = history(effects=[{"record": None}])
        quiet(bad)
        (judged,) = check(bad, [CLAIM]).claims
        assert judged.verdict.value == "invalid"
        assert "o identity could be read in 1 of 2 entries of view table" in judged.reason


class TestWrongOutput:
    def test_wrong_content(self) -> None:
        bad = history(sends=[A], log=[LOG_A], effects=[EA | {"digest": "?"}])
        (finding,) = only(bad, "wrong-output").shown
        (row,) = finding.witness
        assert (row["digest"], row["expected_digest"]) == ("?", "out-a")

    def test_a_key_that_is_not_yielded(self) -> None:
        bad = history(sends=[A], log=[LOG_A], effects=[EA, EA | {"effect_key": "extra"}])
        assert only(bad, "wrong-output").shown[0].key["effect_key"] == "extra"

    def test_a_filtered_record_with_an_effect(self) -> None:
        bad = history(sends=[A], log=[LOG_A], effects=[EA], expected=[{"record": "b"}])
        assert records(only(bad, "wrong-output")) == ["a"]

    def test_expectations_of_another_sink_do_not_count(self) -> None:
        others = [EA | {"sink": "other", "digest": "?"}, EA]
        quiet(history(sends=[A], log=[LOG_A], effects=[EA], expected=others))


def position(offset: int, **more: Any) -> dict[str, Any]:
    return {"partition": 0, "offset": offset, "owner": "q"} | more


class TestOffsetAhead:
    def test_beyond_an_input_without_effect(self) -> None:
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
    def test_positions_that_are_not_judged(self, change: dict[str, Any]) -> None:
        bad = history(sends=[A], log=[LOG_A], positions=[position(7, **change)])
        quiet(bad, but=("lost-output",))

    def test_at_the_input_it_will_still_be_read(self) -> None:
        quiet(history(sends=[A], log=[LOG_A], positions=[position(6)]), but=("lost-output",))

    def test_the_newest_position_counts(self) -> None:
        back = [position(7, ordinal=1), position(5, ordinal=2, by="subject")]
        seen = found(history(sends=[A], log=[LOG_A], positions=back))
        assert sorted(seen) == ["lost-output", "offset-regressed"]

    def test_another_sinks_owner_is_not_on_trial(self) -> None:
        other = {"record": "a", "sink": "copy", "owner": "q"}
        bad = history(sends=[A], log=[LOG_A], effects=[other], positions=[position(7)])
        quiet(bad, but=("lost-output",))

    def test_one_of_two_positions_was_not_reached_yet(self) -> None:
        """One effect is there and one is missing: it is the one beyond the position."""
        bad = history(sends=[A, A2], log=[LOG_A, LOG_A2], effects=[EA], positions=[position(7)])
        quiet(bad, but=("lost-output",))


class TestOffsetBehind:
    def test_at_or_before_an_input_with_effect(self) -> None:
        atomic = position(6, role="atomic", sink="ledger")
        bad = history(sends=[A], log=[LOG_A], effects=[EA], positions=[atomic])
        (finding,) = only(bad, "offset-behind").shown
        (row,) = finding.witness
        assert (row["position"], row["record"], row["offset"]) == (6, "a", 6)

    @pytest.mark.parametrize(
        "change",
        [
            {"offset": 7}, {"role": "resume"}, {"role": "advisory"}, {"kind": "planned"},
            {"sink": "copy"}, {"by": "harness"}, {"partition": 1},
        ],
    )  # fmt: skip
    def test_positions_that_are_right_or_not_judged(self, change: dict[str, Any]) -> None:
        atomic = position(6, role="atomic", sink="ledger") | change
        quiet(history(sends=[A], log=[LOG_A], effects=[EA], positions=[atomic]))

    def test_an_older_owner_is_not_held_against_newer_effects(self) -> None:
        atomic = [
            position(3, role="atomic", owner="old"), position(9, role="atomic", owner="new")
        ]  # fmt: skip
        for effect in (EA | {"owner": "new"}, EA):
            quiet(history(sends=[A], log=[LOG_A], effects=[effect], positions=atomic))


class TestOffsetRegressed:
    def test_it_went_back(self) -> None:
        bad = history(positions=[position(9), position(7)])
        (finding,) = only(bad, "offset-regressed").shown
        assert (finding.witness[0]["previous"], finding.witness[0]["position"]) == (9, 7)

    def test_our_own_surgery_is_none(self) -> None:
        quiet(history(positions=[position(9), position(2, by="harness"), position(5)]))

    def test_standing_still_and_other_partitions_are_none(self) -> None:
        quiet(history(positions=[position(9), position(9), position(3, partition=1)]))
        quiet(history(positions=[position(9, kind="planned"), position(7)]))


def executed(batch: int, start: int, end: int, **more: Any) -> dict[str, Any]:
    return {"batch": batch, "start_offset": start, "end_offset": end, "owner": "q"} | more


class TestOffsetGap:
    def test_a_gap(self) -> None:
        bad = history(ranges=[executed(1, 0, 5), executed(2, 7, 9)])
        (finding,) = only(bad, "offset-gap").shown
        assert (finding.key["kind"], finding.key["batch"]) == ("gap", 2)
        assert (finding.witness[0]["reached"], finding.witness[0]["start_offset"]) == (5, 7)

    def test_an_overlap_is_compared_with_the_furthest(self) -> None:
        bad = history(ranges=[executed(1, 0, 5), executed(2, 2, 3), executed(3, 5, 6)])
        assert [f.key["kind"] for f in only(bad, "offset-gap").shown] == ["overlap"]

    def test_a_replayed_batch_is_not_assigned_twice(self) -> None:
        replay = [
            executed(1, 0, 5), executed(2, 5, 9, execution="a", committed=False),
            executed(2, 5, 9, execution="b"), executed(3, 9, 9), executed(5, 9, 12),
        ]  # fmt: skip
        quiet(history(ranges=replay))

    def test_owners_and_partitions_are_apart(self) -> None:
        quiet(
            history(
                ranges=[
                    executed(1, 0, 5), executed(2, 7, 9, owner="p"),
                    executed(2, 7, 9, partition=1), executed(2, 7, 9, topic="other"),
                ]
            )
        )  # fmt: skip

    def test_what_was_deleted_may_be_skipped(self) -> None:
        cut = [{"partition": 0, "log_start": 7}]
        quiet(history(ranges=[executed(1, 0, 5), executed(2, 7, 9)], partitions=cut))
        bad = history(ranges=[executed(1, 0, 5), executed(2, 8, 9)], partitions=cut)
        only(bad, "offset-gap")


class TestLiveness:
    @pytest.mark.parametrize("phase", ["warm-up", "heal", "settle"])
    def test_no_progress(self, phase: str) -> None:
        phases = [{"phase": phase, "outcome": "stalled", "detail": "stood still"}]
        bad = history(phases=[*phases, DONE[1]])
        (findings,) = check(bad, [CLAIM]).findings
        assert (findings.anomaly, findings.shown[0].key) == ("no-progress", {"phase": phase})
        assert "stood still" in findings.shown[0].sentence

    def test_a_hanging_transaction(self) -> None:
        hanging = [{"partition": 1, "last_stable_offset": 5, "high_watermark": 9}]
        (findings,) = check(history(partitions=hanging), [CLAIM]).findings
        assert findings.anomaly == "hanging-transaction"
        assert findings.shown[0].key == {"topic": "input", "partition": 1}
        before = [{"phase": "disturb", "outcome": "interrupted"}]
        assert check(history(partitions=hanging, phases=before), [CLAIM]).findings == ()

    def test_all_is_quiet(self) -> None:
        level = [{"partition": 1, "last_stable_offset": 9, "high_watermark": 9}]
        assert check(history(partitions=level), [CLAIM]).findings == ()


def test_every_anomaly_says_what_it_is() -> None:
    for anomaly in anomalies().values():
        assert anomaly.definition.endswith(".")
        assert anomaly.example
        assert anomaly.source
        assert anomaly.key


def test_anomalies_imply_anomalies_and_refute_guarantees_that_there_are() -> None:
    for anomaly in anomalies().values():
        assert set(anomaly.implies) <= anomalies().keys() - {anomaly.name}
        assert {*anomaly.refutes, *anomaly.shown_with, *anomaly.refutes_only_if} <= set(GUARANTEES)
        assert not set(anomaly.refutes) & set(anomaly.shown_with)
        assert anomaly.refutes_only_if.keys() <= set(anomaly.refutes)


def test_many_findings_are_counted_and_the_first_are_shown() -> None:
    many = [{"record": f"r{n:02}", "attempt": f"r{n:02}/1", "offset": n} for n in range(30)]
    bad = found(history(sends=many, log=[]))["lost-write"]
    assert bad.count == 30
    assert records(bad) == [f"r{n:02}" for n in range(20)]


def test_a_witness_is_cut_and_its_length_is_told() -> None:
    effects = [EA | {"position": f"row {n:03}"} for n in range(60)]
    (finding,) = only(history(sends=[A], log=[LOG_A], effects=effects), "duplicate-output").shown
    assert len(finding.witness) == 50
    assert finding.witness[0]["seen"] == 60
