"""A pipeline's partitions go to another member: without any failure, or while it stands still."""

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
from tests.integration.programs import LONG, SHORT, Own, running
from tests.integration.staging import Staged, eventually

pytestmark = pytest.mark.integration
ASSIGNORS = ("range", "roundrobin")


def members(own: Own) -> tuple[str, ...]:
    with group_of(own.context, own.group) as group:
        return group.describe().members


def test_another_member_takes_partitions_and_gives_them_back(
    staging: Staged, topic: Callable[..., str]
) -> None:
    with running(staging, topic, "copy") as own:
        fault = RebalanceProgram(group=own.group, assignors=ASSIGNORS, phase=0.5, in_hand=True)
        with own.flowing():
            with own.struck(fault) as (injection, proof):
                assert injection.target == f"group {own.group}"
                assert f"was assigned {own.source}-" in proof
                assert re.search(
                    r"the pipeline had read \d+ offsets that it had not committed", proof
                )
                assert "onceproof-other-member" not in members(own)
                own.heard("revoked 0 1 2")
            assert len(members(own)) == 1
        eventually(lambda: not own.missing(), "an effect of each", own.said)
        assert own.program.alive()
        assert [line for line in own.said() if line.startswith("assigned")][-1] == "assigned 0 1 2"


@LATER
@pytest.mark.parametrize("form", ["rewound", "locked"])
def test_a_rebalance_amid_a_write_reads_again_what_is_being_written(
    staging: Staged, topic: Callable[..., str], form: str
) -> None:
    with running(staging, topic, form) as own:
        out = own.output.place
        fault = RebalanceProgram(group=own.group, assignors=("roundrobin",), tables=(out,))
        with own.flowing(), own.struck(fault) as (_, proof):
            assert f"the pipeline had all of them back while a commit to {out} was held" in proof
        eventually(lambda: not own.missing(), "an effect of each", own.said)
        twice = [record for record, count in own.effects().items() if count > 1]
        assert bool(twice) is (form == "rewound")


def test_a_member_of_ours_reads_nothing_and_commits_nothing(
    staging: Staged, topic: Callable[..., str]
) -> None:
    with running(staging, topic, "copy") as own:
        own.program.kill("it is to be away")
        own.send()
        with group_of(own.context, own.group) as group:
            group.remove_members()
            before = group.committed(own.source, 0)
            other = OtherMember(own.context, own.group, ASSIGNORS, "classic")
            eventually(lambda: len(other.partitions) == 3, "it to have all partitions")
            other.leave()
            assert group.describe().members == ()
            assert group.committed(own.source, 0) == before
        own.program.start()
        eventually(lambda: not own.missing(), "an effect of each", own.said)


@pytest.mark.parametrize(
    ("offered", "ours"),
    [
        (("range", "roundrobin"), ("range", "roundrobin")),
        (("range", "cooperative-sticky"), ("range",)),
        (("cooperative-sticky",), ("cooperative-sticky",)),
        (("sticky", "range"), ("range",)),
        (("sticky",), ()),
    ],
)
def test_our_member_offers_what_it_knows_of_theirs(
    offered: tuple[str, ...], ours: tuple[str, ...]
) -> None:
    assert common(offered) == ours


def test_a_group_of_a_kind_of_its_own_is_not_joined(
    staging: Staged, topic: Callable[..., str]
) -> None:
    with running(staging, topic, "copy") as own:
        with pytest.raises(StageTrouble, match="it uses assignors sessioned; onceproof has"):
            OtherMember(own.context, own.group, ("sessioned",), "classic")
        assert len(members(own)) == 1


@pytest.mark.parametrize("at_once", [True, False], ids=["removed", "expired"])
def test_it_loses_its_partitions_while_it_stands_still(
    staging: Staged, topic: Callable[..., str], at_once: bool
) -> None:
    with running(staging, topic, "copy", session=LONG if at_once else SHORT) as own:
        fault = EvictProgram(group=own.group, assignors=ASSIGNORS, at_once=at_once)
        with own.flowing():
            with own.struck(fault) as (injection, proof):
                process = own.program.supervisor.running()
                assert injection.target == process.instance
                assert process.frozen()
                assert f"group {own.group} assigned all its partitions to another member" in proof
                assert members(own) == ("onceproof-other-member",)
                before = own.said()
            assert own.program.supervisor.running() is process, "it goes on as the one that it was"
            own.heard("lost")
        assert "lost" not in " ".join(before)
        eventually(lambda: not own.missing(), "an effect of each", own.said)
        assert len(members(own)) == 1


def test_it_is_removed_while_it_stands_still(staging: Staged, topic: Callable[..., str]) -> None:
    with running(staging, topic, "copy", session=LONG) as own, own.flowing():
        with own.struck(RemoveProgram(group=own.group)) as (injection, proof):
            process = own.program.supervisor.running()
            assert injection.target == process.instance
            assert f"while it was removed from group {own.group}" in proof
            assert members(own) == ()
        assert own.program.supervisor.running() is process, "it goes on as the one that it was"
        own.heard("lost")
        eventually(lambda: not own.missing(), "an effect of each", own.said)
        assert len(members(own)) == 1


def test_one_of_two_workers_is_paused_until_the_other_has_its_partitions(
    staging: Staged, topic: Callable[..., str]
) -> None:
    with running(staging, topic, "copy", workers=2, session=SHORT) as own:
        eventually(lambda: len(members(own)) == 2, "both to be members")
        fault = EvictProgram(group=own.group, one_of_several=True)
        with own.flowing():
            with own.struck(fault) as (injection, proof):
                pids = own.program.supervisor.running().pids()
                still = [p for p in pids if psutil.Process(p).status() == psutil.STATUS_STOPPED]
                assert len(still) == 1, "the other goes on"
                assert injection.target.startswith(f"process {still[0]} of ")
                assert "went from 2 members to 1" in proof
                at = own.sent
                eventually(
                    lambda: any(int(r[2:]) > at for r in own.effects()), "the other's effects"
                )
            eventually(lambda: len(members(own)) == 2, "the paused one to come back", own.said)
        eventually(lambda: not own.missing(), "an effect of each", own.said)


def test_one_of_two_instances_is_paused_until_the_other_has_done_its_work(
    staging: Staged, topic: Callable[..., str]
) -> None:
    with running(staging, topic, "copy", workers=2, session=SHORT) as own:
        eventually(lambda: len(members(own)) == 2, "both to be members")
        with own.flowing(), own.struck(PauseInstance(number=1, seconds=60.0)) as (injection, proof):
            pid = int(injection.target.split()[1])
            assert psutil.Process(pid).status() == psutil.STATUS_STOPPED
            assert "the others have written output for all of the input" in proof
        assert psutil.Process(pid).status() != psutil.STATUS_STOPPED
        eventually(lambda: not own.missing(), "an effect of each", own.said)


def test_one_of_two_instances_is_killed_and_comes_back(
    staging: Staged, topic: Callable[..., str]
) -> None:
    with running(staging, topic, "copy", workers=2, session=SHORT) as own:
        eventually(lambda: len(members(own)) == 2, "both to be members")
        with own.flowing():
            with own.struck(KillInstance(group=own.group)) as (injection, proof):
                killed = int(injection.target.split()[1])
                assert f"ended by signal 9; 1 of 2 members left group {own.group}" in proof
            eventually(lambda: len(members(own)) == 2, "it to come back", own.said)
            assert killed not in own.program.supervisor.running().pids()
        eventually(lambda: not own.missing(), "an effect of each", own.said)


def test_each_of_two_that_are_in_no_group_is_killed_while_the_other_does_its_work(
    staging: Staged, topic: Callable[..., str]
) -> None:
    with running(staging, topic, "copy", workers=2, session=SHORT) as own:
        eventually(lambda: len(members(own)) == 2, "both to be members")
        with own.flowing():
            with own.struck(KillEach(processes=2, seconds=60.0)) as (injection, proof):
                assert len(set(re.findall(r"process (\d+) of", proof))) == 2
                others = "ended by signal 9; the others have written output for all of"
                assert proof.count(others) == 2
                killed = {int(pid) for pid in re.findall(r"process (\d+) of", injection.target)}
            eventually(lambda: len(members(own)) == 2, "both to come back", own.said)
            assert not killed & set(own.program.supervisor.running().pids())
        eventually(lambda: not own.missing(), "an effect of each", own.said)


@pytest.mark.parametrize(
    ("form", "workers"),
    [("transactional", 2), ("fenceless", 2), pytest.param("fenceless", 3, marks=LATER)],
)
def test_a_zombie_commits_only_where_nobody_knows_it_for_one(
    staging: Staged, topic: Callable[..., str], form: str, workers: int
) -> None:
    with running(staging, topic, form, workers=workers, session=SHORT) as own:
        eventually(lambda: len(members(own)) == workers, "all to be members")
        with own.flowing():
            fault = ZombieWorker(group=own.group, still_open=True)
            with own.struck(fault) as (injection, proof):
                pid = int(injection.target.split()[1])
                assert psutil.Process(pid).status() == psutil.STATUS_STOPPED
                left = f"went from {workers} members to {workers - 1}"
                assert f"{left}, which have committed its offsets" in proof
            eventually(lambda: len(members(own)) == workers, "the zombie to come back", own.said)
        eventually(lambda: not own.missing(), "an effect of each", own.said)
        twice = [record for record, count in own.effects().items() if count > 1]
        assert bool(twice) is (form == "fenceless")


@pytest.mark.parametrize(
    ("form", "others"),
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
def test_a_zombie_writes_rows_again_only_where_nothing_tells_them_apart(
    staging: Staged, topic: Callable[..., str], form: str, others: str
) -> None:
    with running(staging, topic, form, workers=2, session=SHORT) as own:
        eventually(lambda: len(members(own)) == 2, "both to be members")
        with own.flowing():
            with own.struck(ZombieWorker(group=own.group, at="write")) as (injection, proof):
                pid = int(injection.target.split()[1])
                assert psutil.Process(pid).status() == psutil.STATUS_STOPPED
                assert "its write held in server process" in proof
                assert f"went from 2 members to 1, which {others}" in proof
            eventually(lambda: len(members(own)) == 2, "the zombie to come back", own.said)
        eventually(lambda: not own.missing(), "an effect of each", own.said)
        twice = [record for record, count in own.effects().items() if count > 1]
        assert bool(twice) is (form == "twice")


@LATER
def test_of_three_the_zombie_is_the_one_whose_write_is_held(
    staging: Staged, topic: Callable[..., str]
) -> None:
    with running(staging, topic, "twice", workers=3, session=SHORT) as own:
        eventually(lambda: len(members(own)) == 3, "all to be members")
        with own.flowing():
            with own.struck(ZombieWorker(group=own.group, at="write")) as (_, proof):
                assert "went from 3 members to 2, which have written output for all of" in proof
            eventually(lambda: len(members(own)) == 3, "the zombie to come back", own.said)
        eventually(lambda: not own.missing(), "an effect of each", own.said)
        # What was held has landed, and others had written the same meanwhile.
        assert [record for record, count in own.effects().items() if count > 1]


def test_one_process_alone_is_not_one_of_several(
    staging: Staged, topic: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(several, "_JOIN_SECONDS", 10.0)
    with running(staging, topic, "copy") as own, own.flowing():
        fault = EvictProgram(group=own.group, one_of_several=True)
        with pytest.raises(StageTrouble, match="only one process of the pipeline is connected"):
            fault.inject(own.context, "x")
        assert not own.program.supervisor.running().frozen()
