"""Every anomaly that Jepsen's own checker knows, in a few operations; and what comes close."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.checkers.imports.histories import found, judged

END = """
9 * assign [5 6] | :seek-to-beginning? true
9 invoke poll [[:poll]]
9 ok poll [[:poll {%s}]]
9 invoke poll [[:poll]]
9 ok poll [[:poll {}]]
"""
"""Final polls, with what they return."""


def send(process: int, key: int, offset: object, value: int, outcome: str = "ok") -> str:
    """One send and what became of it."""
    pair = value if outcome == "info" else f"[{offset} {value}]"
    return f"""
    {process} invoke send [[:send {key} {value}]]
    {process} {outcome} send [[:send {key} {pair}]]
    """


def polls(process: int, *returned: str, outcome: str = "ok") -> str:
    """Polls and what they return."""
    return "\n".join(
        f"{process} invoke poll [[:poll]]\n{process} {outcome} poll [[:poll {{{records}}}]]"
        for records in returned
    )


THREE = send(0, 5, 0, 1) + send(0, 5, 1, 2) + send(0, 5, 2, 3)


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
        # What a transaction polled is true, what it sent did not happen: 2 is at 12 only.
        text = (
            send(0, 5, 1, 1)
            + send(0, 5, 2, 2, "fail")
            + polls(1, "5 [[11 1] [12 2]]", outcome="fail")
        )
        assert found(tmp_path, text)["duplicate"] == {"5/1"}


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


class TestSkippedRead:
    def test_between_two_polls(self, tmp_path: Path) -> None:
        text = THREE + polls(1, "5 [[0 1]]", "5 [[2 3]]") + END % "5 [[0 1] [1 2] [2 3]]"
        assert found(tmp_path, text) == {"skipped-read": {"5/2"}}
        verdicts = {c.claim.guarantee: c.verdict.value for c in judged(tmp_path, text).claims}
        assert verdicts["ordered"] == "violated"

    def test_within_a_poll(self, tmp_path: Path) -> None:
        text = THREE + polls(1, "5 [[0 1] [2 3]]") + END % "5 [[0 1] [1 2] [2 3]]"
        assert found(tmp_path, text) == {"skipped-read": {"5/2"}}

    def test_gaps_are_no_records(self, tmp_path: Path) -> None:
        text = send(0, 5, 3, 1) + send(0, 5, 700, 2) + END % "5 [[3 1] [700 2]]"
        assert found(tmp_path, text) == {}

    @pytest.mark.parametrize(
        ("between", "skipped"),
        [
            ("1 * assign [5 6]", True),  # keeps its position in 5
            ("1 * assign [6]\n1 * assign [5]", False),
            ("1 * assign [5] | :seek-to-beginning? true", True),  # at the beginning there is more
            ("1 * subscribe [5]", False),
            ("1 invoke crash nil\n1 info crash nil", False),
            ("1 invoke assign [6]\n1 fail assign [6]", True),
        ],
    )
    def test_unless_the_reader_may_have_been_moved(
        self, tmp_path: Path, between: str, skipped: bool
    ) -> None:
        end = END % "5 [[0 1] [1 2] [2 3]]"
        text = f"1 * assign [5]\n{THREE}{polls(1, '5 [[0 1]]')}\n{between}\n"
        text += polls(1, "5 [[2 3]]") + end
        assert ("skipped-read" in found(tmp_path, text)) is skipped

    def test_after_subscribing_within_one_operation_only(self, tmp_path: Path) -> None:
        end = END % "5 [[0 1] [1 2] [2 3]]"
        text = "1 * subscribe [5]\n" + THREE + polls(1, "5 [[0 1]]", "5 [[2 3]]") + end
        assert found(tmp_path, text) == {}
        text = "1 * subscribe [5]\n" + THREE + polls(1, "5 [[0 1] [2 3]]") + end
        assert found(tmp_path, text) == {"skipped-read": {"5/2"}}

    @pytest.mark.parametrize(
        "log",
        [
            "[{:type :revoked, :keys [5]}]",
            "{:before [], :during [{:keys [5 6]}]}",
            "[{:type :lost}]",
        ],
    )
    def test_not_while_partitions_moved(self, tmp_path: Path, log: str) -> None:
        text = (
            "1 * subscribe [5]\n"
            + THREE
            + f"""
        1 invoke poll [[:poll] [:poll]]
        1 ok poll [[:poll {{5 [[0 1]]}}] [:poll {{5 [[2 3]]}}]] | :rebalance-log {log}
        """
            + END % "5 [[0 1] [1 2] [2 3]]"
        )
        assert found(tmp_path, text) == {}
        assert found(tmp_path, text.replace(":rebalance-log", ":other")) == {
            "skipped-read": {"5/2"}
        }

    SENT = send(0, 5, 0, 0) + THREE.replace("[2 3]", "[3 3]").replace("[1 2]", "[2 2]").replace(
        "[0 1]", "[1 1]"
    )

    def test_a_transaction_that_did_not_commit_is_read_again(self, tmp_path: Path) -> None:
        read = (
            polls(1, "5 [[0 0]]")
            + "\n" + polls(1, "5 [[1 1] [2 2]]", outcome="fail")
            + "\n" + polls(1, "5 [[1 1] [2 2]]", "5 [[3 3]]")
        )  # fmt: skip
        assert found(tmp_path, self.SENT + read + END % "5 [[0 0] [1 1] [2 2] [3 3]]") == {}

    def test_one_that_did_not_put_its_reader_back(self, tmp_path: Path) -> None:
        read = (
            polls(1, "5 [[0 0]]")
            + "\n" + polls(1, "5 [[2 2]]", outcome="fail")  # begins too late
            + "\n" + polls(1, "5 [[3 3]]")  # does not begin again
        )  # fmt: skip
        text = self.SENT + read + END % "5 [[0 0] [1 1] [2 2] [3 3]]"
        assert found(tmp_path, text) == {"skipped-read": {"5/1", "5/2"}}

    def test_unless_nobody_knows_what_it_polled(self, tmp_path: Path) -> None:
        read = (
            polls(1, "5 [[0 0]]")
            + """
        1 invoke poll [[:poll]]
        1 fail poll [[:poll]]
        """
            + polls(1, "5 [[3 3]]")
        )
        assert found(tmp_path, self.SENT + read + END % "5 [[0 0] [1 1] [2 2] [3 3]]") == {}


class TestRepeatedRead:
    def test_between_two_polls(self, tmp_path: Path) -> None:
        text = (
            THREE + polls(1, "5 [[0 1] [1 2]]", "5 [[1 2] [2 3]]") + END % "5 [[0 1] [1 2] [2 3]]"
        )
        assert set(found(tmp_path, text)) == {"repeated-read"}

    def test_within_a_poll(self, tmp_path: Path) -> None:
        text = THREE + polls(1, "5 [[2 3] [0 1]]") + END % "5 [[0 1] [1 2] [2 3]]"
        assert set(found(tmp_path, text)) == {"repeated-read"}

    def test_not_after_another_assignment(self, tmp_path: Path) -> None:
        text = THREE + "1 * assign [5]\n" + polls(1, "5 [[0 1] [1 2]]")
        text += "\n1 * assign [6]\n1 * assign [5]\n" + polls(1, "5 [[1 2] [2 3]]")
        assert found(tmp_path, text + END % "5 [[0 1] [1 2] [2 3]]") == {}


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
