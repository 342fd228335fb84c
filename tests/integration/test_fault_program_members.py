"""A pipeline loses its partitions to other members, while it runs or is paused."""

from __future__ import annotations

import re
from collections.abc import Callable

import psutil
import pytest

from onceproof.harness.faults.cluster.coordinated import group_of
from onceproof.harness.faults.program import several
from onceproof.harness.faults.program.evict_program import EvictProgram
from onceproof.harness.faults.program.kill_each import KillEach
from onceproof.harness.faults.program.kill_instance import KillInstance
from onceproof.harness.faults.program.other_member import OtherMember, common
from onceproof.harness.faults.program.pause_instance import PauseInstance
from onceproof.harness.faults.program.rebalance_program import RebalanceProgram
from onceproof.harness.faults.program.remove_program import RemoveProgram
from onceproof.harness.faults.program.zombie_worker import ZombieWorker
from onceproof.harness.processes.trouble import StageTrouble
from tests.end_to_end.catalogue import LATER
from tests.integration.programs import LONG, SHORT, RunningPipeline, running
from tests.integration.staging import Staged, eventually

pytestmark = pytest.mark.integration
ASSIGNORS = ("range", "roundrobin")


def members(pipeline: RunningPipeline) -> tuple[str, ...]:
    with group_of(pipeline.context, pipeline.group) as group:
        return group.describe().members


def test_rebalance_revokes_and_returns_all_partitions(
    staging: Staged, topic: Callable[..., str]
) -> None:
    with running(staging, topic, "copy") as pipeline:
        fault = RebalanceProgram(group=pipeline.group, assignors=ASSIGNORS, phase=0.5, in_hand=True)
        with pipeline.flowing():
            with pipeline.injected(fault) as (injection, proof):
                assert injection.target == f"group {pipeline.group}"
                assert f"was assigned {pipeline.source}-" in proof
                assert re.search(
                    r"the pipeline had read \d+ offsets that it had not committed", proof
                )
                assert "onceproof-other-member" not in members(pipeline)
                pipeline.wait_for_line("revoked 0 1 2")
            assert len(members(pipeline)) == 1
        eventually(lambda: not pipeline.missing(), "an effect of each", pipeline.stdout)
        assert pipeline.program.alive()
        assert [line for line in pipeline.stdout() if line.startswith("assigned")][
            -1
        ] == "assigned 0 1 2"


@LATER
@pytest.mark.parametrize("form", ["rewound", "locked"])
def test_rebalance_during_write_duplicates_only_rewound_reads(
    staging: Staged, topic: Callable[..., str], form: str
) -> None:
    with running(staging, topic, form) as pipeline:
        table = pipeline.output.place
        fault = RebalanceProgram(group=pipeline.group, assignors=("roundrobin",), tables=(table,))
        with pipeline.flowing(), pipeline.injected(fault) as (_, proof):
            assert f"the pipeline had all of them back while a commit to {table} was held" in proof
        eventually(lambda: not pipeline.missing(), "an effect of each", pipeline.stdout)
        duplicated = [record for record, count in pipeline.effects().items() if count > 1]
        assert bool(duplicated) is (form == "rewound")


def test_other_member_commits_nothing(staging: Staged, topic: Callable[..., str]) -> None:
    with running(staging, topic, "copy") as pipeline:
        pipeline.program.kill("it is to be away")
        pipeline.send()
        with group_of(pipeline.context, pipeline.group) as group:
            group.remove_members()
            before = group.committed(pipeline.source, 0)
            other = OtherMember(pipeline.context, pipeline.group, ASSIGNORS, "classic")
            eventually(lambda: len(other.partitions) == 3, "it to have all partitions")
            other.leave()
            assert group.describe().members == ()
            assert group.committed(pipeline.source, 0) == before
        pipeline.program.start()
        eventually(lambda: not pipeline.missing(), "an effect of each", pipeline.stdout)


@pytest.mark.parametrize(
    ("offered", "common_assignors"),
    [
        (("range", "roundrobin"), ("range", "roundrobin")),
        (("range", "cooperative-sticky"), ("range",)),
        (("cooperative-sticky",), ("cooperative-sticky",)),
        (("sticky", "range"), ("range",)),
        (("sticky",), ()),
    ],
)
def test_other_member_offers_common_assignors(
    offered: tuple[str, ...], common_assignors: tuple[str, ...]
) -> None:
    assert common(offered) == common_assignors


def test_other_member_rejects_custom_assignor(staging: Staged, topic: Callable[..., str]) -> None:
    with running(staging, topic, "copy") as pipeline:
        with pytest.raises(StageTrouble, match="it uses assignors sessioned; onceproof has"):
            OtherMember(pipeline.context, pipeline.group, ("sessioned",), "classic")
        assert len(members(pipeline)) == 1


@pytest.mark.parametrize("at_once", [True, False], ids=["removed", "expired"])
def test_program_evicted_while_paused_rejoins(
    staging: Staged, topic: Callable[..., str], at_once: bool
) -> None:
    with running(staging, topic, "copy", session=LONG if at_once else SHORT) as pipeline:
        fault = EvictProgram(group=pipeline.group, assignors=ASSIGNORS, at_once=at_once)
        with pipeline.flowing():
            with pipeline.injected(fault) as (injection, proof):
                process = pipeline.program.supervisor.running()
                assert injection.target == process.instance
                assert process.frozen()
                assert (
                    f"group {pipeline.group} assigned all its partitions to another member" in proof
                )
                assert members(pipeline) == ("onceproof-other-member",)
                before = pipeline.stdout()
            assert pipeline.program.supervisor.running() is process, (
                "it goes on as the one that it was"
            )
            pipeline.wait_for_line("lost")
        assert "lost" not in " ".join(before)
        eventually(lambda: not pipeline.missing(), "an effect of each", pipeline.stdout)
        assert len(members(pipeline)) == 1


def test_program_removed_while_paused_rejoins(staging: Staged, topic: Callable[..., str]) -> None:
    with running(staging, topic, "copy", session=LONG) as pipeline, pipeline.flowing():
        with pipeline.injected(RemoveProgram(group=pipeline.group)) as (injection, proof):
            process = pipeline.program.supervisor.running()
            assert injection.target == process.instance
            assert f"while it was removed from group {pipeline.group}" in proof
            assert members(pipeline) == ()
        assert pipeline.program.supervisor.running() is process, "it goes on as the one that it was"
        pipeline.wait_for_line("lost")
        eventually(lambda: not pipeline.missing(), "an effect of each", pipeline.stdout)
        assert len(members(pipeline)) == 1


def test_evicts_one_of_two_workers(staging: Staged, topic: Callable[..., str]) -> None:
    with running(staging, topic, "copy", workers=2, session=SHORT) as pipeline:
        eventually(lambda: len(members(pipeline)) == 2, "both to be members")
        fault = EvictProgram(group=pipeline.group, one_of_several=True)
        with pipeline.flowing():
            with pipeline.injected(fault) as (injection, proof):
                pids = pipeline.program.supervisor.running().pids()
                paused = [p for p in pids if psutil.Process(p).status() == psutil.STATUS_STOPPED]
                assert len(paused) == 1, "the other goes on"
                assert injection.target.startswith(f"process {paused[0]} of ")
                assert "went from 2 members to 1" in proof
                sent = pipeline.sent
                eventually(
                    lambda: any(int(r[2:]) > sent for r in pipeline.effects()),
                    "the other's effects",
                )
            eventually(
                lambda: len(members(pipeline)) == 2, "the paused one to come back", pipeline.stdout
            )
        eventually(lambda: not pipeline.missing(), "an effect of each", pipeline.stdout)


def test_pauses_one_of_two_instances_until_the_other_catches_up(
    staging: Staged, topic: Callable[..., str]
) -> None:
    with running(staging, topic, "copy", workers=2, session=SHORT) as pipeline:
        eventually(lambda: len(members(pipeline)) == 2, "both to be members")
        with (
            pipeline.flowing(),
            pipeline.injected(PauseInstance(number=1, seconds=60.0)) as (injection, proof),
        ):
            pid = int(injection.target.split()[1])
            assert psutil.Process(pid).status() == psutil.STATUS_STOPPED
            assert "the others have written output for all of the input" in proof
        assert psutil.Process(pid).status() != psutil.STATUS_STOPPED
        eventually(lambda: not pipeline.missing(), "an effect of each", pipeline.stdout)


def test_killed_instance_rejoins_as_a_new_process(
    staging: Staged, topic: Callable[..., str]
) -> None:
    with running(staging, topic, "copy", workers=2, session=SHORT) as pipeline:
        eventually(lambda: len(members(pipeline)) == 2, "both to be members")
        with pipeline.flowing():
            with pipeline.injected(KillInstance(group=pipeline.group)) as (injection, proof):
                killed = int(injection.target.split()[1])
                assert f"ended by signal 9; 1 of 2 members left group {pipeline.group}" in proof
            eventually(lambda: len(members(pipeline)) == 2, "it to come back", pipeline.stdout)
            assert killed not in pipeline.program.supervisor.running().pids()
        eventually(lambda: not pipeline.missing(), "an effect of each", pipeline.stdout)


@LATER
def test_kill_each_kills_both_instances_in_turn(staging: Staged, topic: Callable[..., str]) -> None:
    with running(staging, topic, "copy", workers=2, session=SHORT) as pipeline:
        eventually(lambda: len(members(pipeline)) == 2, "both to be members")
        with pipeline.flowing():
            with pipeline.injected(KillEach(processes=2, seconds=60.0)) as (injection, proof):
                assert len(set(re.findall(r"process (\d+) of", proof))) == 2
                caught_up = "ended by signal 9; the others have written output for all of"
                assert proof.count(caught_up) == 2
                killed = {int(pid) for pid in re.findall(r"process (\d+) of", injection.target)}
            eventually(lambda: len(members(pipeline)) == 2, "both to come back", pipeline.stdout)
            assert not killed & set(pipeline.program.supervisor.running().pids())
        eventually(lambda: not pipeline.missing(), "an effect of each", pipeline.stdout)


@pytest.mark.parametrize(
    ("form", "workers"),
    [
        pytest.param("transactional", 2, marks=LATER),
        ("fenceless", 2),
        pytest.param("fenceless", 3, marks=LATER),
    ],
)
def test_zombie_commit_duplicates_only_without_fencing(
    staging: Staged, topic: Callable[..., str], form: str, workers: int
) -> None:
    with running(staging, topic, form, workers=workers, session=SHORT) as pipeline:
        eventually(lambda: len(members(pipeline)) == workers, "all to be members")
        with pipeline.flowing():
            fault = ZombieWorker(group=pipeline.group, still_open=True)
            with pipeline.injected(fault, tries=3) as (injection, proof):
                pid = int(injection.target.split()[1])
                assert psutil.Process(pid).status() == psutil.STATUS_STOPPED
                left = f"went from {workers} members to {workers - 1}"
                assert f"{left}, which have committed its offsets" in proof
            eventually(
                lambda: len(members(pipeline)) == workers,
                "the zombie to come back",
                pipeline.stdout,
            )
        eventually(lambda: not pipeline.missing(), "an effect of each", pipeline.stdout)
        duplicated = [record for record, count in pipeline.effects().items() if count > 1]
        assert bool(duplicated) is (form == "fenceless")


@pytest.mark.parametrize(
    ("form", "evidence"),
    [
        pytest.param("booked", "have written output for all of the input", marks=LATER),
        ("twice", "have written output for all of the input"),
        pytest.param("locking", "wait for its locks", marks=LATER),
        pytest.param(
            "impatient",
            "have written output for all of the input; meanwhile the server cancelled",
            marks=LATER,
        ),
    ],
)
def test_zombie_write_duplicates_rows_only_without_unique_key(
    staging: Staged, topic: Callable[..., str], form: str, evidence: str
) -> None:
    with running(staging, topic, form, workers=2, session=SHORT) as pipeline:
        eventually(lambda: len(members(pipeline)) == 2, "both to be members")
        with pipeline.flowing():
            with pipeline.injected(ZombieWorker(group=pipeline.group, at="write")) as (
                injection,
                proof,
            ):
                pid = int(injection.target.split()[1])
                assert psutil.Process(pid).status() == psutil.STATUS_STOPPED
                assert "its write held in server process" in proof
                assert f"went from 2 members to 1, which {evidence}" in proof
            eventually(
                lambda: len(members(pipeline)) == 2, "the zombie to come back", pipeline.stdout
            )
        eventually(lambda: not pipeline.missing(), "an effect of each", pipeline.stdout)
        duplicated = [record for record, count in pipeline.effects().items() if count > 1]
        assert bool(duplicated) is (form == "twice")


@LATER
def test_zombie_of_three_workers_duplicates_its_held_write(
    staging: Staged, topic: Callable[..., str]
) -> None:
    with running(staging, topic, "twice", workers=3, session=SHORT) as pipeline:
        eventually(lambda: len(members(pipeline)) == 3, "all to be members")
        with pipeline.flowing():
            with pipeline.injected(ZombieWorker(group=pipeline.group, at="write")) as (_, proof):
                assert "went from 3 members to 2, which have written output for all of" in proof
            eventually(
                lambda: len(members(pipeline)) == 3, "the zombie to come back", pipeline.stdout
            )
        eventually(lambda: not pipeline.missing(), "an effect of each", pipeline.stdout)
        # The held write was committed after the other workers had written the same records.
        assert [record for record, count in pipeline.effects().items() if count > 1]


def test_evict_one_of_several_rejects_single_process(
    staging: Staged, topic: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(several, "_JOIN_SECONDS", 10.0)
    with running(staging, topic, "copy") as pipeline, pipeline.flowing():
        fault = EvictProgram(group=pipeline.group, one_of_several=True)
        with pytest.raises(StageTrouble, match="only one process of the pipeline is connected"):
            fault.inject(pipeline.context, "x")
        assert not pipeline.program.supervisor.running().frozen()
