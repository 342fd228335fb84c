"""The hazards that a profile implies, and the schedule that tests them."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from itertools import groupby, pairwise

import pytest

from onceproof.harness.faults.database.strike_database import StrikeDatabase
from onceproof.harness.faults.http.strike_http import StrikeHttp
from onceproof.harness.faults.kill import Kill
from onceproof.harness.faults.program.evict_program import EvictProgram
from onceproof.harness.faults.program.kill_each import KillEach
from onceproof.harness.faults.program.odd_input import OddInput
from onceproof.harness.faults.program.pause_instance import PauseInstance
from onceproof.harness.faults.program.remove_program import RemoveProgram
from onceproof.harness.faults.program.withhold_writes import WithholdWrites
from onceproof.harness.faults.program.zombie_worker import ZombieWorker
from onceproof.harness.faults.targets.brokers import PROGRAM_START
from onceproof.harness.faults.targets.program import Program
from onceproof.harness.faults.targets.program_commit import HAZARDS, KILLED_AT_WORK
from onceproof.harness.faults.targets.spark_driver import SparkDriver
from onceproof.harness.schedule.as_json import schedule_from_json, schedule_to_json
from onceproof.harness.schedule.scenario import ScheduledFault
from onceproof.harness.stage.backends import EVERYTHING
from onceproof.harness.user_pipeline.profile import ABORTED, EMPTY, KEYS, NULL, OVERSIZE, Profile
from onceproof.harness.user_pipeline.program import PROGRAM
from onceproof.verify.fine_print import fine_print_of
from onceproof.verify.hazards.asking import LATE_SECONDS
from onceproof.verify.hazards.hazard import PHASES, Hazard, Pipeline
from onceproof.verify.hazards.registry import NAMES, TABLE
from onceproof.verify.plan import ROUNDS, plan
from tests.unit.onceproof.verify.profiles_made_up import (
    COPY,
    OFFSETS_IN_A_TOPIC,
    PROFILES,
    READERS,
    ROW_AND_EVENT,
    SPARK_JOB,
    TRANSACTIONAL,
    TWO_WORKERS,
)

UNCOMMITTED = (
    "it reads with read_uncommitted, so records of aborted transactions have effects; if its input "
    "can have any, give --transactional-input"
)
SIDE_BY_SIDE = frozenset({ABORTED, NULL, OVERSIZE, KEYS, "partition-added"})
"""Hazards of the input, which are tested at the same time."""


def pipeline(profile: Profile, *, spark: bool = False, kinds: tuple[str, ...] = ()) -> Pipeline:
    other = "http" if profile.http_methods else "postgres"
    kinds = kinds or ("topic" if profile.topics else other,)
    return Pipeline(
        profile=profile, inputs=("orders",), kinds=kinds, topics=profile.topics, spark=spark
    )


PIPELINES = {
    **{name: pipeline(profile) for name, profile in PROFILES.items()},
    "offsets-in-a-topic": replace(pipeline(OFFSETS_IN_A_TOPIC), topics=("enriched",)),
    "queue": pipeline(COPY, kinds=("queue", "topic")),
    "spark": pipeline(SPARK_JOB, spark=True),
    "odd orders": replace(pipeline(COPY), odd_orders=(KEYS, NULL, OVERSIZE, EMPTY)),
}
ALWAYS = {"stopped-with-work", "leader-killed", "cut-off"}
UNWATCHED = ALWAYS | {"killed-at-work", "partition-added"}
PROGRAMS = UNWATCHED | {"broker-lost-at-start"}
ODD_ONES = {"aborted-input", "null-values", "restarted-idle"}
COMMITS = {
    "killed-before-commit", "killed-after-commit", "commit-unknown", "commit-unheard",
    "coordinator-moved",
}  # fmt: skip
MEMBER = {"evicted", "rebalanced", "coordinator-killed"}
PRODUCES = {
    "produce-unavailable", "produce-unknown", "produce-unheard", "killed-with-writes",
}  # fmt: skip
ROWS = {
    "database-commit-lost", "database-commit-unheard", "database-connection-lost",
    "database-refused", "database-slow", "database-killed",
}  # fmt: skip
CALLS = {
    "http-request-lost", "http-answer-unheard", "http-connection-lost", "http-unavailable",
    "http-slow", "http-paused", "http-killed",
}  # fmt: skip
EXPECTED = {
    "copy": PROGRAMS | COMMITS | MEMBER | PRODUCES | ODD_ONES
    | {"commit-refused", "produce-refused"},
    "transactional": PROGRAMS | COMMITS | MEMBER | PRODUCES | ODD_ONES
    | {"transaction-aborted", "producer-fenced"},
    "offsets-in-a-topic": PROGRAMS | COMMITS | PRODUCES | ODD_ONES
    | {"transaction-aborted", "killed-between-writes", "paused"},
    "flink": PROGRAMS | COMMITS | PRODUCES | ODD_ONES
    | {"transaction-aborted", "commit-refused", "paused"},
    "database": PROGRAMS | COMMITS | MEMBER | ROWS | ODD_ONES
    | {"commit-refused", "killed-with-writes"},
    "service": PROGRAMS | COMMITS | MEMBER | CALLS | ODD_ONES
    | {"commit-refused", "killed-with-writes"},
    "textbook": PROGRAMS | ROWS
    | {"killed-with-writes", "killed-between-writes", "paused", "restarted-idle"},
    "row-and-event": PROGRAMS | COMMITS | MEMBER | PRODUCES | ROWS | ODD_ONES
    | {"commit-refused", "produce-refused", "killed-between-writes"},
    "unwatched": UNWATCHED | COMMITS | MEMBER | {"commit-refused"},
    "nothing-seen": PROGRAMS | {"paused", "restarted-idle"},
    "queue": PROGRAMS | COMMITS | MEMBER | PRODUCES | ODD_ONES
    | {"commit-refused", "produce-refused", "queue-broker-lost"},
    "spark": ALWAYS
    | {"killed-after-offset-log", "replayed-batch", "killed-after-batch-commit", "paused"},
}  # fmt: skip
EXPECTED["two-workers"] = EXPECTED["copy"] | {"instance-killed"}
EXPECTED["active-and-standby"] = EXPECTED["textbook"] | {"instance-killed", "instance-paused"}
EXPECTED["odd orders"] = EXPECTED["copy"] | {KEYS, OVERSIZE, EMPTY}


def names(hazards: tuple[Hazard, ...]) -> set[str]:
    return {hazard.name for hazard in hazards}


@pytest.mark.parametrize("name", PIPELINES)
def test_profile_has_the_expected_hazards(name: str) -> None:
    planned = plan(PIPELINES[name], "brutal")
    assert names(planned.hazards) == EXPECTED[name]
    assert set(planned.absent) == set(NAMES) - EXPECTED[name]
    assert all(planned.absent.values()), "each is told why"


def test_pipelines_cover_all_hazards() -> None:
    assert len(set(NAMES)) == len(NAMES)
    assert set(NAMES) == set().union(*EXPECTED.values())
    assert set.intersection(*EXPECTED.values()) == ALWAYS


@pytest.mark.parametrize("preset", ROUNDS)
@pytest.mark.parametrize("name", PIPELINES)
def test_schedule_tests_each_hazard_in_each_round(name: str, preset: str) -> None:
    planned = plan(PIPELINES[name], preset)
    rounds = {hazard.name: set[str]() for hazard in planned.hazards}
    for at in planned.schedule:
        hazard, part = at.name.rsplit(" ", 1)
        assert hazard == at.hazard
        rounds[hazard].add(part.partition(".")[0])
    often = ROUNDS[preset]
    seldom = {"gentle": 1, "standard": 1, "brutal": 3}[preset]
    assert {name: len(each) for name, each in rounds.items()} == {
        hazard.name: seldom if hazard.rare else often for hazard in planned.hazards
    }


@pytest.mark.parametrize("preset", ROUNDS)
@pytest.mark.parametrize("name", PIPELINES)
def test_faults_are_scheduled_one_after_another(name: str, preset: str) -> None:
    schedule = plan(PIPELINES[name], preset).schedule
    assert len({at.name for at in schedule}) == len(schedule)
    assert schedule[0].progress > 0
    assert schedule[0].after == ()
    steps = [list(step) for _, step in groupby(schedule, lambda at: at.after)]
    for before, step in pairwise(steps):
        assert all(at.after == tuple(each.name for each in before) for at in step)
        assert all(at.progress == 0.0 for at in step)
    together = [{at.hazard for at in step} for step in steps if len(step) > 1]
    assert (preset == "brutal") or all(step <= SIDE_BY_SIDE for step in together)
    assert not any(at.required for at in schedule), "one not met leaves a claim unexercised"
    assert all(at.tries >= 3 for at in schedule)
    offered = EVERYTHING | {PROGRAM, "spark", "driver"}
    assert all(set(at.needs) <= offered for at in schedule)
    assert schedule_from_json(json.loads(json.dumps(schedule_to_json(schedule)))) == schedule


def test_input_hazards_are_scheduled_together() -> None:
    schedule = plan(PIPELINES["copy"], "gentle").schedule
    (step,) = [
        {at.hazard for at in step}
        for _, each in groupby(schedule, lambda at: at.after)
        if len(step := list(each)) > 1
    ]
    assert (
        step == {hazard.name for hazard in plan(PIPELINES["copy"], "gentle").hazards} & SIDE_BY_SIDE
    )


def test_empty_partition_is_tested_first_and_once() -> None:
    schedule = plan(PIPELINES["odd orders"], "standard").schedule
    assert [at.hazard for at in schedule].index(EMPTY) == 0
    assert sum(at.hazard == EMPTY for at in schedule) == 1


def test_brutal_combines_program_and_broker_faults() -> None:
    schedule = plan(PIPELINES["copy"], "brutal").schedule
    steps = [[at.name for at in step] for _, step in groupby(schedule, lambda at: at.after)]
    others = [step for step in steps if step[0].split()[0] not in SIDE_BY_SIDE]
    assert [step for step in others if len(step) > 1] == [
        [f"{program} {n}", f"{broker} {n}"]
        for n in (2, 3)
        for program, broker in (
            ("evicted", "cut-off"),
            ("stopped-with-work", "coordinator-killed"),
            ("killed-at-work", "leader-killed"),
        )
    ]


def records_hazard(at: ScheduledFault) -> bool:
    """Whether the fault itself records the hazard that it causes."""
    match at.do:
        case Kill(target=Program(), at=None):
            return at.hazard == KILLED_AT_WORK
        case Kill(target=Program(), at=moment):
            return at.hazard == HAZARDS[moment]  # type: ignore[index]
        case Kill(target=SparkDriver()):
            return at.hazard == "replayed-batch"
    return False


@pytest.mark.parametrize("name", PIPELINES)
def test_only_faults_that_record_their_hazard_are_marked(name: str) -> None:
    for at in plan(PIPELINES[name], "brutal").schedule:
        assert at.tells is records_hazard(at), at.name


def test_broker_lost_at_start_is_coordinator_or_leader() -> None:
    def lost(which: str) -> list[str]:
        found = faults_for(PIPELINES[which], "broker-lost-at-start")
        return [
            at.do.target.describe()
            for at in found
            if isinstance(at.do, Kill) and at.do.at == PROGRAM_START
        ]

    assert lost("copy")[:2] == [
        "the coordinator of group readers",
        "the broker that leads enriched partition 1",
    ]
    assert lost("nothing-seen")[0] == "the broker that leads input partition 0"


def test_accepted_hazard_is_scheduled_but_not_required() -> None:
    planned = plan(PIPELINES["copy"], "standard", ("evicted", "producer-fenced"))
    assert names(planned.accepted) == {"evicted"}
    assert names(planned.hazards) == EXPECTED["copy"] - {"evicted", "produce-refused"}
    assert "evicted" in {at.hazard for at in planned.schedule}


@pytest.mark.parametrize("preset", ["gentle", "standard"])
def test_brutal_hazard_is_absent_from_other_presets(preset: str) -> None:
    planned = plan(PIPELINES["copy"], preset)
    (hazard,) = (hazard for hazard in TABLE if hazard.brutal)
    assert hazard.name not in names(planned.hazards)
    assert planned.absent[hazard.name] == "only --preset brutal tests it"


def faults_for(which: Pipeline, name: str, rounds: int = 5) -> list[ScheduledFault]:
    return [at for at in plan(which, "brutal").schedule if at.hazard == name][:rounds]


def test_reason_says_when_the_pipeline_was_not_observed() -> None:
    absent = plan(PIPELINES["unwatched"], "standard").absent
    assert absent["producer-fenced"] == "it has no transactions, as far as could be observed"
    assert plan(PIPELINES["copy"], "standard").absent["producer-fenced"] == "it has no transactions"


@pytest.mark.parametrize(
    ("change", "absent"),
    [
        ({}, {}),
        (
            {"survives": (), "ends_at": (ABORTED,)},
            {
                ABORTED: "in the dry run, it ended at records of an aborted transaction",
                NULL: "the dry run did not show that it continues after them; it ended at records "
                "of an aborted transaction",
            },
        ),
        (
            {"survives": (ABORTED,), "ends_at": (NULL,)},
            {NULL: "in the dry run, it ended at records with a null value"},
        ),
        (
            {"survives": (ABORTED,)},
            {
                NULL: "the dry run did not show that it continues after them, or their effects "
                "carry no identity"
            },
        ),
        (
            {"read_committed": False},
            {ABORTED: UNCOMMITTED},
        ),
        ({"read_committed": False, "transactional_ids": 1}, {}),
    ],
)
def test_odd_records_need_a_pipeline_that_survived_them(
    change: dict[str, object], absent: dict[str, str]
) -> None:
    planned = plan(pipeline(replace(COPY, **change)), "standard")  # type: ignore[arg-type]
    found = {name: reason for name, reason in planned.absent.items() if name in (ABORTED, NULL)}
    assert found == absent


@pytest.mark.parametrize(
    ("read_committed", "transactional", "absent"),
    [(False, False, UNCOMMITTED), (False, True, None), (True, False, None), (True, True, None)],
)
def test_spark_job_gets_aborted_records_if_it_must_not_read_them(
    read_committed: bool, transactional: bool, absent: str | None
) -> None:
    job = pipeline(replace(SPARK_JOB, read_committed=read_committed), spark=True)
    job = replace(job, transactional_input=transactional)
    assert plan(job, "standard").absent.get(ABORTED) == absent
    assert all(at.do == OddInput(records=ABORTED, phase=at.do.phase, spark=True)  # type: ignore[attr-defined]
               for at in faults_for(job, ABORTED))  # fmt: skip


def test_transactional_input_tests_reading_of_aborted_records() -> None:
    copy = pipeline(replace(COPY, read_committed=False))
    assert ABORTED in plan(copy, "standard").absent
    assert ABORTED not in plan(replace(copy, transactional_input=True), "standard").absent


def test_plain_data_excludes_odd_records() -> None:
    planned = plan(replace(PIPELINES["copy"], plain_data=True), "standard")
    assert {planned.absent[name] for name in (ABORTED, NULL)} == {"--plain-data excludes it"}


def test_upserts_exclude_added_partitions() -> None:
    planned = plan(replace(PIPELINES["copy"], upserts=True), "standard")
    assert "in no defined order" in planned.absent["partition-added"]


def test_each_round_kills_at_a_different_phase() -> None:
    phases = [at.do.target.phase for at in faults_for(PIPELINES["copy"], KILLED_AT_WORK)]  # type: ignore[attr-defined]
    assert phases == list(PHASES)
    assert len(set(phases)) == 5
    assert 0.0 in phases[:3], "just behind a write"
    assert max(phases[:3]) >= 0.8, "and shortly before the next"


def test_faults_cover_every_topic_and_table() -> None:
    both = pipeline(replace(ROW_AND_EVENT, tables=("ledger", "seen"), topics=("events", "audit")))
    first = [at for at in faults_for(both, "killed-with-writes", 99) if "1." in at.name]
    withheld = {at.do.topic for at in first if isinstance(at.do, WithholdWrites)}
    assert withheld == {"events", "audit"}
    assert any(isinstance(at.do, StrikeDatabase) for at in first)
    between = [at for at in faults_for(both, "killed-between-writes", 99) if at.name[-3:-1] == "1."]
    assert [at.do.table for at in between if isinstance(at.do, StrikeDatabase)] == [
        "ledger", "seen"
    ]  # fmt: skip


def test_pipeline_is_killed_before_it_writes_offsets_to_a_topic() -> None:
    which = PIPELINES["offsets-in-a-topic"]
    (withheld, *_) = (at.do for at in faults_for(which, "killed-between-writes"))
    assert isinstance(withheld, WithholdWrites)
    assert withheld.topic == "offsets"
    for name in HAZARDS.values():
        assert len(faults_for(which, name, 99)) == 5, "at the end of a transaction"
    (unknown, *_) = (at.do for at in faults_for(which, "commit-unknown"))
    assert unknown.message.api == "EndTxn"  # type: ignore[attr-defined]


def test_rarely_written_topic_is_not_waited_for() -> None:
    once = replace(OFFSETS_IN_A_TOPIC, rarely_written=("offsets",))
    planned = plan(replace(pipeline(once), topics=("enriched",)), "gentle")
    assert planned.absent["killed-between-writes"] == "it has only one output"


def test_database_refusals_cover_each_kind() -> None:
    dos = [at.do for at in faults_for(PIPELINES["database"], "database-refused", 3)]
    assert Counter((do.when, do.code) for do in dos if isinstance(do, StrikeDatabase)) == {
        ("statement", "40001"): 1, ("commit", "40001"): 1, ("statement", "40P01"): 1
    }  # fmt: skip


def test_first_slow_operation_is_a_statement() -> None:
    """PostgreSQL's statement_timeout does not reach what a commit waits for."""
    dos = [at.do for at in faults_for(PIPELINES["database"], "database-slow", 3)]
    assert [(do.when, do.act) for do in dos if isinstance(do, StrikeDatabase)] == [
        ("statement", "slow"), ("commit", "slow"), ("statement", "slow")
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("profile", "one", "at_once"),
    [
        (COPY, False, [True, True, True]),
        (replace(COPY, group=replace(READERS, session_ms=6_000)), False, [False, True, True]),
        (replace(COPY, group=replace(READERS, static=True)), False, [False, False, False]),
        (TWO_WORKERS, True, [False, False, False]),
        (replace(TWO_WORKERS, processes=1), False, [True, True, True]),
    ],
    ids=["one", "short-session", "static", "two", "two-in-one-process"],
)
def test_eviction_depends_on_the_group(profile: Profile, one: bool, at_once: list[bool]) -> None:
    dos = [at.do for at in faults_for(pipeline(profile), "evicted", 3)]
    assert all(isinstance(do, EvictProgram) and do.one_of_several is one for do in dos)
    assert [do.at_once for do in dos if isinstance(do, EvictProgram)] == at_once


def test_eviction_of_one_of_several_workers_makes_it_a_zombie() -> None:
    group = replace(READERS, members=2)
    worker = pipeline(replace(TRANSACTIONAL, group=group, processes=2))
    for at in faults_for(worker, "evicted"):
        assert at.do == ZombieWorker(group="readers", still_open=True)
        assert at.gated == ("pipeline",)
        assert at.seconds == 30.0 + 45.0, "nobody knows which member to remove before its time-out"
    short = replace(TRANSACTIONAL, group=group, processes=2, transaction_ms=40_000)
    for at in faults_for(pipeline(short), "evicted"):
        assert at.do == ZombieWorker(group="readers"), "its transaction ends before its session"
    rows = pipeline(replace(TWO_WORKERS, tables=("shipped",)))
    for at in faults_for(rows, "evicted"):
        assert at.do == ZombieWorker(group="readers", at="write")
        assert at.gated == ()
    unwatched = pipeline(replace(TRANSACTIONAL, group=group, processes=2, watched=False))
    assert all(isinstance(at.do, EvictProgram) for at in faults_for(unwatched, "evicted"))


@pytest.mark.parametrize("preset", ROUNDS)
def test_database_writer_is_stopped_while_its_commit_is_held(preset: str) -> None:
    def held(name: str) -> list[object]:
        schedule = plan(PIPELINES[name], preset).schedule
        stopped = [at.do for at in schedule if at.hazard == "stopped-with-work"]
        return [do for do in stopped if isinstance(do, StrikeDatabase)]

    assert held("database") == ROUNDS[preset] * [
        StrikeDatabase(when="commit", act="stop", seconds=PIPELINES["database"].patience)
    ]
    assert not held("copy")
    assert not held("unwatched")


def test_each_process_without_a_group_is_paused_and_killed() -> None:
    standby = PIPELINES["active-and-standby"]
    paused = faults_for(standby, "instance-paused")
    assert [at.do for at in paused[:2]] == [
        PauseInstance(number=number, phase=PHASES[0]) for number in (0, 1)
    ]
    killed = faults_for(standby, "instance-killed")
    assert killed[0].do == KillEach(processes=2, phase=PHASES[0])
    assert all(at.seconds > 30.0 for at in (*paused, *killed)), "others may take that long"
    absent = plan(PIPELINES["textbook"], "gentle").absent
    for hazard in ("instance-killed", "instance-paused"):
        assert absent[hazard].startswith("only one of its processes")


def test_group_with_unsupported_assignor_is_not_joined() -> None:
    connect = replace(READERS, protocol_type="connect", assignors=("sessioned",))
    absent = plan(pipeline(replace(COPY, group=connect)), "standard").absent
    assert "by sessioned, which onceproof's member does not support" in absent["rebalanced"]
    (removed, *_) = (at.do for at in faults_for(pipeline(replace(COPY, group=connect)), "evicted"))
    assert isinstance(removed, RemoveProgram)
    static = replace(connect, static=True)
    absent = plan(pipeline(replace(COPY, group=static)), "standard").absent
    assert "by sessioned" in absent["evicted"], "only its session's time-out removes it"
    newer = replace(READERS, protocol="consumer", assignors=())
    assert "rebalanced" not in plan(pipeline(replace(COPY, group=newer)), "standard").absent
    alone = replace(TWO_WORKERS, group=replace(connect, members=2))
    (paused, *_) = (at.do for at in faults_for(pipeline(alone), "evicted"))
    assert isinstance(paused, EvictProgram), "its sibling has its partitions"


@pytest.mark.parametrize(("seconds", "patience"), [(None, 1.0), (5.0, 8.5), (60.0, 35.0)])
def test_faults_allow_time_for_periodic_commits(seconds: float | None, patience: float) -> None:
    which = pipeline(replace(COPY, commit_seconds=seconds))
    assert which.patience == patience
    (first, *others) = (at.do for at in faults_for(which, "killed-with-writes"))
    assert isinstance(first, WithholdWrites)
    assert first.seconds == max(patience, LATE_SECONDS), "longer than it waits for a delivery"
    assert {at.seconds for at in others if isinstance(at, WithholdWrites)} == {patience}


def test_acks_0_excludes_hazards_of_produce_responses() -> None:
    without = plan(pipeline(replace(COPY, acks=0)), "standard")
    names = {"produce-unavailable", "produce-refused", "produce-unknown", "produce-unheard"}
    assert names <= set(without.absent)
    assert "acks=0" in without.absent["produce-unknown"]
    assert "killed-with-writes" not in without.absent


def test_odd_input_is_sent_unless_orders_contain_it() -> None:
    for odd_orders, in_orders in (((), False), ((NULL,), True)):
        planned = plan(replace(pipeline(COPY), odd_orders=odd_orders), "gentle")
        (fault,) = [at.do for at in planned.schedule if at.hazard == NULL]
        assert isinstance(fault, OddInput)
        assert fault.orders is in_orders


@pytest.mark.parametrize(
    ("survives", "ends_at", "reason"),
    [
        ((ABORTED, NULL, OVERSIZE), (), "only generated orders contain it"),
        ((ABORTED,), (NULL, OVERSIZE), "in the dry run, it ended at records larger than brokers"),
        ((ABORTED, NULL), (), "the dry run did not show that it continues after them"),
    ],
)
def test_absent_oversize_hazard_has_a_reason(
    survives: tuple[str, ...], ends_at: tuple[str, ...], reason: str
) -> None:
    profile = replace(COPY, survives=survives, ends_at=ends_at)
    assert plan(pipeline(profile), "gentle").absent[OVERSIZE].startswith(reason)


def test_only_topics_of_the_profile_are_withheld() -> None:
    with_letters = replace(pipeline(COPY), topics=(*COPY.topics, "rejected"))
    planned = plan(with_letters, "gentle")
    withheld = [at.do.topic for at in planned.schedule if isinstance(at.do, WithholdWrites)]
    assert set(withheld) == set(COPY.topics)


def test_fine_print_gives_each_reason_once() -> None:
    text = fine_print_of(plan(PIPELINES["copy"], "standard"))
    assert text.count("it does not write to the stage's database") == 1
    assert "database-slow, database-killed: it does not write to the stage's database;" in text


def test_no_partition_is_added_for_kafka_streams() -> None:
    streams = replace(READERS, assignors=("stream",))
    absent = plan(pipeline(replace(COPY, group=streams)), "gentle").absent
    assert "Kafka Streams stops permanently" in absent["partition-added"]


def test_first_request_before_a_kill_is_held_for_a_late_commit() -> None:
    schedule = plan(PIPELINES["service"], "standard").schedule
    held = [at.do for at in schedule if at.hazard == "killed-with-writes"]
    strikes = [(do.act, do.seconds) for do in held if isinstance(do, StrikeHttp)]
    acts = ("kill-undone", "kill-refused")
    assert strikes == [(act, seconds) for seconds in (LATE_SECONDS, 1.0, 1.0) for act in acts]
    cuts = [at.do.act for at in schedule if at.hazard == "http-connection-lost"]  # type: ignore[attr-defined]
    assert cuts == ["cut-landed", "cut-undone", "cut-landed"]
