"""What readers of a Jepsen history skipped or read again; and what only looks like it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.checkers.imports.histories import END, THREE, found, judged, polls, send


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
