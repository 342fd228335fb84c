"""Hazards of members of a consumer group."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from onceproof.harness.faults.program.evict_program import EvictProgram
from onceproof.harness.faults.program.kill_each import KillEach
from onceproof.harness.faults.program.kill_instance import KillInstance
from onceproof.harness.faults.program.other_member import common
from onceproof.harness.faults.program.pause_instance import PauseInstance
from onceproof.harness.faults.program.rebalance_program import RebalanceProgram
from onceproof.harness.faults.program.remove_program import RemoveProgram
from onceproof.harness.faults.program.zombie_worker import Held, ZombieWorker
from onceproof.harness.user_pipeline.profile import CONSUMER, GroupProfile
from onceproof.verify.hazards.asking import (
    cannot_pause,
    commits_to_kafka,
    is_program,
    phase,
    produces,
    transactional,
)
from onceproof.verify.hazards.hazard import Hazard, Pipeline, Strike

_BROKERS_SESSION_MS: Final = 45_000
"""Default of `group.consumer.session.timeout.ms`, for groups of the newer protocol."""
_OUT_SECONDS: Final = 30.0
"""Longer than the leases that processes usually take."""
_KILL_SECONDS: Final = 2 * _OUT_SECONDS
"""Time for killing one process until it runs again."""
_OUT_AT_MOST: Final = 3
"""How many processes outside any group are killed or paused in a round."""
_TAKEOVER_SECONDS: Final = 5.0
"""Time for other members to process what an expired member had in flight."""
_SHORT_SESSION_MS: Final = 10_000
"""The longest session timeout to wait for; beyond it, the trial removes the member itself."""


def _evicted(pipeline: Pipeline, n: int) -> Iterator[Strike]:
    group = pipeline.group
    assert group is not None, "asked for before"
    several = _several_members(pipeline)
    if not several and _not_joined(group) is not None:
        yield Strike(do=RemoveProgram(group=group.name, phase=phase(n)))
        return
    if several and (at := _held_at(pipeline)):
        lasts = (pipeline.profile.transaction_ms or 0) / 1000
        fault = ZombieWorker(
            group=group.name, at=at, still_open=lasts > _session(group) + _TAKEOVER_SECONDS
        )
        yield Strike(do=fault, seconds=_session(group))
        return
    short = group.session_ms is not None and group.session_ms <= _SHORT_SESSION_MS
    yield Strike(
        do=EvictProgram(
            group=group.name,
            assignors=group.assignors,
            protocol=group.protocol,
            one_of_several=several,
            at_once=not (several or group.static or (short and n % 3 == 0)),
            phase=phase(n),
        ),
        seconds=_session(group) if several else 0.0,
    )


def _held_at(pipeline: Pipeline) -> Held | None:
    """Return where one of several processes can be held with unprocessed records."""
    if transactional(pipeline) and pipeline.profile.watched:
        return "offsets"
    return "write" if pipeline.profile.tables else None


def _session(group: GroupProfile) -> float:
    """Return the session timeout, which must expire if it is unknown which member to remove."""
    if group.session_ms is None and group.protocol == CONSUMER:
        return _BROKERS_SESSION_MS / 1000
    return (group.session_ms or 0) / 1000


def _rebalanced(pipeline: Pipeline, n: int) -> Iterator[Strike]:
    group = pipeline.group
    assert group is not None, "asked for before"
    topics = pipeline.produced if produces(pipeline) else ()
    yield Strike(
        do=RebalanceProgram(
            group=group.name,
            assignors=group.assignors,
            protocol=group.protocol,
            phase=phase(n),
            topic=topics[n % len(topics)] if topics else None,
            tables=pipeline.profile.tables if pipeline.profile.watched else (),
            in_hand=_eager_alone(pipeline, group),
        )
    )


def _eager_alone(pipeline: Pipeline, group: GroupProfile) -> bool:
    """Whether its group uses eager rebalancing, and every observed commit is its own."""
    eager = common(group.assignors) != ("cooperative-sticky",) and group.protocol != CONSUMER
    alone = pipeline.profile.watched and not _several_members(pipeline)
    return eager and alone and commits_to_kafka(pipeline)


def _instance_killed(pipeline: Pipeline, n: int) -> Iterator[Strike]:
    group = pipeline.group
    if group is not None and _several_members(pipeline):
        yield Strike(do=KillInstance(group=group.name, phase=phase(n)), seconds=_session(group))
        return
    processes = _processes_hit(pipeline)
    fault = KillEach(processes=processes, seconds=_OUT_SECONDS, phase=phase(n))
    yield Strike(do=fault, seconds=processes * _KILL_SECONDS)


def _each_paused(pipeline: Pipeline, n: int) -> Iterator[Strike]:
    # It is not visible which instance is active and which is on standby.
    for number in range(_processes_hit(pipeline)):
        fault = PauseInstance(number=number, seconds=_OUT_SECONDS, phase=phase(n))
        yield Strike(do=fault, seconds=_OUT_SECONDS)


def _processes_hit(pipeline: Pipeline) -> int:
    """Return how many of its processes are killed or paused, one after the other."""
    return min(pipeline.profile.processes, _OUT_AT_MOST)


def _single_process(pipeline: Pipeline) -> str | None:
    """Return why it has no second process, or None."""
    if not is_program(pipeline):
        return "Spark coordinates its processes itself"
    if pipeline.profile.processes == 1:
        return "only one of its processes is connected to brokers; --instances N starts several"
    return None


def _no_other_processes(pipeline: Pipeline) -> str | None:
    """Return why no process of it can be paused while others continue, or None."""
    return _single_process(pipeline) or (
        "hazard evicted is tested instead" if _several_members(pipeline) else None
    )


def _no_group(pipeline: Pipeline) -> str | None:
    group = pipeline.group
    if group is None:
        return "it has no consumer group that another member could join"
    return _not_joined(group)


def _not_joined(group: GroupProfile) -> str | None:
    """Return why onceproof's member cannot join its group, or None."""
    if group.protocol == "classic" and not common(group.assignors):
        how = ", ".join(group.assignors) or "a custom protocol"
        return f"its group assigns partitions by {how}, which onceproof's member does not support"
    return None


def evictable(pipeline: Pipeline) -> str | None:
    """Return why it cannot lose its partitions, or None."""
    group = pipeline.group
    if _several_members(pipeline) or (group is not None and not group.static):
        return None  # to another instance, to onceproof's member, or to no member
    return _no_group(pipeline)


def _several_members(pipeline: Pipeline) -> bool:
    """Whether several of its processes are members of its group."""
    group = pipeline.group
    return group is not None and group.members > 1 and pipeline.profile.processes > 1


GROUP_MEMBER: Final[tuple[Hazard, ...]] = (
    Hazard(
        name="instance-killed",
        says="one of its processes is killed, and the others take over its work; without a group, "
        "each process in turn",
        of="pipelines of several processes",
        proof="the process ended by SIGKILL, and its group continued without it; without a group: "
        f"the others had processed the whole input so far, or {_OUT_SECONDS:g} s had passed",
        unless=_single_process,
        strikes=lambda p, n: list(_instance_killed(p, n)),
    ),
    Hazard(
        name="evicted",
        says="it loses its partitions while it has records in flight; it keeps running",
        of="members of a consumer group",
        proof="while it was paused, another member had its partitions, or its group had no members",
        unless=lambda p: (
            cannot_pause(p) or evictable(p) if is_program(p) else "Spark assigns partitions itself"
        ),
        strikes=lambda p, n: list(_evicted(p, n)),
    ),
    Hazard(
        name="instance-paused",
        says="one of its processes is paused while the others continue, then resumed; each process "
        "in turn",
        of="pipelines of several processes that are not members of one consumer group",
        proof="the process was paused until the others had processed the whole input so far, or "
        f"for {_OUT_SECONDS:g} s",
        unless=lambda p: cannot_pause(p) or _no_other_processes(p),
        strikes=lambda p, n: list(_each_paused(p, n)),
        rare=True,
    ),
    Hazard(
        name="rebalanced",
        says="another member joins its group and leaves again while it writes; nothing fails",
        of="members of a consumer group",
        proof="the other member was assigned partitions; where observable, the pipeline had read "
        "inputs that it had not committed",
        unless=lambda p: _no_group(p) if is_program(p) else "Spark assigns partitions itself",
        strikes=lambda p, n: list(_rebalanced(p, n)),
    ),
)
