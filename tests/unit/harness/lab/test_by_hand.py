"""Faults by hand in a lab, with fake faults and a fake context."""

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


class RunningLab:
    """A lab that runs in its own thread."""

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
            write_note=self.noted.append,
        )
        self.thread = threading.Thread(target=self._keep)
        self.thread.start()
        assert self.up.wait(60)

    def _keep(self) -> None:
        try:
            self.lab.carry_out()
        except BaseException as error:
            self.ended_with = error

    def wait_for_end(self) -> None:
        self.thread.join(60)
        assert not self.thread.is_alive()


@pytest.fixture
def running(tmp_path: Path) -> Iterator[RunningLab]:
    running = RunningLab(world_in(tmp_path))
    yield running
    with suppress(Ending):
        running.lab.end(judge=False)
    running.wait_for_end()


class NeedsKill(Fault):
    needs = "kill"


class NeedsLinks(Fault):
    needs = "links"


def wait_for_effect(line: FaultExecution) -> None:
    wait_until(
        lambda: line.state == "took effect",
        what="it to take effect",
        seconds=60,
        seen=lambda: line.state,
    )


def test_fault_acts_at_once_until_it_is_healed(running: RunningLab) -> None:
    fault = Fault(name="hit-1")
    line = running.lab.begin("hit", fault)
    wait_for_effect(line)
    assert fault.story == ["inject hit-1"]
    assert running.noted == ["hit-1"]
    assert running.lab.heal("hit-1") is line
    assert fault.story == ["inject hit-1", "heal hit-1"]
    assert line.state == "healed"
    row = running.world.rows()["hit-1"]
    assert (row["took_effect"], row["evidence"], row["required"]) == (True, "it bled", False)
    assert row["injected_at"] <= row["healed_at"]


def test_faults_are_numbered_per_kind(running: RunningLab) -> None:
    names = [
        running.lab.begin(kind, Fault(name=name)).at.name
        for kind, name in [("a", "a-1"), ("b", "b-1"), ("a", "a-2"), ("a-b", "a-b-1")]
    ]
    assert names == ["a-1", "b-1", "a-2", "a-b-1"]


def test_fault_without_effect_can_be_healed(running: RunningLab) -> None:
    line = running.lab.begin("hit", Fault(name="hit-1", evidence=lambda: None))
    assert line.state == "injected"
    running.lab.heal("hit-1")
    assert line.state == "healed"
    assert running.world.rows()["hit-1"]["took_effect"] is False


def test_heal_all_heals_in_reverse_order(running: RunningLab) -> None:
    lines = [running.lab.begin("hit", Fault(name=f"hit-{n}")) for n in (1, 2, 3)]
    assert running.lab.heal_all() == lines[::-1]
    assert {line.state for line in lines} == {"healed"}
    assert running.lab.heal_all() == []


def test_failed_injection_is_recorded(running: RunningLab) -> None:
    line = running.lab.begin("hit", Fault(name="hit-1", on_inject=fail(RuntimeError("no leader"))))
    assert (line.state, line.detail) == ("failed", "RuntimeError: no leader")
    assert running.world.rows()["hit-1"]["error"] == "RuntimeError: no leader"


@pytest.mark.parametrize("name", ["hit-1", "hit-2", ""])
def test_only_active_faults_can_be_healed(running: RunningLab, name: str) -> None:
    running.lab.begin("hit", Fault(name="hit-1"))
    running.lab.heal("hit-1")
    running.lab.begin("other", Fault(name="other-1"))
    with pytest.raises(NoSuchFault, match=f"no active fault «{name}»; active: other-1"):
        running.lab.heal(name)


def make_heal(tries: int) -> Callable[[], None]:
    """Return a `heal` that fails until it has been tried `tries` times."""
    left = iter(range(tries - 1))

    def heal() -> None:
        for n in left:
            raise StageTrouble(f"still cut after {n + 1}")

    return heal


def test_failed_healing_can_be_retried(running: RunningLab) -> None:
    fault = Fault(name="hit-1", on_heal=make_heal(3))
    line = running.lab.begin("hit", fault)
    wait_for_effect(line)
    running.lab.heal("hit-1")
    assert (line.state, line.detail) == ("failed", "not healed: StageTrouble: still cut after 1")
    assert running.lab.heal_all() == [line]
    assert (line.state, line.detail) == ("failed", "not healed: StageTrouble: still cut after 2")
    assert running.world.rows()["hit-1"]["healed_at"] is None
    running.lab.heal("hit-1")
    assert line.state == "healed"
    assert fault.story == ["inject hit-1"] + 3 * ["heal hit-1"]
    assert running.world.states("hit-1") == [
        "due",
        "injected",
        "took effect",
        "failed",
        "failed",
        "healed",
    ]
    row = running.world.rows()["hit-1"]
    assert row["error"] == (
        "not healed: StageTrouble: still cut after 1; not healed: StageTrouble: still cut after 2"
    )
    assert row["healed_at"] is not None
    with pytest.raises(NoSuchFault):
        running.lab.heal("hit-1")


def test_concurrent_heal_joins_the_attempt_under_way(
    running: RunningLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, joined = threading.Event(), threading.Event()

    def heal() -> None:
        if fault.story.count("heal hit-1") == 1:
            raise StageTrouble("still cut")
        begun.set()
        assert joined.wait(20)

    fault = Fault(name="hit-1", on_heal=heal)
    line = running.lab.begin("hit", fault)
    running.lab.heal("hit-1")
    monkeypatch.setattr(line, "end", joined.set)  # called to join healing that is under way
    first = threading.Thread(target=running.lab.heal, args=("hit-1",))
    first.start()
    assert begun.wait(20)
    assert running.lab.heal("hit-1") is line
    first.join(20)
    assert line.state == "healed"
    assert fault.story == ["inject hit-1", "heal hit-1", "heal hit-1"]


def test_failed_healing_is_retried_at_the_end(running: RunningLab) -> None:
    line = running.lab.begin("hit", Fault(name="hit-1", on_heal=make_heal(2)))
    running.lab.heal("hit-1")
    running.lab.end(judge=True)
    running.wait_for_end()
    assert running.ended_with is None
    assert line.state == "healed"


def test_fault_that_never_acted_is_not_healed(running: RunningLab) -> None:
    running.lab.begin("hit", Fault(name="hit-1", on_inject=fail(RuntimeError("no leader"))))
    assert running.lab.heal_all() == []


def test_history_error_during_healing_ends_the_lab(running: RunningLab) -> None:
    full = HistoryNotWritten("no space left")
    wait_for_effect(running.lab.begin("hit", Fault(name="hit-1", on_heal=fail(full))))
    with pytest.raises(Interrupted):
        running.lab.heal("hit-1")
    running.wait_for_end()
    assert isinstance(running.ended_with, HistoryNotWritten | Interrupted)


def test_concurrent_faults_get_unique_names(running: RunningLab) -> None:
    lines: list[FaultExecution] = []
    ready = threading.Barrier(8)

    def begin() -> None:
        ready.wait(20)
        lines.append(running.lab.begin("hit", Fault(name="hit")))

    threads = [threading.Thread(target=begin) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    names = {f"hit-{n}" for n in range(1, 9)}
    assert {line.at.name for line in lines} == set(running.noted) == names
    assert {line.at.name for line in running.lab.heal_all()} == names


@pytest.mark.parametrize("judge", [True, False])
def test_ended_lab_refuses_faults_and_a_second_end(running: RunningLab, judge: bool) -> None:
    running.lab.end(judge=judge)
    with pytest.raises(Ending, match="with a verdict" if judge else "without a verdict"):
        running.lab.begin("hit", Fault(name="hit-1"))
    with pytest.raises(Ending):
        running.lab.end(judge=not judge)
    running.wait_for_end()
    assert isinstance(running.ended_with, type(None) if judge else Interrupted)
    assert running.noted == []


def test_fault_that_is_not_offered_is_refused(running: RunningLab) -> None:
    running.lab.begin("hit", NeedsKill(name="hit"))
    with pytest.raises(
        NotOffered, match="cut needs «links», which this lab does not offer; it offers kill"
    ):
        running.lab.begin("cut", NeedsLinks(name="cut"))
    assert running.noted == ["hit-1"]


def test_end_heals_faults_and_stops_producers(running: RunningLab) -> None:
    fault = Fault(name="hit-1")
    running.lab.begin("hit", fault)
    running.lab.end(judge=True)
    running.wait_for_end()
    assert running.ended_with is None
    assert fault.story == ["inject hit-1", "heal hit-1"]
    assert running.world.producers.story == ["enough"]
    running.lab.after_collect(Collected(returned={}))
    assert fault.story[-1] == "after_collect hit-1"


def test_end_without_a_verdict_counts_as_interrupted(running: RunningLab) -> None:
    fault = Fault(name="hit-1")
    running.lab.begin("hit", fault)
    running.lab.end(judge=False)
    running.wait_for_end()
    assert isinstance(running.ended_with, Interrupted)
    assert fault.story == ["inject hit-1", "heal hit-1"]


def test_signal_ends_the_lab(running: RunningLab) -> None:
    running.world.stop.set("SIGTERM received")
    running.wait_for_end()
    assert isinstance(running.ended_with, Interrupted)


def test_history_error_ends_the_lab(running: RunningLab) -> None:
    full = HistoryNotWritten("no space left")
    with pytest.raises(Interrupted):
        running.lab.begin("hit", Fault(name="hit-1", on_inject=fail(full)))
    running.wait_for_end()
    assert running.ended_with is full or isinstance(running.ended_with, Interrupted)


def test_lab_that_was_interrupted_takes_no_notes(running: RunningLab) -> None:
    """A note after it would change the record when it is sealed."""
    running.lab.write_note("before")
    running.world.context.stop.set("Ctrl-C")
    with pytest.raises(Ending, match="without a verdict"):
        running.lab.write_note("after")
    assert running.noted == ["before"]
