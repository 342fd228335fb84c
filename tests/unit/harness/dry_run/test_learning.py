"""What a dry run learns from requests at gates, groups and pauses between writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from onceproof.harness.context.run_context import Collected
from onceproof.harness.dry_run.learning import (
    DryRun,
    DryRunResult,
    _commit_interval,
    _isolation,
    _transaction_version,
)
from onceproof.harness.dry_run.pace import PaceMeter
from onceproof.harness.faults.messages.message import AtGates
from onceproof.harness.user_pipeline.outputs.base import UnreadableOutput
from onceproof.harness.user_pipeline.profile import (
    CHECKPOINT,
    CONSUMER,
    DATABASE,
    GROUP,
    TRANSACTION,
    GroupProfile,
    Profile,
)
from onceproof.harness.user_pipeline.statements import Statements
from tests.unit.fakes.pipelines import FakeProgram
from tests.unit.fakes.run_context import FakeContext, FakePipeline, FakeStop

Event = dict[str, Any]


def event(at: float = 0.0, **more: Any) -> Event:
    """A request as a gate reports it, `at` seconds after the start."""
    defaults = {"version": 1, "topics": [], "transactional_ids": [], "groups": [], "settings": {}}
    return {"at": int(at * 1e9), **defaults, **more}


def join_group(name: str = "readers", **settings: Any) -> Event:
    defaults = {
        "protocol_type": "consumer", "protocols": ["range", "roundrobin"],
        "session_timeout_ms": 45_000, "rebalance_timeout_ms": 300_000, "group_instance_id": None,
    }  # fmt: skip
    return event(groups=[name], settings={**defaults, **settings})


class FakeStatements(Statements):
    """Statements that write to the given tables."""

    def __init__(self, tables: tuple[tuple[str, ...], str | None]) -> None:
        self._tables = tables

    def tables(self, ends: Mapping[int, int]) -> tuple[tuple[str, ...], str | None]:
        return self._tables

    def how(self) -> str:
        return "simple"


def learn_profile(
    seen: Mapping[str, Sequence[Event]],
    *,
    members: Mapping[str, GroupProfile] | None = None,
    tables: tuple[tuple[str, ...], str | None] = ((), None),
    gates: bool = True,
    spark: bool = False,
    pause: float = 0.0,
) -> Profile:
    """The profile learned from these events, groups and tables."""
    pipeline = FakePipeline() if spark else FakeProgram()  # neither is probed
    learned = DryRunResult(gates=gates)
    learner = DryRun(FakeContext(pipeline=pipeline), learned)
    learner._seen = {api: list(events) for api, events in seen.items()}
    learner._members = dict(members or {})
    learner._pace._longest = pause
    learner._statements = FakeStatements(tables) if tables[0] else None
    learner.after_collect(Collected(returned={}))
    assert learned.profile is not None
    return learned.profile


def test_learns_a_pipeline_that_commits_to_its_group() -> None:
    found = learn_profile(
        {
            "JoinGroup": [join_group()],
            "Fetch": [event(settings={"isolation_level": 1})],
            "Produce": [event(topics=["enriched"], settings={"acks": -1})],
            "InitProducerId": [event(settings={"transaction_timeout_ms": 2**31 - 1})],
            "OffsetCommit": [event(n * 5.0, groups=["readers"]) for n in range(4)],
        },
        members={"readers": GroupProfile(name="readers", members=2)},
        pause=3.04,
    )
    assert found.commits == (GROUP,)
    assert found.groups == ("readers",)
    assert found.commit_seconds == 5.0
    assert (found.idempotent, found.acks, found.topics) == (True, -1, ("enriched",))
    assert (found.transactional_ids, found.transaction_version) == (0, None)
    assert found.read_committed is True
    assert (found.pause, found.rest) == (3.0, 6.1)
    assert found.group == GroupProfile(
        name="readers", members=2, protocol_type="consumer", assignors=("range", "roundrobin"),
        session_ms=45_000, max_poll_ms=300_000,
    )  # fmt: skip


@pytest.mark.parametrize(("version", "expected"), [(3, 1), (4, 1), (5, 2)])
def test_learns_a_transactional_pipeline(version: int, expected: int) -> None:
    found = learn_profile(
        {
            "Produce": [event(topics=["a", "b"], settings={"acks": -1}), event(topics=["b"])],
            "InitProducerId": [
                event(transactional_ids=["t-1"], settings={"transaction_timeout_ms": 60_000}),
                event(transactional_ids=["t-2"], settings={"transaction_timeout_ms": 60_000}),
            ],
            "TxnOffsetCommit": [event(groups=["readers"])],
            "EndTxn": [event(version=version)],
        }
    )
    assert (found.commits, found.groups) == ((TRANSACTION,), ("readers",))
    assert (found.transactional_ids, found.transaction_ms) == (2, 60_000)
    assert found.transaction_version == expected
    assert found.topics == ("a", "b")
    assert not found.idempotent
    assert found.group is None
    assert found.rest == 5.0, "never less than a few seconds"


def test_offsets_in_a_table_count_as_commits() -> None:
    found = learn_profile({}, tables=(("ledger", "positions"), "positions"))
    assert found.commits == (DATABASE,)
    assert (found.tables, found.position_table) == (("ledger", "positions"), "positions")
    assert found.statements == "simple"
    assert learn_profile({}, tables=(("ledger",), None)).commits == ()


def test_spark_commits_to_its_checkpoint() -> None:
    assert learn_profile({}, spark=True).commits == (CHECKPOINT,)


def test_group_with_members_counts_as_committing_without_gates() -> None:
    members = {"readers": GroupProfile(name="readers", members=1)}
    found = learn_profile({}, members=members, gates=False)
    assert (found.watched, found.commits) == (False, (GROUP,))
    assert learn_profile({}, members=members).commits == (), "a gate would have seen it"
    assert learn_profile({}, gates=False).commits == ()


def test_learns_group_protocol_and_static_membership() -> None:
    found = learn_profile({"JoinGroup": [join_group(group_instance_id="one")]})
    assert found.group is not None
    assert (found.group.static, found.group.protocol) == (True, "classic")
    newer = learn_profile(
        {"ConsumerGroupHeartbeat": [event(groups=["readers"])], "JoinGroup": [join_group()]}
    )
    assert newer.group is not None
    assert newer.group.protocol == CONSUMER


def test_profile_has_the_group_with_most_members() -> None:
    members = {
        "readers": GroupProfile(name="readers", members=3),
        "audit": GroupProfile(name="audit", members=1),
    }
    found = learn_profile(
        {"JoinGroup": [join_group("audit"), join_group("readers")]}, members=members
    )
    assert found.group is not None
    assert (found.group.name, found.group.members) == ("readers", 3)


@pytest.mark.parametrize(
    ("at", "seconds"),
    [
        ([0, 5, 10, 15.2], 5.0),
        ([15.2, 0, 10, 5], 5.0),
        ([0, 0.1, 0.2, 0.3], None),
        ([0, 0.5], None),
        ([0, 0.6], 0.6),
        ([0], None),
        ([], None),
    ],
)
def test_commit_interval_requires_commits_far_apart(at: list[float], seconds: float | None) -> None:
    seen = {"OffsetCommit": [event(second) for second in at]}
    assert _commit_interval(seen, (GROUP,)) == seconds
    assert _commit_interval(seen, (DATABASE,)) is None


def test_commit_interval_of_a_single_commit_starts_at_the_first_fetch() -> None:
    seen = {"OffsetCommit": [event(31.0)], "Fetch": [event(1.0), event(2.0)]}
    assert _commit_interval(seen, (GROUP,)) == 30.0
    assert _commit_interval({"OffsetCommit": [event(31.0)]}, (GROUP,)) is None


def test_waits_for_the_first_commit_of_a_group_member() -> None:
    fired = iter([[], [], [event()]])
    asked_apis: list[str] = []

    class Reports(AtGates):
        def __init__(self, api: str) -> None:
            self.api = api

        def fired(self) -> list[Event]:
            asked_apis.append(self.api)
            return next(fired, [])

    learner = DryRun(FakeContext(), DryRunResult(gates=True))
    learner._reports = {api: Reports(api) for api in ("OffsetCommit", "Fetch")}
    learner._wait_commit()
    assert asked_apis == [], "it is a member of no group"
    learner._members = {"readers": GroupProfile(name="readers", members=1)}
    learner._wait_commit()
    assert asked_apis == ["OffsetCommit"] * 3


def test_unseen_settings_are_unknown() -> None:
    assert _isolation([]) is None
    assert _isolation([event()]) is None
    assert _isolation([event(settings={"isolation_level": 0})]) is False
    assert _transaction_version([]) is None


class TickingLook:
    """A look that takes one tick per second: whether it writes, and whether inputs wait."""

    def __init__(self, ticks: str) -> None:
        self._ticks = iter(ticks)
        self._tick = ""
        self.changes = 0
        self.time = FakeStop()

    def wait(self, seconds: float) -> bool:
        """Advances by one second; true after the last tick."""
        self.time.pause(1.0)
        self._tick = next(self._ticks, "")
        return not self._tick

    def size(self) -> int:
        if self._tick == "x":
            raise UnreadableOutput("its leader moves")
        self.changes += self._tick in "wW"
        return self.changes

    def waits(self) -> bool:
        return self._tick in "w."


@pytest.mark.parametrize(
    ("ticks", "longest"),
    [
        ("w.w...w", 4.0),  # w: a write while inputs wait; .: no write while inputs wait
        ("...w.w", 4.0),
        ("w.....", 5.0),  # no further write
        ("w--------w", 1.0),  # -: no input waits
        ("w..W--.w", 3.0),  # W: a write after which no input waits
        ("w.xx.w", 5.0),  # x: outputs are unreadable while time passes
        ("", 0.0),
    ],
)
def test_longest_pause_counts_only_while_inputs_wait(ticks: str, longest: float) -> None:
    look = TickingLook(ticks)
    pauses = PaceMeter(FakeContext(pipeline=FakeProgram(look), stop=look.time))
    pauses._stopped = look  # type: ignore[assignment]
    pauses._watch()
    assert pauses._longest == longest
