"""Each anomaly of Jepsen's checker in a few operations, and near misses."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.checkers.imports.histories import (
    FINAL_POLLS,
    THREE_SENDS,
    found,
    judged,
    polls,
    send,
)


def test_correct_history_has_no_findings(tmp_path: Path) -> None:
    text = (
        THREE_SENDS
        + polls(1, "", "5 [[0 1] [1 2]]", "5 [[2 3]]")
        + FINAL_POLLS % "5 [[0 1] [1 2] [2 3]]"
    )
    assert found(tmp_path, text) == {}
    verdicts = {c.verdict.value for c in judged(tmp_path, text).claims}
    assert verdicts == {"unexercised"}  # no hazard: no send was in doubt
    text += send(0, 5, 3, 4, "info") + FINAL_POLLS % "5 [[0 1] [1 2] [2 3]]"
    assert {c.verdict.value for c in judged(tmp_path, text).claims} == {"holds"}


class TestLostWrite:
    def test_skipped_by_every_reader_is_lost(self, tmp_path: Path) -> None:
        text = THREE_SENDS + FINAL_POLLS % "5 [[0 1] [2 3]]"
        assert found(tmp_path, text) == {"lost-write": {"5/2"}}
        verdicts = {c.claim.guarantee: c.verdict.value for c in judged(tmp_path, text).claims}
        assert verdicts["at-least-once"] == verdicts["exactly-once"] == "violated"
        assert verdicts["at-most-once"] == "unexercised"

    def test_first_record_can_be_lost(self, tmp_path: Path) -> None:
        assert found(tmp_path, THREE_SENDS + FINAL_POLLS % "5 [[1 2] [2 3]]") == {
            "lost-write": {"5/1"}
        }

    def test_unknown_without_a_reader_that_began_before_it(self, tmp_path: Path) -> None:
        text = THREE_SENDS + polls(1, "5 [[1 2] [2 3]]")
        assert found(tmp_path, text) == {}
        assert {c.verdict.value for c in judged(tmp_path, text).claims} == {"unknown"}

    def test_not_lost_if_any_reader_saw_it(self, tmp_path: Path) -> None:
        text = THREE_SENDS + polls(1, "5 [[1 2]]") + FINAL_POLLS % "5 [[0 1] [2 3]]"
        assert found(tmp_path, text) == {"skipped-read": {"5/2"}, "unseen": {"5/2"}}

    def test_not_lost_if_send_is_in_doubt(self, tmp_path: Path) -> None:
        text = send(0, 5, 0, 1) + send(0, 5, 1, 2, "info") + send(2, 5, 2, 3)
        assert found(tmp_path, text + FINAL_POLLS % "5 [[0 1] [2 3]]") == {}

    def test_lost_if_another_record_proves_its_transaction(self, tmp_path: Path) -> None:
        text = """
        0 invoke send [[:send 5 1] [:send 6 2]]
        0 info send [[:send 5 [0 1]] [:send 6 [0 2]]]
        """ + send(1, 6, 1, 3)
        assert found(tmp_path, text + FINAL_POLLS % "6 [[1 3]]") == {}
        torn = found(tmp_path, text + FINAL_POLLS % "5 [[0 1]], 6 [[1 3]]")
        assert torn["lost-write"] == {"6/2"}
        assert torn["torn-transaction"] == {"op 1"}

    def test_lost_if_its_offset_holds_another_record(self, tmp_path: Path) -> None:
        text = (
            send(0, 5, 0, 1) + send(0, 5, 0, 2) + send(0, 5, 2, 3) + FINAL_POLLS % "5 [[0 2] [2 3]]"
        )
        lost = found(tmp_path, text)
        assert lost["lost-write"] == {"5/1"}
        assert lost["inconsistent-offsets"] == {"0"}

    def test_unknown_if_acknowledged_without_an_offset(self, tmp_path: Path) -> None:
        text = send(0, 5, 0, 1) + send(0, 5, "nil", 2) + FINAL_POLLS % "5 [[0 1]]"
        assert found(tmp_path, text) == {}
        claims = judged(tmp_path, text).claims
        assert {c.verdict.value for c in claims} == {"unknown"}
        assert "1 acknowledged sends have no offset" in claims[0].reason

    def test_not_lost_if_polled_although_acknowledged_without_an_offset(
        self, tmp_path: Path
    ) -> None:
        text = send(0, 5, 0, 1) + send(0, 5, "nil", 2) + FINAL_POLLS % "5 [[0 1] [7 2]]"
        assert found(tmp_path, text) == {}
        assert {c.verdict.value for c in judged(tmp_path, text).claims} == {"unexercised"}


class TestUnseen:
    def test_stalled_reader_leaves_a_record_unseen(self, tmp_path: Path) -> None:
        text = THREE_SENDS + FINAL_POLLS % "5 [[0 1] [1 2]]"
        assert found(tmp_path, text) == {"unseen": {"5/3"}}
        assert {c.verdict.value for c in judged(tmp_path, text).claims} == {"stalled"}

    def test_not_unseen_if_reader_did_not_reach_an_empty_poll(self, tmp_path: Path) -> None:
        text = THREE_SENDS + (FINAL_POLLS % "5 [[0 1] [1 2]]").rsplit("9 invoke", 1)[0]
        assert found(tmp_path, text) == {}
        claims = judged(tmp_path, text).claims
        assert {c.verdict.value for c in claims} == {"unknown"}
        assert "jepsen-5: not read from the beginning to the end" in claims[0].reason


class TestDuplicate:
    def test_polled_at_two_offsets(self, tmp_path: Path) -> None:
        text = THREE_SENDS + FINAL_POLLS % "5 [[0 1] [1 2] [2 3] [3 2]]"
        assert found(tmp_path, text) == {"duplicate": {"5/2"}}

    def test_acknowledged_and_polled_at_different_offsets(self, tmp_path: Path) -> None:
        text = send(0, 5, 1, 1) + send(2, 5, 2, 2, "info") + polls(1, "5 [[2 2] [3 1]]")
        assert found(tmp_path, text)["duplicate"] == {"5/1"}

    def test_polls_of_a_failed_operation_count(self, tmp_path: Path) -> None:
        # Polls of a failed operation count, but its sends do not: record 2 has one copy too many.
        text = (
            send(0, 5, 1, 1)
            + send(0, 5, 2, 2, "fail")
            + polls(1, "5 [[11 1] [12 2]]", outcome="fail")
        )
        assert found(tmp_path, text) == {"duplicate": {"5/1", "5/2"}, "aborted-read": {"5/2"}}

    def test_each_record_polled_at_shared_offsets_is_duplicate(self, tmp_path: Path) -> None:
        text = send(0, 5, 0, 1) + send(2, 5, 0, 2) + polls(1, "5 [[1 1]]") + polls(3, "5 [[1 2]]")
        assert found(tmp_path, text) == {
            "duplicate": {"5/1", "5/2"},
            "inconsistent-offsets": {"0", "1"},
        }
        verdicts = {c.claim.guarantee: c.verdict.value for c in judged(tmp_path, text).claims}
        assert verdicts["at-least-once"] == verdicts["exactly-once"] == "violated"


class TestAbortedRead:
    TEXT = """
    0 invoke txn [[:send 5 1] [:send 6 2]]
    0 fail txn [[:send 5 [0 1]] [:send 6 [0 2]]]
    """

    def test_read_committed_reader_sees_aborted_record(self, tmp_path: Path) -> None:
        text = self.TEXT + FINAL_POLLS % "5 [[0 1]]"
        assert found(tmp_path, text) == {"aborted-read": {"5/1"}}
        verdicts = {c.claim.guarantee: c.verdict.value for c in judged(tmp_path, text).claims}
        assert verdicts["atomic"] == verdicts["exactly-once"] == "violated"

    def test_read_uncommitted_readers_may_see_it(self, tmp_path: Path) -> None:
        text = self.TEXT + FINAL_POLLS % "5 [[0 1]]"
        assert found(tmp_path, text, isolation="read_uncommitted") == {}

    def test_single_failed_send_is_polled(self, tmp_path: Path) -> None:
        text = (
            send(0, 5, 0, 1)
            + """
        0 invoke send [[:send 5 2]]
        0 fail send [[:send 5 2]]
        """
            + FINAL_POLLS % "5 [[0 1] [1 2]]"
        )
        assert found(tmp_path, text) == {"aborted-read": {"5/2"}, "duplicate": {"5/2"}}

    @pytest.mark.parametrize("place", ["2", "[1 2]", "[nil 2]"])
    def test_failed_send_counts_with_any_reported_offset(self, tmp_path: Path, place: str) -> None:
        text = (
            send(0, 5, 0, 1)
            + send(2, 5, 0, 9, "info")
            + f"""
        0 invoke send [[:send 5 2]]
        0 fail send [[:send 5 {place}]]
        """
            + FINAL_POLLS % "5 [[0 1] [1 2]]"
        )
        verdicts = {c.claim.guarantee: c for c in judged(tmp_path, text).claims}
        assert verdicts["exactly-once"].refuted_by == ("aborted-read", "duplicate")
        assert verdicts["at-most-once"].verdict.value == "violated"

    @pytest.mark.parametrize("error", [":timeout", ":not-leader-or-follower", '[:network "x"]'])
    def test_ambiguous_error_does_not_prove_an_abort(self, tmp_path: Path, error: str) -> None:
        text = (
            f"""
        0 invoke send [[:send 5 2]]
        0 fail send [[:send 5 2]] | :error {error}
        """
            + FINAL_POLLS % "5 [[0 2]]"
        )
        assert found(tmp_path, text) == {}


class TestPrecommittedRead:
    def test_transaction_polls_its_own_send(self, tmp_path: Path) -> None:
        text = """
        0 invoke txn [[:send 5 1] [:poll]]
        0 ok txn [[:send 5 [0 1]] [:poll {5 [[0 1]]}]]
        """
        assert found(tmp_path, text) == {"precommitted-read": {"5/1"}}
        assert found(tmp_path, text, transactions=False) == {}
        assert found(tmp_path, text, isolation="read_uncommitted") == {}

    def test_transaction_in_doubt_polls_its_own_send(self, tmp_path: Path) -> None:
        text = """
        0 invoke txn [[:send 5 1] [:poll]]
        0 info txn [[:send 5 [0 1]] [:poll {5 [[0 1]]}]]
        """
        assert found(tmp_path, text) == {"precommitted-read": {"5/1"}}

    def test_polled_before_its_transaction_was_invoked(self, tmp_path: Path) -> None:
        text = (
            polls(1, "5 [[0 1]]")
            + """
        0 invoke txn [[:send 5 1] [:poll]]
        0 ok txn [[:send 5 [0 1]] [:poll {}]]
        """
        )
        assert "precommitted-read" in found(tmp_path, text)

    def test_poll_during_the_transaction_is_fine(self, tmp_path: Path) -> None:
        text = """
        0 invoke txn [[:send 5 1] [:send 5 2]]
        1 invoke poll [[:poll]]
        1 ok poll [[:poll {5 [[0 1] [1 2]]}]]
        0 ok txn [[:send 5 [0 1]] [:send 5 [1 2]]]
        """
        assert found(tmp_path, text) == {}


class TestInconsistentOffsets:
    def test_two_acknowledgements_of_one_offset(self, tmp_path: Path) -> None:
        text = send(379, 11, 537, 641) + send(363, 11, 537, 645)
        assert found(tmp_path, text)["inconsistent-offsets"] == {"537"}

    def test_two_polls_differ_at_one_offset(self, tmp_path: Path) -> None:
        text = THREE_SENDS + polls(1, "5 [[0 1]]") + polls(2, "5 [[0 3]]")
        assert found(tmp_path, text)["inconsistent-offsets"] == {"0"}

    DOUBT = """
    0 invoke send [[:send 5 1] [:send 6 1]]
    0 info send [[:send 5 [0 1]] [:send 6 1]]
    """ + send(1, 5, 0, 2)

    def test_send_in_doubt_does_not_conflict(self, tmp_path: Path) -> None:
        assert found(tmp_path, self.DOUBT) == {}

    def test_send_proven_by_a_poll_conflicts(self, tmp_path: Path) -> None:
        text = self.DOUBT + polls(2, "6 [[5 1]]")
        assert found(tmp_path, text)["inconsistent-offsets"] == {"0"}


class TestPhantom:
    def test_polled_but_never_sent(self, tmp_path: Path) -> None:
        assert found(tmp_path, THREE_SENDS + FINAL_POLLS % "5 [[0 1] [1 2] [2 3] [3 99]]") == {
            "phantom": {"5/99"}
        }

    def test_polled_from_a_key_it_was_not_sent_to(self, tmp_path: Path) -> None:
        text = THREE_SENDS + FINAL_POLLS % "5 [[0 1] [1 2] [2 3]], 6 [[0 3]]"
        assert found(tmp_path, text) == {"phantom": {"6/3"}}

    EARLY = polls(1, "5 [[0 1]]") + send(0, 5, 0, 1) + send(2, 5, 1, 2, "info")

    def test_polled_before_its_send_was_called(self, tmp_path: Path) -> None:
        text = self.EARLY + FINAL_POLLS % "5 [[0 1]]"
        judgement = judged(tmp_path, text)
        verdicts = {c.claim.guarantee: c for c in judgement.claims}
        for guarantee in ("at-most-once", "at-least-once", "exactly-once", "idempotent"):
            assert verdicts[guarantee].refuted_by == ("phantom",)
        assert "5/1 in jepsen-5@0: it was read before any send of it was called" in (
            verdicts["exactly-once"].reason
        )

    @pytest.mark.parametrize("isolation", ["read_committed", "read_uncommitted"])
    def test_found_at_any_isolation(self, tmp_path: Path, isolation: str) -> None:
        assert found(tmp_path, self.EARLY, isolation=isolation) == {"phantom": {"5/1"}}

    def test_poll_during_the_send_is_fine(self, tmp_path: Path) -> None:
        text = "0 invoke send [[:send 5 1]]\n" + polls(1, "5 [[0 1]]")
        assert found(tmp_path, text + "\n0 ok send [[:send 5 [0 1]]]") == {}

    def test_poll_before_a_send_without_invocation_is_fine(self, tmp_path: Path) -> None:
        assert found(tmp_path, polls(1, "5 [[0 1]]") + "\n0 ok send [[:send 5 [0 1]]]") == {}
        text = polls(1, "5 [[0 1]]") + "\n0 ok txn [[:send 5 [0 1]] [:send 5 [1 2]]]"
        assert found(tmp_path, text) == {}


class TestReorderedSend:
    def test_sends_of_one_process(self, tmp_path: Path) -> None:
        text = send(0, 5, 4, 1) + send(0, 5, 3, 2)
        assert found(tmp_path, text) == {"reordered-send": {"5/2"}}

    def test_sends_of_one_operation(self, tmp_path: Path) -> None:
        text = """
        0 invoke send [[:send 5 1] [:send 5 2]]
        0 ok send [[:send 5 [4 1]] [:send 5 [3 2]]]
        """
        assert found(tmp_path, text) == {"reordered-send": {"5/2"}}

    def test_offsets_may_come_from_polls(self, tmp_path: Path) -> None:
        text = (
            """
        0 invoke send [[:send 5 1] [:send 5 2]]
        0 info send [[:send 5 1] [:send 5 2]]
        """
            + FINAL_POLLS % "5 [[3 2] [4 1]]"
        )
        assert found(tmp_path, text) == {"reordered-send": {"5/2"}}

    def test_sends_of_two_processes_have_no_order(self, tmp_path: Path) -> None:
        assert found(tmp_path, send(0, 5, 4, 1) + send(1, 5, 3, 2)) == {}


class TestCycles:
    def test_g0(self, tmp_path: Path) -> None:
        text = """
        0 invoke send [[:send 5 1] [:send 6 1]]
        1 invoke send [[:send 5 2] [:send 6 2]]
        0 ok send [[:send 5 [0 1]] [:send 6 [1 1]]]
        1 ok send [[:send 5 [1 2]] [:send 6 [0 2]]]
        """
        assert set(found(tmp_path, text)) == {"G0"}
        # G0 is reported although atomicity cannot be judged without reads.
        judgement = judged(tmp_path, text)
        assert [group.anomaly for group in judgement.findings] == ["G0"]
        assert {c.verdict.value for c in judgement.claims} == {"unknown"}

    def test_g1c(self, tmp_path: Path) -> None:
        text = """
        0 invoke txn [[:send 5 1] [:poll]]
        1 invoke txn [[:send 6 2] [:poll]]
        0 ok txn [[:send 5 [0 1]] [:poll {6 [[0 2]]}]]
        1 ok txn [[:send 6 [0 2]] [:poll {5 [[0 1]]}]]
        """
        assert set(found(tmp_path, text)) == {"G1c"}
        verdicts = {c.claim.guarantee: c.verdict.value for c in judged(tmp_path, text).claims}
        assert verdicts["atomic"] == "violated"

    def test_cycle_through_write_order_is_g1c_ww(self, tmp_path: Path) -> None:
        text = """
        0 invoke txn [[:send 5 1] [:send 6 3]]
        1 invoke txn [[:poll] [:send 6 2]]
        0 ok txn [[:send 5 [0 1]] [:send 6 [2 3]]]
        1 ok txn [[:poll {5 [[0 1]]}] [:send 6 [1 2]]]
        """
        assert set(found(tmp_path, text)) == {"G1c-ww"}

    def test_cycle_through_process_order_is_g1c_process(self, tmp_path: Path) -> None:
        text = """
        0 invoke txn [[:poll] [:poll]]
        0 ok txn [[:poll {5 [[0 1]]}] [:poll {}]]
        0 invoke txn [[:send 5 1] [:poll]]
        0 ok txn [[:send 5 [0 1]] [:poll {}]]
        """
        assert {"G1c-process", "precommitted-read"} <= set(found(tmp_path, text))


class TestNothingToMutate:
    """If no mutation can be made, violations count but no claim holds."""

    def test_history_with_only_aborted_reads_has_violations_and_unknowns(
        self, tmp_path: Path
    ) -> None:
        text = TestAbortedRead.TEXT + FINAL_POLLS % "5 [[0 1]]"
        claims = {c.claim.guarantee: c for c in judged(tmp_path, text).claims}
        assert claims["exactly-once"].verdict.value == "violated"
        assert claims["atomic"].verdict.value == "violated"
        for guarantee in ("at-least-once", "at-most-once", "idempotent", "ordered"):
            assert claims[guarantee].verdict.value == "unknown", claims[guarantee].reason
        assert "could not show lost-write" in claims["at-least-once"].reason


def test_aborted_transaction_that_is_not_read_has_no_findings(tmp_path: Path) -> None:
    text = (
        """
    0 invoke txn [[:send 5 1] [:poll] [:send 6 1]]
    0 fail txn [[:send 5 [0 1]] [:poll {5 []}] [:send 6 1]]
    """
        + send(0, 5, 2, 2)
        + FINAL_POLLS % "5 [[2 2]]"
    )
    assert found(tmp_path, text) == {}


def test_without_final_polls_violations_count_and_nothing_holds(tmp_path: Path) -> None:
    text = THREE_SENDS + polls(1, "5 [[0 1] [1 2] [2 3]]") + send(0, 5, 3, 4, "info")
    assert {c.verdict.value for c in judged(tmp_path, text).claims} == {"unknown"}
    text = THREE_SENDS + polls(1, "5 [[0 1] [2 3]]")
    verdicts = {c.claim.guarantee: c.verdict.value for c in judged(tmp_path, text).claims}
    assert verdicts["exactly-once"] == "violated"
    assert verdicts["at-most-once"] == "unknown"
