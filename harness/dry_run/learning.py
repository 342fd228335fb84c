"""Conduct a dry run: inject nothing, and learn which protocols the pipeline uses.

Gates on the pipeline's links report its requests, and the database logs its statements. What cannot
be seen on a stage remains unknown in the profile.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any, Final

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from onceproof.harness.context.pipeline import Positions
from onceproof.harness.context.run_context import Collected, RunContext
from onceproof.harness.dry_run.pace import PaceMeter
from onceproof.harness.dry_run.probing import Probe
from onceproof.harness.faults.messages.message import AtGates
from onceproof.harness.faults.program.several import workers
from onceproof.harness.kafka.connecting.connection import connection
from onceproof.harness.links.gate.client import Event
from onceproof.harness.links.gate.rules import POSITIONS, MessageMatch
from onceproof.harness.links.topology import AUDITOR, HTTP_SERVICE
from onceproof.harness.schedule.scenario import ScheduledFault
from onceproof.harness.user_pipeline.profile import (
    CHECKPOINT,
    CLASSIC,
    CONSUMER,
    DATABASE,
    GROUP,
    SHARE_FETCH,
    TRANSACTION,
    GroupProfile,
    Profile,
)
from onceproof.harness.user_pipeline.program import AWAY, Program
from onceproof.harness.user_pipeline.spark import OwnSpark
from onceproof.harness.user_pipeline.statements import Statements
from onceproof.harness.wait import Overdue, wait_until

_APIS: Final = (
    "Produce",
    *POSITIONS,
    "EndTxn",
    "InitProducerId",
    "JoinGroup",
    "ConsumerGroupHeartbeat",
    "Fetch",
    SHARE_FETCH,
)
_MAX_MESSAGES: Final = 50
"""Number of messages of an API to look at, per link."""
_SECONDS: Final = 60.0
_COMMIT_SECONDS: Final = 40.0
"""Kafka Streams commits every 30 s by default."""
_BEHIND_SECONDS: Final = 15.0
"""How long a consumer outside any group may take to commit the offsets of what it has written.
Without new inputs, a Flink source does so 10 s late."""
_EVERY: Final = 0.2
_NEW_END_TXN: Final = 5
"""First version of EndTxn that belongs to transaction version 2 (KIP-890)."""
_RARE_BELOW: Final = 3
"""A topic with fewer produce requests in a dry run is rarely written to."""
_MIN_REST: Final = 5.0
_PERIODIC_SECONDS: Final = 0.5
"""Commits further apart than this, in seconds, are assumed to be periodic."""


class DryRunResult:
    """The result of a dry run; `profile` is None until the run has been collected."""

    def __init__(self, *, gates: bool) -> None:
        self.profile: Profile | None = None
        self.gates = gates

    def conduct(self, schedule: Sequence[ScheduledFault], context: RunContext) -> DryRun:
        return DryRun(context, self)


class DryRun:
    """Conducts one dry run."""

    def __init__(self, context: RunContext, learned: DryRunResult) -> None:
        self._context = context
        self._learned = learned
        self._gates = learned.gates
        self._reports: dict[str, AtGates] = {}
        self._seen: dict[str, list[Event]] = {}
        self._statements: Statements | None = None
        self._pace = PaceMeter(context)
        self._members: dict[str, GroupProfile] = {}
        self._processes = 1

    def announce(self) -> None:
        """Start to watch the pipeline's links and the database, before any record is sent."""
        if self._gates:
            for api in _APIS:
                rule = MessageMatch(direction="request", api=api).rule(
                    "report", times=_MAX_MESSAGES
                )
                self._reports[api] = AtGates(self._context, "pipeline", rule)
        self._statements = Statements.begin(self._context)

    def carry_out(self) -> None:
        """Wait until the records are sent, and for a first commit; then stop watching the links."""
        producers = self._context.producers
        self._pace.start()
        wait_until(
            lambda: producers.finished,
            what="the dry run's records to be sent",
            seconds=_SECONDS,
            stop=self._context.stop,
            seen=lambda: f"{producers.acknowledged} acknowledged",
        )
        self._members = self._groups()
        if isinstance(self._context.pipeline, Program):
            self._processes = max(1, len(workers(self._context)))
        self._wait_commit()
        for api, reports in self._reports.items():
            self._seen[api] = reports.fired()
            reports.remove()

    def _wait_commit(self) -> None:
        """Wait for a first commit: some pipelines commit only every 30 s, or start slowly."""
        commits = [r for api, r in self._reports.items() if api in POSITIONS]
        pipeline = self._context.pipeline
        if not commits or not (self._members or isinstance(pipeline, Program)):
            return
        clock = self._context.stop.monotonic
        waited = clock()

        def over() -> bool:
            nonlocal waited
            if any(r.fired() for r in commits) or self._tables()[1] is not None:
                return True
            if self._members or not isinstance(pipeline, Program):
                return False
            with suppress(*AWAY):
                pipeline.look.size()
                if pipeline.look.waits():
                    waited = clock()
            return clock() - waited >= _BEHIND_SECONDS

        with suppress(Overdue):
            wait_until(
                over, what="", seconds=_COMMIT_SECONDS, every=_EVERY, stop=self._context.stop
            )

    def _tables(self) -> tuple[tuple[str, ...], str | None]:
        """Return the tables that the pipeline wrote to, and the one that holds its offsets."""
        return self._statements.tables(self._ends()) if self._statements else ((), None)

    def after_collect(self, known: Collected) -> None:
        """Build the profile from what was seen, and try odd records."""
        pace = self._pace.stop()
        longest = pace.pause
        seen = self._seen
        tables, table = self._tables()
        how = self._statements.how() if self._statements else None
        # A pipeline that keeps its offsets elsewhere ignores those committed for its group.
        groups = self._members if any(map(seen.get, POSITIONS)) else ()
        # With event times, records after an odd one may be held back, so do not wait for them.
        held_back = self._context.producers.workload.rounds > 1
        probe = Probe(self._context, () if held_back else groups, 0.0 if held_back else longest)
        survives, ends_at = probe.kinds()
        if isinstance(self._context.pipeline, OwnSpark):
            self._context.pipeline.leave()
        ids = {i for event in seen.get("InitProducerId", ()) for i in event["transactional_ids"]}
        produced = seen.get("Produce", ())
        written = Counter(topic for event in produced for topic in event["topics"])
        commits = self._commits(seen, table)
        self._learned.profile = Profile(
            watched=self._gates,
            commits=commits,
            groups=_groups_of(seen, *POSITIONS),
            commit_seconds=_commit_interval(seen, commits),
            group=self._group(seen),
            shares=bool(seen.get(SHARE_FETCH)),
            transactional_ids=len(ids),
            transaction_ms=_setting(seen.get("InitProducerId", ()), "transaction_timeout_ms"),
            transaction_version=_transaction_version(seen.get("EndTxn", ())),
            idempotent=any(not e["transactional_ids"] for e in seen.get("InitProducerId", ())),
            acks=_setting(produced, "acks"),
            topics=tuple(sorted(written)),
            rarely_written=tuple(sorted(at for at, n in written.items() if n < _RARE_BELOW)),
            read_committed=_isolation(seen.get("Fetch", ())),
            tables=tables,
            position_table=table,
            statements=how,
            http_methods=self._http_methods(),
            processes=self._processes,
            pause=round(longest, 1),
            speed=pace.speed,
            rest=max(_MIN_REST, round(2 * longest, 1)),
            survives=survives,
            ends_at=ends_at,
        )

    def _http_methods(self) -> tuple[str, ...]:
        if HTTP_SERVICE not in self._context.stage.nodes:
            return ()
        requests = self._context.stage.http_service().requests()
        return tuple(sorted({request.method for request in requests}))

    def _commits(self, seen: Mapping[str, Sequence[Event]], table: str | None) -> tuple[str, ...]:
        there = {
            GROUP: bool(seen.get("OffsetCommit")) or (not self._gates and bool(self._members)),
            TRANSACTION: bool(seen.get("TxnOffsetCommit")),
            DATABASE: table is not None,
            CHECKPOINT: not isinstance(self._context.pipeline, Program),
        }
        return tuple(where for where, is_ in there.items() if is_)

    def _group(self, seen: Mapping[str, Sequence[Event]]) -> GroupProfile | None:
        """Return the group with the most active members, with the settings of its JoinGroup."""
        joins = seen.get("JoinGroup", ())
        newer = _groups_of(seen, "ConsumerGroupHeartbeat")
        for event in joins:
            for name in event["groups"]:
                known = self._members.get(name, GroupProfile(name=name))
                settings = event["settings"]
                self._members[name] = GroupProfile(
                    name=name,
                    members=known.members,
                    protocol=CONSUMER if name in newer else known.protocol,
                    protocol_type=settings["protocol_type"],
                    assignors=tuple(settings["protocols"]),
                    session_ms=settings["session_timeout_ms"],
                    max_poll_ms=settings["rebalance_timeout_ms"],
                    static=settings["group_instance_id"] is not None,
                    topics=known.topics,
                )
        return max(self._members.values(), key=lambda group: group.members, default=None)

    def _groups(self) -> dict[str, GroupProfile]:
        bootstrap = self._context.stage.bootstrap(AUDITOR)
        admin = AdminClient({**connection(bootstrap).librdkafka(), "log_level": 0})
        found = {}
        try:
            names = [g.group_id for g in admin.list_consumer_groups().result(_SECONDS).valid]
            for future in admin.describe_consumer_groups(names).values() if names else ():
                described = future.result(_SECONDS)
                newer = str(getattr(described, "type", "")).upper().endswith("CONSUMER")
                if described.members:
                    found[described.group_id] = GroupProfile(
                        name=described.group_id,
                        members=len(described.members),
                        protocol=CONSUMER if newer else CLASSIC,
                        static=any(member.group_instance_id for member in described.members),
                        topics=tuple(
                            topic
                            for topic in self._context.inputs
                            if topic in _assigned(described.members)
                        ),
                    )
        except (KafkaException, TimeoutError):
            return {}
        return found

    def _ends(self) -> Positions:
        """Return the offset after the last record of each non-empty input partition."""
        with self._context.reader() as reader:
            return {
                (topic, log.partition): log.entries[-1].offset + 1
                for topic in self._context.inputs
                for log in reader.read_topic(topic)
                if log.entries
            }


def _assigned(members: Iterable[Any]) -> set[str]:
    """Return the topics of which members of a group were assigned partitions."""
    assigned = (member.assignment for member in members if member.assignment)
    return {place.topic for each in assigned for place in each.topic_partitions}


def _setting(events: Iterable[Event], name: str) -> Any:
    values = [event["settings"][name] for event in events if name in event["settings"]]
    return values[-1] if values else None


def _isolation(fetches: Iterable[Event]) -> bool | None:
    level = _setting(fetches, "isolation_level")
    return None if level is None else bool(level)


def _transaction_version(ends: Sequence[Event]) -> int | None:
    if not ends:
        return None
    return 2 if max(int(event["version"]) for event in ends) >= _NEW_END_TXN else 1


def _groups_of(seen: Mapping[str, Sequence[Event]], *apis: str) -> tuple[str, ...]:
    return tuple(sorted({g for api in apis for e in seen.get(api, ()) for g in e["groups"]}))


def _commit_interval(seen: Mapping[str, Sequence[Event]], commits: Sequence[str]) -> float | None:
    """Return the median interval of commits in seconds, if they seem to be periodic.

    If there is only one commit, measure from the first fetch.
    """
    if GROUP not in commits:
        return None
    at = sorted(int(event["at"]) / 1e9 for event in seen.get("OffsetCommit", ()))
    if len(at) == 1:
        at = [*(int(event["at"]) / 1e9 for event in seen.get("Fetch", ())[:1]), *at]
    gaps = [later - earlier for earlier, later in pairwise(at)]
    middle = statistics.median(gaps) if gaps else 0.0
    return round(middle, 1) if middle > _PERIODIC_SECONDS else None
