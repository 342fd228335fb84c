"""The conductor runs a schedule of fake faults."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from onceproof.harness.context.recorder import Recorder
from onceproof.harness.context.run_context import Collected
from onceproof.harness.faults.base import NoEffect
from onceproof.harness.faults.program.programs import NoProgress
from onceproof.harness.faults.until import Acknowledged
from onceproof.harness.history.events import Event, FaultChanged
from onceproof.harness.history.writer import HistoryNotWritten
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.schedule import conductor as module
from onceproof.harness.schedule import fault_execution as execution_module
from onceproof.harness.schedule.conductor import Conductor
from onceproof.harness.wait import Interrupted, wait_until
from tests.unit.fakes.pipelines import FakeProgram
from tests.unit.fakes.run_context import FakeProducers, FakeStop
from tests.unit.harness.made_up import Fault, World, at, fail, world_in


@pytest.fixture
def world(tmp_path: Path) -> World:
    return world_in(tmp_path)


def test_fault_runs_from_trigger_to_heal(world: World) -> None:
    fault = Fault(name="a")
    Conductor([at(fault)], world.context).carry_out()
    assert fault.story == ["inject a", "heal a"]
    assert world.states("a") == ["due", "injected", "took effect", "healed"]
    row = world.rows()["a"]
    assert (row["kind"], row["description"], row["target"]) == ("crash", "do a", "target of a")
    assert (row["took_effect"], row["evidence"], row["error"]) == (True, "it bled", None)
    assert row["armed_at"] <= row["injected_at"] <= row["healed_at"]


def test_announce_records_faults_before_injection(world: World) -> None:
    schedule = [at(Fault(name="a")), at(Fault(name="b"), required=False)]
    Conductor(schedule, world.context).announce()
    rows = world.rows()
    assert [(r["took_effect"], r["armed_at"], r["required"]) for r in rows.values()] == [
        (False, None, True), (False, None, False)
    ]  # fmt: skip
    assert world.events == []


def test_fault_waits_until_earlier_faults_are_healed(world: World) -> None:
    story: list[str] = []
    release = {name: threading.Event() for name in "ab"}
    faults = {
        name: Fault(
            name=name,
            story=story,
            evidence=lambda name=name: "bled" if name == "c" or release[name].is_set() else None,
        )
        for name in "abc"
    }
    schedule = [at(faults["a"]), at(faults["b"]), at(faults["c"], after=("a", "b"))]
    thread = threading.Thread(target=Conductor(schedule, world.context).carry_out)
    thread.start()
    # In parallel: both are injected before either ends.
    wait_until(lambda: len(story) == 2, what="a and b at work", seconds=20, seen=lambda: story)
    assert sorted(story) == ["inject a", "inject b"]
    release["b"].set()
    wait_until(lambda: "heal b" in story, what="b healed", seconds=20)
    assert world.states("c") == []
    release["a"].set()
    thread.join(20)
    assert story[2:] == ["heal b", "heal a", "inject c", "heal c"]


def test_fault_waits_for_progress(world: World) -> None:
    looks: list[float] = []

    class Progressing(FakeProducers):
        @property
        def progress(self) -> float:  # type: ignore[override]
            looks.append(0.1 * len(looks))
            return looks[-1]

    world.producers = Progressing()
    seen: list[float] = []
    fault = Fault(name="a", on_inject=lambda: seen.append(looks[-1]))
    Conductor([at(fault, progress=0.25)], world.context).carry_out()
    assert 0.25 <= seen[0] < 0.45


@pytest.mark.parametrize("hazard", ["evicted", None])
def test_program_may_be_restarted_only_for_a_hazard(world: World, hazard: str | None) -> None:
    program = FakeProgram()
    before = program.supervisor.before_again
    Conductor([at(Fault(name="a"), hazard=hazard)], replace(world.context, pipeline=program))
    assert program.may_be_restarted is (hazard is not None)
    assert program.supervisor.before_again is not before


def test_each_try_for_a_hazard_checks_for_a_hung_program(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[Any] = []
    monkeypatch.setattr(execution_module, "start_if_hung", looks.append)
    never = Fault(name="a", evidence=lambda: None)
    Conductor([at(never, hazard="evicted", tries=3, seconds=0.1)], world.context).carry_out()
    assert len(looks) == 3
    world.producers.finished = True
    Conductor([at(Fault(name="b"), hazard="evicted")], world.context).carry_out()
    assert len(looks) == 3, "nothing need come out of it any more"


def test_try_waits_until_the_restarted_program_works(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    monkeypatch.setattr(
        execution_module, "start_if_hung", lambda _: steps.append("started") or True
    )
    monkeypatch.setattr(execution_module, "wait_went_on", lambda *_: steps.append("works"))
    fault = Fault(name="a", evidence=lambda: steps.append("tried"))
    Conductor([at(fault, hazard="evicted", tries=1, seconds=0.1)], world.context).carry_out()
    assert steps[:3] == ["started", "works", "tried"]


def test_overdue_trigger_is_an_error(world: World) -> None:
    world.stop, world.producers.progress = FakeStop(), 0.2
    late, other = Fault(name="late"), Fault(name="other")
    Conductor([at(late, progress=0.5), at(other)], world.context).carry_out()
    row = world.rows()["late"]
    assert row["error"].startswith("Overdue: waited 300 s for the trigger of «late»: 50%")
    assert row["error"].endswith("last seen: progress 20%")
    assert (row["armed_at"], row["took_effect"], late.story) == (None, False, [])
    assert world.rows()["other"]["took_effect"]


def test_failed_stage_ends_the_wait_for_a_trigger(world: World) -> None:
    world.stop = FakeStop()
    world.producers.progress, world.stage.unhealthy = 0.2, StageTrouble("toxiproxy failed")
    late = Fault(name="late")
    Conductor([at(late, progress=0.5)], world.context).carry_out()
    assert world.rows()["late"]["error"] == "StageTrouble: toxiproxy failed"
    assert late.story == []


def test_wait_for_earlier_faults_has_no_deadline(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "TRIGGER_SECONDS", 0.0)
    release = threading.Event()
    slow = Fault(name="slow", on_inject=lambda: release.wait(20) and None)
    after = Fault(name="after", story=slow.story)
    schedule = [at(slow), at(after, after=("slow",))]
    thread = threading.Thread(target=Conductor(schedule, world.context).carry_out)
    thread.start()
    wait_until(lambda: slow.story, what="the first at work", seconds=20)
    release.set()
    thread.join(20)
    assert world.rows()["after"]["error"] is None
    assert slow.story == ["inject slow", "heal slow", "inject after", "heal after"]


class TestHazards:
    """Faults that must bring about a hazard."""

    def test_hazard_is_recorded_when_the_fault_takes_effect(self, world: World) -> None:
        looks = iter([None, "it bled", "it bled", "it bled more"])
        fault = Fault(name="a", evidence=lambda: next(looks, "it bled more"))
        Conductor([at(fault, hazard="evicted", tries=3)], world.context).carry_out()
        (row,) = world.hazards()
        assert (row["hazard"], row["hop"], row["fault"]) == ("evicted", "process", "a")
        assert (row["detail"], row["at"]) == ("it bled", world.rows()["a"]["injected_at"])
        assert fault.story == ["inject a", "heal a"], "met once, it is not tried again"

    def test_fault_without_effect_is_retried_and_not_recorded(self, world: World) -> None:
        effective = iter([False, False, True])
        fault = Fault(name="a", on_inject=lambda: world.effective.append(next(effective)))
        fault = replace(fault, evidence=lambda: "it bled" if world.effective[-1] else None)
        Conductor([at(fault, hazard="evicted", tries=3, seconds=0.1)], world.context).carry_out()
        assert fault.story == ["inject a", "heal a"] * 3
        assert len(world.hazards()) == 1
        assert world.rows()["a"]["took_effect"]

    def test_fault_is_given_up_after_its_tries(self, world: World) -> None:
        fault, after = Fault(name="a", evidence=lambda: None), Fault(name="b")
        schedule = [at(fault, hazard="evicted", tries=2, seconds=0.1), at(after, after=("a",))]
        Conductor(schedule, world.context).carry_out()
        assert fault.story == ["inject a", "heal a"] * 2
        assert world.hazards() == []
        assert not world.rows()["a"]["took_effect"]
        assert world.rows()["b"]["took_effect"]

    def test_hazard_never_met_gets_one_try_in_later_rounds(self, world: World) -> None:
        never, again = (
            Fault(name="a", evidence=lambda: None),
            Fault(name="b", evidence=lambda: None),
        )
        schedule = [
            at(never, hazard="evicted", tries=3, seconds=0.1),
            at(again, hazard="evicted", tries=3, seconds=0.1, after=("a",)),
        ]
        Conductor(schedule, world.context).carry_out()
        assert never.story == ["inject a", "heal a"] * 3
        assert again.story == ["inject b", "heal b"]

    def test_hazard_met_before_gets_all_tries_in_later_rounds(self, world: World) -> None:
        met, again = Fault(name="a"), Fault(name="b", evidence=lambda: None)
        schedule = [
            at(met, hazard="evicted", tries=3),
            at(again, hazard="evicted", tries=3, seconds=0.1, after=("a",)),
        ]
        Conductor(schedule, world.context).carry_out()
        assert again.story == ["inject b", "heal b"] * 3

    def test_failed_try_is_reported_and_retried(self, world: World) -> None:
        errors = [ZeroDivisionError("no such thing")]

        def fail_once() -> None:
            if errors:
                raise errors.pop()

        fault = Fault(name="a", on_inject=fail_once)
        Conductor([at(fault, hazard="evicted", tries=2)], world.context).carry_out()
        assert world.states("a") == ["due", "failed", "due", "injected", "took effect", "healed"]
        (failed,) = [e.detail for e in world.events if getattr(e, "state", "") == "failed"]
        assert failed == "ZeroDivisionError: no such thing; retrying"
        assert world.rows()["a"]["error"] is None
        assert len(world.hazards()) == 1

    def test_last_failed_try_is_recorded_as_error(self, world: World) -> None:
        fault = Fault(name="a", on_inject=fail(ZeroDivisionError("no such thing")))
        Conductor([at(fault, hazard="evicted", tries=3)], world.context).carry_out()
        assert fault.story == ["inject a"] * 3
        assert world.rows()["a"]["error"].startswith("ZeroDivisionError")

    def test_pipeline_stuck_at_injection_ends_the_schedule(self, world: World) -> None:
        found = Fault(name="a", on_inject=fail(NoProgress("waited 150 s for it to write")))
        after = Fault(name="b")
        schedule = [at(found, hazard="evicted", tries=3), at(after, after=("a",), tries=3)]
        Conductor(schedule, world.context).carry_out()
        assert (found.story, after.story) == (["inject a"], [])
        assert world.rows()["a"]["error"] == "NoProgress: waited 150 s for it to write"
        assert "written nothing since «a»" in world.rows()["b"]["error"]

    def test_pipeline_stuck_after_heal_ends_the_schedule(self, world: World) -> None:
        left = Fault(name="a", on_heal=fail(NoProgress("waited 150 s for it to write")))
        after = Fault(name="b")
        Conductor([at(left), at(after, after=("a",))], world.context).carry_out()
        assert after.story == []
        assert world.rows()["b"]["error"].startswith("NoProgress")

    def test_unhealed_fault_is_not_retried(self, world: World) -> None:
        fault = Fault(name="a", evidence=lambda: None, on_heal=fail(RuntimeError("still cut")))
        Conductor([at(fault, hazard="evicted", tries=3, seconds=0.1)], world.context).carry_out()
        assert fault.story == ["inject a", "heal a"]
        assert world.rows()["a"]["error"].startswith("not healed")

    def test_self_reporting_fault_is_retried_until_it_reports(self, world: World) -> None:
        reports = iter([False, True])

        def report() -> None:
            if next(reports):
                world.recorder.hazard("replayed-batch", hop="process", detail="batch 3 again")

        fault = Fault(name="a", on_inject=report)
        scheduled = at(fault, hazard="replayed-batch", tells=True, tries=3)
        Conductor([scheduled], world.context).carry_out()
        assert fault.story == ["inject a", "heal a"] * 2, "its effect alone does not count"
        assert [row["detail"] for row in world.hazards()] == ["batch 3 again"]

    def test_fault_without_hazard_is_tried_once(self, world: World) -> None:
        fault = Fault(name="a", evidence=lambda: None)
        Conductor([at(fault, tries=3, seconds=0.1)], world.context).carry_out()
        assert fault.story == ["inject a", "heal a"]
        assert world.hazards() == []


def test_fault_without_evidence_in_time_fails_and_is_healed(world: World) -> None:
    fault, after = Fault(name="a", evidence=lambda: None), Fault(name="b")
    Conductor([at(fault, seconds=0.1), at(after, after=("a",))], world.context).carry_out()
    assert fault.story == ["inject a", "heal a"]
    assert world.states("a") == ["due", "injected", "failed", "healed"]
    row = world.rows()["a"]
    assert (row["took_effect"], row["evidence"], row["error"]) == (False, None, None)
    assert row["healed_at"] is not None
    assert [e.detail for e in world.events if getattr(e, "state", "") == "failed"] == [
        "no evidence within 0.1 s"
    ]
    assert world.rows()["b"]["took_effect"]


def test_fault_ruled_out_by_no_effect_is_retried_at_once(world: World) -> None:
    def evidence() -> str:
        if fault.story.count("inject a") > 1:
            return "now it had"
        raise NoEffect("it had nothing in hand")

    fault = Fault(name="a", evidence=evidence)
    scheduled = at(fault, hazard="replayed-batch", tries=3, seconds=3600.0)
    Conductor([scheduled], world.context).carry_out()
    assert fault.story == ["inject a", "heal a"] * 2
    assert world.states("a")[:4] == ["due", "injected", "failed", "healed"]
    assert [e.detail for e in world.events if getattr(e, "state", "") == "failed"] == [
        "no effect: it had nothing in hand"
    ]
    assert [row["detail"] for row in world.hazards()] == ["now it had"]


def test_fault_lasts_until_its_end_condition(world: World) -> None:
    fault = Fault(name="a", evidence=lambda: f"at {world.producers.acknowledged}")
    scheduled = at(fault, until=Acknowledged(records=50))
    thread = threading.Thread(target=Conductor([scheduled], world.context).carry_out)
    thread.start()
    wait_until(lambda: "injected" in world.states("a"), what="it at work", seconds=20)
    world.producers.acknowledged = 149
    assert fault.story == ["inject a"]
    world.producers.acknowledged = 150
    thread.join(20)
    assert fault.story == ["inject a", "heal a"]
    assert world.rows()["a"]["evidence"] == "at 150"


def test_overdue_end_condition_is_an_error_after_heal(world: World) -> None:
    fault = Fault(name="a")
    Conductor([at(fault, until=Acknowledged(records=50), seconds=0.1)], world.context).carry_out()
    assert fault.story == ["inject a", "heal a"]
    row = world.rows()["a"]
    assert row["error"].startswith("Overdue: waited 0.1 s for the end of «a»: 50 more")
    assert row["healed_at"] is not None


def test_failed_injection_does_not_block_other_faults(world: World) -> None:
    broken = Fault(name="a", on_inject=fail(ZeroDivisionError("no such thing")))
    other, after = Fault(name="b"), Fault(name="c")
    conductor = Conductor([at(broken), at(other), at(after, after=("a",))], world.context)
    conductor.carry_out()
    assert broken.story == ["inject a"]
    assert world.rows()["a"]["error"] == "ZeroDivisionError: no such thing"
    assert (world.rows()["a"]["injected_at"], world.rows()["a"]["took_effect"]) == (None, False)
    assert world.rows()["b"]["healed_at"] is not None
    assert world.rows()["c"]["healed_at"] is not None


def test_failed_heal_is_an_error(world: World) -> None:
    fault, after = Fault(name="a", on_heal=fail(RuntimeError("still cut"))), Fault(name="b")
    Conductor([at(fault), at(after, after=("a",))], world.context).carry_out()
    row = world.rows()["a"]
    assert (row["took_effect"], row["healed_at"]) == (True, None)
    assert row["error"] == "not healed: RuntimeError: still cut"
    assert world.states("a") == ["due", "injected", "took effect", "failed"]
    assert world.rows()["b"]["took_effect"]


def test_failed_evidence_check_is_an_error_and_fault_is_healed(world: World) -> None:
    fault = Fault(name="a", evidence=fail(OSError("nobody answers")))
    Conductor([at(fault)], world.context).carry_out()
    assert fault.story == ["inject a", "heal a"]
    row = world.rows()["a"]
    assert (row["error"], row["took_effect"]) == ("OSError: nobody answers", False)
    assert row["healed_at"] is not None


def test_stop_ends_the_schedule(world: World) -> None:
    story: list[str] = []
    running = Fault(name="a", story=story, evidence=lambda: None)
    waiting = Fault(name="b", story=story)
    conductor = Conductor([at(running), at(waiting, after=("a",))], world.context)

    def request_stop() -> None:
        wait_until(lambda: "injected" in world.states("a"), what="a at work", seconds=20)
        world.stop.set("somebody asked")

    stopper = threading.Thread(target=request_stop)
    stopper.start()
    with pytest.raises(Interrupted, match="somebody asked"):
        conductor.carry_out()
    stopper.join()
    # All executions end, and nothing new is injected.
    for execution in conductor.executions:
        assert execution.over.wait(20)
    assert story == ["inject a"]
    assert [row["error"] for row in fault_rows(world)] == [None]


def fault_rows(world: World) -> list[dict[str, Any]]:
    return list(world.rows().values())


@pytest.mark.parametrize("state", ["due", "injected", "took effect", "healed"])
def test_unwritable_history_ends_the_schedule(world: World, state: str) -> None:
    class Full(Recorder):
        def fault(self, row: dict[str, Any], new: str, detail: str) -> None:
            if (row["fault"], new) == ("a", state):
                raise HistoryNotWritten(28, "No space left on device")
            super().fault(row, new, detail)

    world.recorder = Full(world.history, [])
    never = Fault(name="b", evidence=lambda: None)
    conductor = Conductor([at(Fault(name="a")), at(never)], world.context)
    with pytest.raises(HistoryNotWritten):
        conductor.carry_out()
    assert world.stop.is_set()
    for execution in conductor.executions:
        assert execution.over.wait(20)


def test_failing_listener_does_not_prevent_healing(tmp_path: Path) -> None:
    def failing(event: Event) -> None:
        if isinstance(event, FaultChanged) and event.state == "injected":
            raise BrokenPipeError("nobody reads our standard error any more")

    fault = Fault(name="a")
    Conductor([at(fault)], world_in(tmp_path, failing).context).carry_out()
    assert fault.story == ["inject a", "heal a"]


def test_failing_listener_gets_no_more_events(tmp_path: Path) -> None:
    heard: list[str] = []

    def failing(event: Event) -> None:
        heard.append("deaf")
        raise OSError(5, "the terminal was closed")

    world = world_in(tmp_path, failing, lambda _: heard.append("other"))
    Conductor([at(Fault(name="a"))], world.context).carry_out()
    assert heard.count("deaf") == 1
    assert heard.count("other") > 2
    assert heard[:2] == ["deaf", "other"]


def test_armed_fault_is_injected_when_it_triggers(world: World) -> None:
    looks: list[int] = []

    def evidence() -> str | None:
        looks.append(1)
        if len(looks) < 3:
            return None
        fault.injected[0].at = 4711
        fault.injected[0].target = "driver#1"
        return "batch 3"

    fault = Fault(name="a", at=lambda: None, evidence=evidence)
    Conductor([at(fault)], world.context).carry_out()
    assert world.states("a") == ["due", "armed", "took effect", "healed"]
    row = world.rows()["a"]
    assert (row["injected_at"], row["target"]) == (4711, "driver#1")


def test_stop_before_the_start_injects_nothing(world: World) -> None:
    fault = Fault(name="a")
    world.stop.set("over")
    with pytest.raises(Interrupted, match="over"):
        Conductor([at(fault)], world.context).carry_out()
    assert fault.story == []


def test_after_collect_runs_only_for_injected_faults(world: World) -> None:
    injected = Fault(name="a")
    not_injected = Fault(name="b", on_inject=fail(RuntimeError("no")))
    conductor = Conductor([at(injected), at(not_injected)], world.context)
    conductor.carry_out()
    conductor.after_collect(Collected(returned={}))
    assert injected.story[-1] == "after_collect a"
    assert not_injected.story == ["inject b"]


def test_records_are_reserved_for_unfinished_faults(world: World) -> None:
    release = threading.Event()
    held = Fault(name="b", evidence=lambda: "bled" if release.is_set() else None)
    schedule = [at(Fault(name="a")), at(held), at(Fault(name="c"), after=("b",))]
    thread = threading.Thread(target=Conductor(schedule, world.context).carry_out)
    thread.start()
    kept = world.producers.pace.kept_for
    wait_until(lambda: kept[-1:] == [2], what="a to be over", seconds=20, seen=lambda: kept)
    assert kept[0] == 3
    release.set()
    thread.join(20)
    assert kept == sorted(kept, reverse=True)
    assert kept[-1] <= 1


def test_empty_schedule_has_no_events(world: World) -> None:
    Conductor([], world.context).carry_out()
    assert world.events == []
