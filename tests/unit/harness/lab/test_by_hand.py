"""What is done to a lab by hand, with faults and a context that are made up."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from onceproof.harness.context.run_context import Collected
from onceproof.harness.history.writer import HistoryNotWritten
from onceproof.harness.lab.by_hand import ByHand, Ending, NoSuchFault, NotOffered
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.schedule.fault_execution import FaultExecution
from onceproof.harness.wait import Interrupted, wait_until
from tests.unit.harness.made_up import Fault, World, fail, world_in


class Kept:
    """A lab that is kept up on a thread of its own."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.noted: list[str] = []
        self.ended_with: BaseException | None = None
        self.up = threading.Event()
        self.lab = ByHand(
            world.context,
            offered=frozenset({"kill"}),
            opened=lambda lab: self.up.set(),
            noted=lambda line: self.noted.append(line.at.name),
        )
        self.thread = threading.Thread(target=self._keep)
        self.thread.start()
        assert self.up.wait(60)

    def _keep(self) -> None:
        try:
            self.lab.carry_out()
        except BaseException as error:
            self.ended_with = error

    def over(self) -> None:
        self.thread.join(60)
        assert not self.thread.is_alive()


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Kept]:
    kept = Kept(world_in(tmp_path))
    yield kept
    with suppress(Ending):
        kept.lab.end(judge=False)
    kept.over()


class NeedsKill(Fault):
    needs = "kill"


class NeedsLinks(Fault):
    needs = "links"


def took_effect(line: FaultExecution) -> None:
    wait_until(
        lambda: line.state == "took effect",
        what="it to take effect",
        seconds=60,
        seen=lambda: line.state,
    )


def test_a_fault_acts_at_once_and_stays_until_it_is_healed(kept: Kept) -> None:
    fault = Fault(name="hit-1")
    line = kept.lab.begin("hit", fault)
    took_effect(line)
    assert fault.story == ["inject hit-1"]
    assert kept.noted == ["hit-1"]
    assert kept.lab.heal("hit-1") is line
    assert fault.story == ["inject hit-1", "heal hit-1"]
    assert line.state == "healed"
    row = kept.world.rows()["hit-1"]
    assert (row["took_effect"], row["evidence"], row["required"]) == (True, "it bled", False)
    assert row["injected_at"] <= row["healed_at"]


def test_faults_are_numbered_by_their_kind(kept: Kept) -> None:
    names = [
        kept.lab.begin(kind, Fault(name=name)).at.name
        for kind, name in [("a", "a-1"), ("b", "b-1"), ("a", "a-2"), ("a-b", "a-b-1")]
    ]
    assert names == ["a-1", "b-1", "a-2", "a-b-1"]


def test_what_does_not_bite_can_be_healed_all_the_same(kept: Kept) -> None:
    line = kept.lab.begin("hit", Fault(name="hit-1", evidence=lambda: None))
    assert line.state == "injected"
    kept.lab.heal("hit-1")
    assert line.state == "healed"
    assert kept.world.rows()["hit-1"]["took_effect"] is False


def test_all_are_healed(kept: Kept) -> None:
    lines = [kept.lab.begin("hit", Fault(name=f"hit-{n}")) for n in (1, 2, 3)]
    assert kept.lab.heal_all() == lines[::-1]
    assert {line.state for line in lines} == {"healed"}
    assert kept.lab.heal_all() == []


def test_what_cannot_act_is_told_and_recorded(kept: Kept) -> None:
    line = kept.lab.begin("hit", Fault(name="hit-1", on_inject=fail(RuntimeError("no leader"))))
    assert (line.state, line.detail) == ("failed", "RuntimeError: no leader")
    assert kept.world.rows()["hit-1"]["error"] == "RuntimeError: no leader"


@pytest.mark.parametrize("name", ["hit-1", "hit-2", ""])
def test_only_what_is_at_work_can_be_healed(kept: Kept, name: str) -> None:
    kept.lab.begin("hit", Fault(name="hit-1"))
    kept.lab.heal("hit-1")
    kept.lab.begin("other", Fault(name="other-1"))
    with pytest.raises(NoSuchFault, match=f"no active fault «{name}»; active: other-1"):
        kept.lab.heal(name)


def healed_by(tries: int) -> Callable[[], None]:
    """A way to heal that comes to nothing until it has been tried so often."""
    left = iter(range(tries - 1))

    def heal() -> None:
        for n in left:
            raise StageTrouble(f"still cut after {n + 1}")

    return heal


def test_what_failed_to_heal_can_be_tried_again(kept: Kept) -> None:
    fault = Fault(name="hit-1", on_heal=healed_by(3))
    line = kept.lab.begin("hit", fault)
    took_effect(line)
    kept.lab.heal("hit-1")
    assert (line.state, line.detail) == ("failed", "not healed: StageTrouble: still cut after 1")
    assert kept.lab.heal_all() == [line]
    assert (line.state, line.detail) == ("failed", "not healed: StageTrouble: still cut after 2")
    assert kept.world.rows()["hit-1"]["healed_at"] is None
    kept.lab.heal("hit-1")
    assert line.state == "healed"
    assert fault.story == ["inject hit-1"] + 3 * ["heal hit-1"]
    assert kept.world.states("hit-1") == [
        "due",
        "injected",
        "took effect",
        "failed",
        "failed",
        "healed",
    ]
    row = kept.world.rows()["hit-1"]
    assert row["error"] == (
        "not healed: StageTrouble: still cut after 1; not healed: StageTrouble: still cut after 2"
    )
    assert row["healed_at"] is not None
    with pytest.raises(NoSuchFault):
        kept.lab.heal("hit-1")


def test_a_try_to_heal_is_shared_by_all_who_ask_meanwhile(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, joined = threading.Event(), threading.Event()

    def heal() -> None:
        if fault.story.count("heal hit-1") == 1:
            raise StageTrouble("still cut")
        begun.set()
        assert joined.wait(20)

    fault = Fault(name="hit-1", on_heal=heal)
    line = kept.lab.begin("hit", fault)
    kept.lab.heal("hit-1")
    monkeypatch.setattr(line, "end", joined.set)  # what is asked of a fault that is under way
    first = threading.Thread(target=kept.lab.heal, args=("hit-1",))
    first.start()
    assert begun.wait(20)
    assert kept.lab.heal("hit-1") is line
    first.join(20)
    assert line.state == "healed"
    assert fault.story == ["inject hit-1", "heal hit-1", "heal hit-1"]


def test_what_failed_to_heal_is_tried_again_at_the_end(kept: Kept) -> None:
    line = kept.lab.begin("hit", Fault(name="hit-1", on_heal=healed_by(2)))
    kept.lab.heal("hit-1")
    kept.lab.end(judge=True)
    kept.over()
    assert kept.ended_with is None
    assert line.state == "healed"


def test_what_never_acted_needs_no_healing(kept: Kept) -> None:
    kept.lab.begin("hit", Fault(name="hit-1", on_inject=fail(RuntimeError("no leader"))))
    assert kept.lab.heal_all() == []


def test_a_history_that_cannot_be_written_while_healing_ends_it(kept: Kept) -> None:
    full = HistoryNotWritten("no space left")
    took_effect(kept.lab.begin("hit", Fault(name="hit-1", on_heal=fail(full))))
    with pytest.raises(Interrupted):
        kept.lab.heal("hit-1")
    kept.over()
    assert isinstance(kept.ended_with, HistoryNotWritten | Interrupted)


def test_many_ask_at_once_and_each_fault_has_its_own_name(kept: Kept) -> None:
    lines: list[FaultExecution] = []
    ready = threading.Barrier(8)

    def ask() -> None:
        ready.wait(20)
        lines.append(kept.lab.begin("hit", Fault(name="hit")))

    many = [threading.Thread(target=ask) for _ in range(8)]
    for one in many:
        one.start()
    for one in many:
        one.join(20)
    names = {f"hit-{n}" for n in range(1, 9)}
    assert {line.at.name for line in lines} == set(kept.noted) == names
    assert {line.at.name for line in kept.lab.heal_all()} == names


@pytest.mark.parametrize("judge", [True, False])
def test_when_it_ends_nothing_begins_and_it_does_not_end_twice(kept: Kept, judge: bool) -> None:
    kept.lab.end(judge=judge)
    with pytest.raises(Ending, match="with a verdict" if judge else "without a verdict"):
        kept.lab.begin("hit", Fault(name="hit-1"))
    with pytest.raises(Ending):
        kept.lab.end(judge=not judge)
    kept.over()
    assert isinstance(kept.ended_with, type(None) if judge else Interrupted)
    assert kept.noted == []


def test_what_is_not_offered_does_not_begin(kept: Kept) -> None:
    kept.lab.begin("hit", NeedsKill(name="hit"))
    with pytest.raises(
        NotOffered, match="cut needs «links», which this lab does not offer; it offers kill"
    ):
        kept.lab.begin("cut", NeedsLinks(name="cut"))
    assert kept.noted == ["hit-1"]


def test_at_its_end_it_heals_and_sends_nothing_new(kept: Kept) -> None:
    fault = Fault(name="hit-1")
    kept.lab.begin("hit", fault)
    kept.lab.end(judge=True)
    kept.over()
    assert kept.ended_with is None
    assert fault.story == ["inject hit-1", "heal hit-1"]
    assert kept.world.producers.story == ["enough"]
    kept.lab.after_collect(Collected(returned={}))
    assert fault.story[-1] == "after_collect hit-1"


def test_without_a_verdict_it_ends_as_interrupted(kept: Kept) -> None:
    fault = Fault(name="hit-1")
    kept.lab.begin("hit", fault)
    kept.lab.end(judge=False)
    kept.over()
    assert isinstance(kept.ended_with, Interrupted)
    assert fault.story == ["inject hit-1", "heal hit-1"]


def test_a_signal_ends_it(kept: Kept) -> None:
    kept.world.stop.set("SIGTERM received")
    kept.over()
    assert isinstance(kept.ended_with, Interrupted)


def test_a_history_that_cannot_be_written_ends_it(kept: Kept) -> None:
    full = HistoryNotWritten("no space left")
    with pytest.raises(Interrupted):
        kept.lab.begin("hit", Fault(name="hit-1", on_inject=fail(full)))
    kept.over()
    assert kept.ended_with in (full, kept.ended_with)
    assert isinstance(kept.ended_with, HistoryNotWritten | Interrupted)
