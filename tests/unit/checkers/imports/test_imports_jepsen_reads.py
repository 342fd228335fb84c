"""Skipped and repeated reads in Jepsen histories, and near misses."""

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


class TestSkippedRead:
    def test_between_two_polls(self, tmp_path: Path) -> None:
        text = (
            THREE_SENDS + polls(1, "5 [[0 1]]", "5 [[2 3]]") + FINAL_POLLS % "5 [[0 1] [1 2] [2 3]]"
        )
        assert found(tmp_path, text) == {"skipped-read": {"5/2"}}
        verdicts = {c.claim.guarantee: c.verdict.value for c in judged(tmp_path, text).claims}
        assert verdicts["ordered"] == "violated"

    def test_within_a_poll(self, tmp_path: Path) -> None:
        text = THREE_SENDS + polls(1, "5 [[0 1] [2 3]]") + FINAL_POLLS % "5 [[0 1] [1 2] [2 3]]"
        assert found(tmp_path, text) == {"skipped-read": {"5/2"}}

    def test_offset_gaps_are_not_skipped_records(self, tmp_path: Path) -> None:
        text = send(0, 5, 3, 1) + send(0, 5, 700, 2) + FINAL_POLLS % "5 [[3 1] [700 2]]"
        assert found(tmp_path, text) == {}

    @pytest.mark.parametrize(
        ("between", "skipped"),
        [
            ("1 * assign [5 6]", True),  # keeps its position in 5
            ("1 * assign [6]\n1 * assign [5]", False),
            ("1 * assign [5] | :seek-to-beginning? true", True),  # the beginning holds more records
            ("1 * subscribe [5]", False),
            ("1 invoke crash nil\n1 info crash nil", False),
            ("1 invoke assign [6]\n1 fail assign [6]", True),
        ],
    )
    def test_not_skipped_if_reader_may_have_moved(
        self, tmp_path: Path, between: str, skipped: bool
    ) -> None:
        end = FINAL_POLLS % "5 [[0 1] [1 2] [2 3]]"
        text = f"1 * assign [5]\n{THREE_SENDS}{polls(1, '5 [[0 1]]')}\n{between}\n"
        text += polls(1, "5 [[2 3]]") + end
        assert ("skipped-read" in found(tmp_path, text)) is skipped

    def test_after_subscribe_only_skips_within_one_operation_count(self, tmp_path: Path) -> None:
        end = FINAL_POLLS % "5 [[0 1] [1 2] [2 3]]"
        text = "1 * subscribe [5]\n" + THREE_SENDS + polls(1, "5 [[0 1]]", "5 [[2 3]]") + end
        assert found(tmp_path, text) == {}
        text = "1 * subscribe [5]\n" + THREE_SENDS + polls(1, "5 [[0 1] [2 3]]") + end
        assert found(tmp_path, text) == {"skipped-read": {"5/2"}}

    @pytest.mark.parametrize(
        "log",
        [
            "[{:type :revoked, :keys [5]}]",
            "{:before [], :during [{:keys [5 6]}]}",
            "[{:type :lost}]",
        ],
    )
    def test_not_skipped_during_a_rebalance(self, tmp_path: Path, log: str) -> None:
        text = (
            "1 * subscribe [5]\n"
            + THREE_SENDS
            + f"""
        1 invoke poll [[:poll] [:poll]]
        1 ok poll [[:poll {{5 [[0 1]]}}] [:poll {{5 [[2 3]]}}]] | :rebalance-log {log}
        """
            + FINAL_POLLS % "5 [[0 1] [1 2] [2 3]]"
        )
        assert found(tmp_path, text) == {}
        assert found(tmp_path, text.replace(":rebalance-log", ":other")) == {
            "skipped-read": {"5/2"}
        }

    SENT = send(0, 5, 0, 0) + THREE_SENDS.replace("[2 3]", "[3 3]").replace(
        "[1 2]", "[2 2]"
    ).replace("[0 1]", "[1 1]")

    def test_rereading_a_failed_transaction_is_fine(self, tmp_path: Path) -> None:
        read = (
            polls(1, "5 [[0 0]]")
            + "\n" + polls(1, "5 [[1 1] [2 2]]", outcome="fail")
            + "\n" + polls(1, "5 [[1 1] [2 2]]", "5 [[3 3]]")
        )  # fmt: skip
        assert found(tmp_path, self.SENT + read + FINAL_POLLS % "5 [[0 0] [1 1] [2 2] [3 3]]") == {}

    def test_skipped_if_reader_does_not_rewind_after_failed_transaction(
        self, tmp_path: Path
    ) -> None:
        read = (
            polls(1, "5 [[0 0]]")
            + "\n" + polls(1, "5 [[2 2]]", outcome="fail")  # skips 5/1
            + "\n" + polls(1, "5 [[3 3]]")  # does not rewind
        )  # fmt: skip
        text = self.SENT + read + FINAL_POLLS % "5 [[0 0] [1 1] [2 2] [3 3]]"
        assert found(tmp_path, text) == {"skipped-read": {"5/1", "5/2"}}

    def test_not_skipped_if_failed_poll_has_no_result(self, tmp_path: Path) -> None:
        read = (
            polls(1, "5 [[0 0]]")
            + """
        1 invoke poll [[:poll]]
        1 fail poll [[:poll]]
        """
            + polls(1, "5 [[3 3]]")
        )
        assert found(tmp_path, self.SENT + read + FINAL_POLLS % "5 [[0 0] [1 1] [2 2] [3 3]]") == {}


class TestRepeatedRead:
    def test_between_two_polls(self, tmp_path: Path) -> None:
        text = (
            THREE_SENDS
            + polls(1, "5 [[0 1] [1 2]]", "5 [[1 2] [2 3]]")
            + FINAL_POLLS % "5 [[0 1] [1 2] [2 3]]"
        )
        assert set(found(tmp_path, text)) == {"repeated-read"}

    def test_within_a_poll(self, tmp_path: Path) -> None:
        text = THREE_SENDS + polls(1, "5 [[2 3] [0 1]]") + FINAL_POLLS % "5 [[0 1] [1 2] [2 3]]"
        assert set(found(tmp_path, text)) == {"repeated-read"}

    def test_not_repeated_after_reassignment(self, tmp_path: Path) -> None:
        text = THREE_SENDS + "1 * assign [5]\n" + polls(1, "5 [[0 1] [1 2]]")
        text += "\n1 * assign [6]\n1 * assign [5]\n" + polls(1, "5 [[1 2] [2 3]]")
        assert found(tmp_path, text + FINAL_POLLS % "5 [[0 1] [1 2] [2 3]]") == {}
