"""Every anomaly that Jepsen's own checker knows, in a few operations; and what comes close."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.checkers.imports.histories import END, THREE, found, judged, polls, send


def test_nothing_is_found_in_a_correct_history(tmp_path: Path) -> None:
    text = THREE + polls(1, "", "5 [[0 1] [1 2]]", "5 [[2 3]]") + END % "5 [[0 1] [1 2] [2 3]]"
    assert found(tmp_path, text) == {}
    verdicts = {c.verdict.value for c in judged(tmp_path, text).claims}
    assert verdicts == {"unexercised"}  # nothing was in doubt
    text += send(0, 5, 3, 4, "info") + END % "5 [[0 1] [1 2] [2 3]]"
    assert {c.verdict.value for c in judged(tmp_path, text).claims} == {"holds"}


class TestLostWrite:
    def test_passed_over_and_seen_by_nobody(self, tmp_path: Path) -> None:
        text = THREE + END % "5 [[0 1] [2 3]]"
        assert found(tmp_path, text) == {"lost-write": {"5/2"}}
        verdicts = {c.claim.guarantee: c.verdict.value for c in judged(tmp_path, text).claims}
        assert verdicts["at-least-once"] == verdicts["exactly-once"] == "violated"
        assert verdicts["at-most-once"] == "unexercised"

    def test_the_first_of_all(self, tmp_path: Path) -> None:
        assert found(tmp_path, THREE + END % "5 [[1 2] [2 3]]") == {"lost-write": {"5/1"}}

    def test_not_where_nobody_is_known_to_have_begun_before_it(self, tmp_path: Path) -> None:
        text = THREE + polls(1, "5 [[1 2] [2 3]]")
        assert found(tmp_path, text) == {}
        assert {c.verdict.value for c in judged(tmp_path, text).claims} == {"unknown"}

    def test_not_if_anybody_saw_it(self, tmp_path: Path) -> None:
        text = THREE + polls(1, "5 [[1 2]]") + END % "5 [[0 1] [2 3]]"
        assert found(tmp_path, text) == {"skipped-read": {"5/2"}, "unseen": {"5/2"}}

    def test_not_if_its_outcome_is_unknown(self, tmp_path: Path) -> None:
        text = send(0, 5, 0, 1) + send(0, 5, 1, 2, "info") + send(2, 5, 2, 3)
        assert found(tmp_path, text + END % "5 [[0 1] [2 3]]") == {}

    def test_in_doubt_but_proven_by_another_of_its_records(self, tmp_path: Path) -> None:
        text = """
        0 invoke send [[:send 5 1] [:send 6 2]]
        0 info send [[:send 5 [0 1]] [:send 6 [0 2]]]
        """ + send(1, 6, 1, 3)
        assert found(tmp_path, text + END % "6 [[1 3]]") == {}
        torn = found(tmp_path, text + END % "5 [[0 1]], 6 [[1 3]]")
        assert torn["lost-write"] == {"6/2"}
        assert torn["torn-transaction"] == {"op 1"}

    def test_its_position_was_given_to_another(self, tmp_path: Path) -> None:
        text = send(0, 5, 0, 1) + send(0, 5, 0, 2) + send(0, 5, 2, 3) + END % "5 [[0 2] [2 3]]"
        lost = found(tmp_path, text)
        assert lost["lost-write"] == {"5/1"}
        assert lost["inconsistent-offsets"] == {"0"}

    def test_without_an_offset_nobody_knows(self, tmp_path: Path) -> None:
        text = send(0, 5, 0, 1) + send(0, 5, "nil", 2) + END % "5 [[0 1]]"
        assert found(tmp_path, text) == {}
        claims = judged(tmp_path, text).claims
        assert {c.verdict.value for c in claims} == {"unknown"}
        assert "1 acknowledged sends have no offset" in claims[0].reason

    def test_without_an_offset_but_polled(self, tmp_path: Path) -> None:
        text = send(0, 5, 0, 1) + send(0, 5, "nil", 2) + END % "5 [[0 1] [7 2]]"
        assert found(tmp_path, text) == {}
        assert {c.verdict.value for c in judged(tmp_path, text).claims} == {"unexercised"}


class TestUnseen:
    def test_a_reader_stands_still_before_it(self, tmp_path: Path) -> None:
        text = THREE + END % "5 [[0 1] [1 2]]"
        assert found(tmp_path, text) == {"unseen": {"5/3"}}
        assert {c.verdict.value for c in judged(tmp_path, text).claims} == {"stalled"}

    def test_not_if_it_was_still_reading(self, tmp_path: Path) -> None:
        text = THREE + (END % "5 [[0 1] [1 2]]").rsplit("9 invoke", 1)[0]
        assert found(tmp_path, text) == {}
        claims = judged(tmp_path, text).claims
        assert {c.verdict.value for c in claims} == {"unknown"}
        assert "jepsen-5: not read from the beginning to the end" in claims[0].reason


class TestDuplicate:
    def test_polled_at_two_positions(self, tmp_path: Path) -> None:
        text = THREE + END % "5 [[0 1] [1 2] [2 3] [3 2]]"
        assert found(tmp_path, text) == {"duplicate": {"5/2"}}

    def test_acknowledged_at_one_and_polled_at_another(self, tmp_path: Path) -> None:
        text = send(0, 5, 1, 1) + send(2, 5, 2, 2, "info") + polls(1, "5 [[2 2] [3 1]]")
        assert found(tmp_path, text)["duplicate"] == {"5/1"}

    def test_also_in_a_transaction_that_failed(self, tmp_path: Path) -> None:
        # What an operation polled is true. What it sent did not happen, so 2 is once too often.
        text = (
            send(0, 5, 1, 1)
            + send(0, 5, 2, 2, "fail")
            + polls(1, "5 [[11 1] [12 2]]", outcome="fail")
        )
        assert found(tmp_path, text) == {"duplicate": {"5/1", "5/2"}, "aborted-read": {"5/2"}}

    def test_each_of_several_records_at_the_same_positions(self, tmp_path: Path) -> None:
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

    def test_a_committed_reader_saw_it(self, tmp_path: Path) -> None:
        text = self.TEXT + END % "5 [[0 1]]"
        assert found(tmp_path, text) == {"aborted-read": {"5/1"}}
        verdicts = {c.claim.guarantee: c.verdict.value for c in judged(tmp_path, text).claims}
        assert verdicts["atomic"] == verdicts["exactly-once"] == "violated"

    def test_not_if_readers_see_uncommitted_records(self, tmp_path: Path) -> None:
        text = self.TEXT + END % "5 [[0 1]]"
        assert found(tmp_path, text, isolation="read_uncommitted") == {}

    def test_a_single_send_that_failed(self, tmp_path: Path) -> None:
        text = (
            send(0, 5, 0, 1)
            + """
        0 invoke send [[:send 5 2]]
        0 fail send [[:send 5 2]]
        """
            + END % "5 [[0 1] [1 2]]"
        )
        assert found(tmp_path, text) == {"aborted-read": {"5/2"}, "duplicate": {"5/2"}}

    @pytest.mark.parametrize("place", ["2", "[1 2]", "[nil 2]"])
    def test_a_send_that_failed_whatever_offset_it_was_told(
        self, tmp_path: Path, place: str
    ) -> None:
        text = (
            send(0, 5, 0, 1)
            + send(2, 5, 0, 9, "info")
            + f"""
        0 invoke send [[:send 5 2]]
        0 fail send [[:send 5 {place}]]
        """
            + END % "5 [[0 1] [1 2]]"
        )
        verdicts = {c.claim.guarantee: c for c in judged(tmp_path, text).claims}
        assert verdicts["exactly-once"].refuted_by == ("aborted-read", "duplicate")
        assert verdicts["at-most-once"].verdict.value == "violated"

    @pytest.mark.parametrize("error", [":timeout", ":not-leader-or-follower", '[:network "x"]'])
    def test_not_if_the_error_is_not_certain(self, tmp_path: Path, error: str) -> None:
        text = (
            f"""
        0 invoke send [[:send 5 2]]
        0 fail send [[:send 5 2]] | :error {error}
        """
            + END % "5 [[0 2]]"
        )
        assert found(tmp_path, text) == {}


class TestPrecommittedRead:
    def test_its_own_send(self, tmp_path: Path) -> None:
        text = """
        0 invoke txn [[:send 5 1] [:poll]]
        0 ok txn [[:send 5 [0 1]] [:poll {5 [[0 1]]}]]
        """
        assert found(tmp_path, text) == {"precommitted-read": {"5/1"}}
        assert found(tmp_path, text, transactions=False) == {}
        assert found(tmp_path, text, isolation="read_uncommitted") == {}

    def test_also_in_doubt(self, tmp_path: Path) -> None:
        text = """
        0 invoke txn [[:send 5 1] [:poll]]
        0 info txn [[:send 5 [0 1]] [:poll {5 [[0 1]]}]]
        """
        assert found(tmp_path, text) == {"precommitted-read": {"5/1"}}

    def test_polled_before_it_was_even_sent(self, tmp_path: Path) -> None:
        text = (
            polls(1, "5 [[0 1]]")
            + """
        0 invoke txn [[:send 5 1] [:poll]]
        0 ok txn [[:send 5 [0 1]] [:poll {}]]
        """
        )
        assert "precommitted-read" in found(tmp_path, text)

    def test_not_while_it_may_have_been_committed(self, tmp_path: Path) -> None:
        text = """
        0 invoke txn [[:send 5 1] [:send 5 2]]
        1 invoke poll [[:poll]]
        1 ok poll [[:poll {5 [[0 1] [1 2]]}]]
        0 ok txn [[:send 5 [0 1]] [:send 5 [1 2]]]
        """
        assert found(tmp_path, text) == {}


class TestInconsistentOffsets:
    def test_two_acknowledgements(self, tmp_path: Path) -> None:
        text = send(379, 11, 537, 641) + send(363, 11, 537, 645)
        assert found(tmp_path, text)["inconsistent-offsets"] == {"537"}

    def test_two_polls(self, tmp_path: Path) -> None:
        text = THREE + polls(1, "5 [[0 1]]") + polls(2, "5 [[0 3]]")
        assert found(tmp_path, text)["inconsistent-offsets"] == {"0"}

    DOUBT = """
    0 invoke send [[:send 5 1] [:send 6 1]]
    0 info send [[:send 5 [0 1]] [:send 6 1]]
    """ + send(1, 5, 0, 2)

    def test_not_with_what_may_not_have_happened(self, tmp_path: Path) -> None:
        assert found(tmp_path, self.DOUBT) == {}

    def test_but_with_what_a_poll_proves(self, tmp_path: Path) -> None:
        text = self.DOUBT + polls(2, "6 [[5 1]]")
        assert found(tmp_path, text)["inconsistent-offsets"] == {"0"}


class TestPhantom:
    def test_polled_and_sent_by_nobody(self, tmp_path: Path) -> None:
        assert found(tmp_path, THREE + END % "5 [[0 1] [1 2] [2 3] [3 99]]") == {
            "phantom": {"5/99"}
        }

    def test_sent_to_another_key(self, tmp_path: Path) -> None:
        text = THREE + END % "5 [[0 1] [1 2] [2 3]], 6 [[0 3]]"
        assert found(tmp_path, text) == {"phantom": {"6/3"}}

    EARLY = polls(1, "5 [[0 1]]") + send(0, 5, 0, 1) + send(2, 5, 1, 2, "info")

    def test_polled_before_its_send_was_called(self, tmp_path: Path) -> None:
        text = self.EARLY + END % "5 [[0 1]]"
        judgement = judged(tmp_path, text)
        verdicts = {c.claim.guarantee: c for c in judgement.claims}
        for guarantee in ("at-most-once", "at-least-once", "exactly-once", "idempotent"):
            assert verdicts[guarantee].refuted_by == ("phantom",)
        assert "5/1 in jepsen-5@0: it was read before any send of it was called" in (
            verdicts["exactly-once"].reason
        )

    @pytest.mark.parametrize("isolation", ["read_committed", "read_uncommitted"])
    def test_whatever_the_isolation(self, tmp_path: Path, isolation: str) -> None:
        assert found(tmp_path, self.EARLY, isolation=isolation) == {"phantom": {"5/1"}}

    def test_not_while_its_send_was_under_way(self, tmp_path: Path) -> None:
        text = "0 invoke send [[:send 5 1]]\n" + polls(1, "5 [[0 1]]")
        assert found(tmp_path, text + "\n0 ok send [[:send 5 [0 1]]]") == {}

    def test_not_where_nobody_knows_when_it_was_called(self, tmp_path: Path) -> None:
        assert found(tmp_path, polls(1, "5 [[0 1]]") + "\n0 ok send [[:send 5 [0 1]]]") == {}
        text = polls(1, "5 [[0 1]]") + "\n0 ok txn [[:send 5 [0 1]] [:send 5 [1 2]]]"
        assert found(tmp_path, text) == {}


class TestReorderedSend:
    def test_two_sends_of_one_process(self, tmp_path: Path) -> None:
        text = send(0, 5, 4, 1) + send(0, 5, 3, 2)
        assert found(tmp_path, text) == {"reordered-send": {"5/2"}}

    def test_two_sends_of_one_operation(self, tmp_path: Path) -> None:
        text = """
        0 invoke send [[:send 5 1] [:send 5 2]]
        0 ok send [[:send 5 [4 1]] [:send 5 [3 2]]]
        """
        assert found(tmp_path, text) == {"reordered-send": {"5/2"}}

    def test_by_what_polls_say(self, tmp_path: Path) -> None:
        text = (
            """
        0 invoke send [[:send 5 1] [:send 5 2]]
        0 info send [[:send 5 1] [:send 5 2]]
        """
            + END % "5 [[3 2] [4 1]]"
        )
        assert found(tmp_path, text) == {"reordered-send": {"5/2"}}

    def test_not_of_two_processes(self, tmp_path: Path) -> None:
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
        # It is told, although nothing was read and so nobody can say that all is atomic.
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

    def test_with_the_order_of_writes_it_is_legal(self, tmp_path: Path) -> None:
        text = """
        0 invoke txn [[:send 5 1] [:send 6 3]]
        1 invoke txn [[:poll] [:send 6 2]]
        0 ok txn [[:send 5 [0 1]] [:send 6 [2 3]]]
        1 ok txn [[:poll {5 [[0 1]]}] [:send 6 [1 2]]]
        """
        assert set(found(tmp_path, text)) == {"G1c-ww"}

    def test_with_the_order_of_a_process(self, tmp_path: Path) -> None:
        text = """
        0 invoke txn [[:poll] [:poll]]
        0 ok txn [[:poll {5 [[0 1]]}] [:poll {}]]
        0 invoke txn [[:send 5 1] [:poll]]
        0 ok txn [[:send 5 [0 1]] [:poll {}]]
        """
        assert {"G1c-process", "precommitted-read"} <= set(found(tmp_path, text))


class TestNothingToMutate:
    """Where a mutation has no place, what was found counts, and nothing holds."""

    def test_only_what_failed_was_read(self, tmp_path: Path) -> None:
        text = TestAbortedRead.TEXT + END % "5 [[0 1]]"
        claims = {c.claim.guarantee: c for c in judged(tmp_path, text).claims}
        assert claims["exactly-once"].verdict.value == "violated"
        assert claims["atomic"].verdict.value == "violated"
        for guarantee in ("at-least-once", "at-most-once", "idempotent", "ordered"):
            assert claims[guarantee].verdict.value == "unknown", claims[guarantee].reason
        assert "could not show lost-write" in claims["at-least-once"].reason


def test_an_aborted_transaction_leaves_nothing(tmp_path: Path) -> None:
    text = (
        """
    0 invoke txn [[:send 5 1] [:poll] [:send 6 1]]
    0 fail txn [[:send 5 [0 1]] [:poll {5 []}] [:send 6 1]]
    """
        + send(0, 5, 2, 2)
        + END % "5 [[2 2]]"
    )
    assert found(tmp_path, text) == {}


def test_without_final_polls_what_was_found_counts_and_nothing_holds(tmp_path: Path) -> None:
    text = THREE + polls(1, "5 [[0 1] [1 2] [2 3]]") + send(0, 5, 3, 4, "info")
    assert {c.verdict.value for c in judged(tmp_path, text).claims} == {"unknown"}
    text = THREE + polls(1, "5 [[0 1] [2 3]]")
    verdicts = {c.claim.guarantee: c.verdict.value for c in judged(tmp_path, text).claims}
    assert verdicts["exactly-once"] == "violated"
    assert verdicts["at-most-once"] == "unknown"
