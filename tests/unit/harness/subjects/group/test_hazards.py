"""Hazards of a consumer group, found in the logs of its topics."""

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
    listed = hazards([*INPUT, *rows], topic="in", sink="out", commits=commits)
    return {each["hazard"]: each["detail"] for each in listed}


def test_undisturbed_run_has_no_hazards() -> None:
    assert found(row("out", 0, "a"), row("out", 1, "b")) == {}


def test_effect_repeated_after_an_abort_is_a_replayed_input() -> None:
    again = [row("out", 0, "a", committed=False), row("out", 1, "a"), row("out", 2, "b")]
    assert found(*again) == {
        "replayed-input": (
            "1 inputs have more effects in the log of out than expected, counting aborted ones"
        )
    }


def test_input_sent_twice_may_have_two_effects() -> None:
    sent = [row("in", 3, "b"), row("out", 0, "a"), row("out", 1, "b"), row("out", 2, "b")]
    assert found(*sent) == {}
    assert "replayed-input" in found(*sent, row("out", 3, "b"))


def _end(offset: int, kind: str = "abort", **more: Any) -> dict[str, Any]:
    return {**row("out", offset, None, **more), "kind": kind}


def test_abort_marker_without_effects_is_aborted_unwritten() -> None:
    committed = [row("out", 0, "a"), row("out", 1, "b"), _end(2, "commit")]
    others = [row("out", 3, "c", producer_id=8), _end(4, "commit", producer_id=8)]
    assert found(*committed, *others, _end(5)) == {
        "aborted-unwritten": "1 abort markers in out belong to transactions without effects"
    }


def test_aborted_effects_show_an_aborted_transaction() -> None:
    aborted = [row("out", 0, "a", committed=False), row("out", 1, "b", committed=False), _end(2)]
    again = [row("out", 3, "a"), row("out", 4, "b"), _end(5, "commit")]
    hazards_found = found(*again, *aborted)
    assert hazards_found["aborted-transaction"] == (
        "2 effects in the log of out belong to aborted transactions"
    )
    assert "aborted-unwritten" not in hazards_found


def test_committed_input_without_effect_is_abandoned() -> None:
    assert found(row("out", 0, "b")) == {
        "abandoned-input": (
            "1 inputs below the group's committed offsets have no effect in the log of out"
        )
    }


def test_uncommitted_input_is_not_abandoned() -> None:
    assert found(row("out", 0, "a"), row("out", 1, "b"), commits=()) == {}
    assert found(commits=()) == {}


def test_highest_committed_offset_counts_after_a_rewind() -> None:
    back = Commit(topic="in", partition=0, offset=1, transactional=False)
    assert found(row("out", 0, "a"), commits=(END, back)).keys() == {"abandoned-input"}


def test_other_topics_and_markers_are_ignored() -> None:
    other = Commit(topic="else", partition=0, offset=9, transactional=False)
    rows = [row("out", 0, "a"), row("out", 1, "b"), row("else", 0, "a"), row("out", 2, None)]
    assert found(*rows, {**row("in", 3, None), "kind": "abort"}, commits=(END, other)) == {}
