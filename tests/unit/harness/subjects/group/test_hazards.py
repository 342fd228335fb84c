"""What puts a group to the test, read off its logs."""

from __future__ import annotations

from typing import Any

from onceproof.harness.kafka.group_offsets import Commit
from onceproof.harness.subjects.group.hazards import hazards

END = Commit(topic="in", partition=0, offset=2, transactional=False)


def row(topic: str, offset: int, record: str | None, **more: Any) -> dict[str, Any]:
    return {
        "topic": topic, "partition": 0, "offset": offset, "kind": "data", "record": record,
        "committed": True, "producer_id": 7, **more,
    }  # fmt: skip


INPUT = [row("in", 0, "a"), row("in", 1, "b"), row("in", 2, "c")]


def found(*rows: dict[str, Any], commits: tuple[Commit, ...] = (END,)) -> dict[str, str]:
    told = hazards([*INPUT, *rows], topic="in", sink="out", commits=commits)
    return {each["hazard"]: each["detail"] for each in told}


def test_nothing_happened() -> None:
    assert found(row("out", 0, "a"), row("out", 1, "b")) == {}


def test_an_aborted_effect_was_processed_again() -> None:
    again = [row("out", 0, "a", committed=False), row("out", 1, "a"), row("out", 2, "b")]
    assert found(*again) == {
        "replayed-input": (
            "1 inputs have more effects in the log of out than expected, counting aborted ones"
        )
    }


def test_what_was_sent_twice_is_processed_twice() -> None:
    sent = [row("in", 3, "b"), row("out", 0, "a"), row("out", 1, "b"), row("out", 2, "b")]
    assert found(*sent) == {}
    assert "replayed-input" in found(*sent, row("out", 3, "b"))


def _end(offset: int, kind: str = "abort", **more: Any) -> dict[str, Any]:
    return {**row("out", offset, None, **more), "kind": kind}


def test_a_transaction_that_was_aborted_before_its_effects_came() -> None:
    committed = [row("out", 0, "a"), row("out", 1, "b"), _end(2, "commit")]
    others = [row("out", 3, "c", producer_id=8), _end(4, "commit", producer_id=8)]
    assert found(*committed, *others, _end(5)) == {
        "aborted-unwritten": "1 abort markers in out belong to transactions without effects"
    }


def test_effects_that_were_aborted() -> None:
    aborted = [row("out", 0, "a", committed=False), row("out", 1, "b", committed=False), _end(2)]
    again = [row("out", 3, "a"), row("out", 4, "b"), _end(5, "commit")]
    told = found(*again, *aborted)
    assert told["aborted-transaction"] == (
        "2 effects in the log of out belong to aborted transactions"
    )
    assert "aborted-unwritten" not in told


def test_a_position_beyond_an_input_without_effect() -> None:
    assert found(row("out", 0, "b")) == {
        "abandoned-input": (
            "1 inputs below the group's committed offsets have no effect in the log of out"
        )
    }


def test_what_is_not_passed_yet_is_not_abandoned() -> None:
    assert found(row("out", 0, "a"), row("out", 1, "b"), commits=()) == {}
    assert found(commits=()) == {}


def test_positions_that_went_back_were_still_committed() -> None:
    back = Commit(topic="in", partition=0, offset=1, transactional=False)
    assert found(row("out", 0, "a"), commits=(END, back)).keys() == {"abandoned-input"}


def test_other_topics_and_markers_count_for_nothing() -> None:
    other = Commit(topic="else", partition=0, offset=9, transactional=False)
    rows = [row("out", 0, "a"), row("out", 1, "b"), row("else", 0, "a"), row("out", 2, None)]
    assert found(*rows, {**row("in", 3, None), "kind": "abort"}, commits=(END, other)) == {}
