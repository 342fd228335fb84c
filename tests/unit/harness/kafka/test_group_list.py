"""Groups and their committed offsets, listed by their coordinators."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from onceproof.harness.kafka import group_list as module
from onceproof.harness.kafka.coordinator import Refused
from onceproof.harness.kafka.group_list import Offsets, groups_at_work, offsets_of_groups

Answers = dict[str, Any]
"""Group → its committed offsets in `orders` by partition, or an error code."""


class Wires:
    """Replaces `Wire`. By address: a broker's groups, its error code, or None if it is down."""

    def __init__(
        self, brokers: dict[str, Answers | int | None], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(module, "Wire", self)
        self.brokers = brokers
        self.closed: list[str] = []

    def __call__(self, address: str) -> Any:
        answers = self.brokers[address]

        def ask(request: Any, **_: Any) -> Any:
            if answers is None:
                raise ConnectionRefusedError(address)
            if isinstance(answers, int):
                return SimpleNamespace(error_code=answers)
            if not hasattr(request, "group_id"):
                listed = [
                    SimpleNamespace(
                        group_id=g, group_state="Empty" if g.startswith("left") else "Stable"
                    )
                    for g in answers
                ]
                return SimpleNamespace(error_code=0, groups=listed)
            return committed(answers[request.group_id])

        return SimpleNamespace(address=address, ask=ask, close=lambda: self.closed.append(address))


def committed(offsets: dict[int, int] | int) -> Any:
    if isinstance(offsets, int):
        return SimpleNamespace(error_code=offsets, topics=[])
    parts = [
        SimpleNamespace(partition_index=p, committed_offset=n, error_code=0)
        for p, n in offsets.items()
    ]
    return SimpleNamespace(error_code=0, topics=[SimpleNamespace(name="orders", partitions=parts)])


def listed_offsets(
    monkeypatch: pytest.MonkeyPatch, brokers: dict[str, Answers | int | None]
) -> list[Offsets]:
    wires = Wires(brokers, monkeypatch)
    found: list[Offsets] = []
    try:
        found.extend(offsets_of_groups(brokers))
    finally:
        assert wires.closed == list(brokers)
    return found


def test_groups_at_work_excludes_empty_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    wires = Wires({"a:1": {"x": {}, "left-empty": {}}, "b:1": None, "c:1": {"y": {}}}, monkeypatch)
    assert groups_at_work(wires.brokers) == ["x", "y"]
    assert wires.closed == ["a:1", "b:1", "c:1"]


def test_offsets_are_collected_from_every_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    found = listed_offsets(
        monkeypatch, {"a:1": {"x": {0: 5, 1: -1}}, "b:1": {}, "c:1": {"y": {}, "z": {2: 0}}}
    )
    assert [(each.group, each.offsets) for each in found] == [
        ("x", {("orders", 0): 5}), ("y", {}), ("z", {("orders", 2): 0})
    ]  # fmt: skip
    assert {each.state for each in found} == {"Stable"}


@pytest.mark.parametrize("error_code", [14, 15, 16])
def test_group_whose_coordinator_moved_is_skipped(
    monkeypatch: pytest.MonkeyPatch, error_code: int
) -> None:
    found = listed_offsets(monkeypatch, {"a:1": {"x": error_code, "y": {0: 1}}})
    assert [each.group for each in found] == ["y"]


def test_unreachable_broker_fails_after_all_others(monkeypatch: pytest.MonkeyPatch) -> None:
    wires = Wires({"a:1": None, "b:1": {"x": {0: 5}}}, monkeypatch)
    asked = offsets_of_groups(wires.brokers)
    assert next(asked).group == "x"
    with pytest.raises(ConnectionRefusedError):
        next(asked)


@pytest.mark.parametrize("broker", [{"x": 30}, 30])
def test_error_code_of_a_broker_is_raised(monkeypatch: pytest.MonkeyPatch, broker: Any) -> None:
    with pytest.raises(Refused, match="GROUP_AUTHORIZATION_FAILED"):
        listed_offsets(monkeypatch, {"a:1": broker})
