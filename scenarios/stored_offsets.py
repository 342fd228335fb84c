"""Consumers that store their offsets with their effects, in one database transaction.

A commit gets no response, and takes effect late or is rolled back; a consumer dies during its
commit, or is paused with unwritten payments until the other one has written them. The stored
offsets decide. In PostgreSQL, readers watch all the time and must never see wrong data.
"""

from __future__ import annotations

from dataclasses import replace

from onceproof.checkers.model import Claim, Expectation
from onceproof.harness.faults.database.cut_at_commit import CutAtCommit
from onceproof.harness.faults.kill import Kill
from onceproof.harness.faults.pause import Pause
from onceproof.harness.faults.targets.member import COMMIT_LANDS, COMMIT_UNDONE, WITH_WORK, Member
from onceproof.harness.faults.targets.service import Database
from onceproof.harness.schedule.scenario import Scenario, ScheduledFault
from onceproof.harness.sinks.books import BALANCES, LEDGER, VIEW
from onceproof.harness.subjects.group.hazards import ABANDONED, REPLAYED
from onceproof.harness.subjects.stored import journal
from onceproof.harness.subjects.stored.hazards import IN_DOUBT, REFUSED
from onceproof.harness.subjects.stored.subject import StoringConsumers
from onceproof.scenarios.base import HOLDS, LOST, UNEXERCISED, WRONG, claims, violated
from onceproof.scenarios.groups import WHO, WORKLOAD

_TOPIC = WORKLOAD.topic


def _claims(
    *,
    most: Expectation,
    least: Expectation,
    exactly: Expectation,
    balances: Expectation,
    hazards: frozenset[str],
) -> tuple[Claim, ...]:
    """Return all three claims of the ledger, and exactly-once of the balances."""
    return (
        *claims(_TOPIC, LEDGER, VIEW, most=most, least=least, exactly=exactly, hazards=hazards),
        *claims(_TOPIC, BALANCES, VIEW, exactly=balances, hazards=hazards),
    )


def final_claims(expect: Expectation, *hazards: str) -> tuple[Claim, ...]:
    return _claims(
        most=expect, least=expect, exactly=expect, balances=expect, hazards=frozenset(hazards)
    )


def reader_claims(expect: Expectation, *hazards: str) -> tuple[Claim, ...]:
    """Claim exactly-once for readers who follow every change of ledger and balances."""
    return tuple(
        claim
        for sink in (journal.LEDGER, journal.BALANCES)
        for claim in claims(_TOPIC, sink, journal.VIEW, exactly=expect, hazards=hazards)
    )


def twice(*more: str, hazards: frozenset[str]) -> tuple[Claim, ...]:
    """Expect duplicated payments, and `more` anomalies that refute exactly-once."""
    return _claims(
        most=violated("duplicate-output"),
        least=HOLDS,
        exactly=violated("duplicate-output", *more),
        balances=violated("state-mismatch", *more),
        hazards=hazards,
    )


_LATE = ScheduledFault(
    name="commit arrives late",
    progress=0.1,
    do=CutAtCommit(member=WHO, commit="lands"),
)
_ROLLED_BACK = ScheduledFault(
    name="commit rolled back",
    after=(_LATE.name,),
    do=CutAtCommit(member=WHO, commit="undone"),
)
_KILLED = ScheduledFault(
    name="killed during its commit",
    progress=0.1,
    do=Kill(Member(name=WHO), at=COMMIT_UNDONE),
)
KILLED_AFTER = ScheduledFault(
    name="killed after its commit",
    progress=0.1,
    do=Kill(Member(name=WHO), at=COMMIT_LANDS),
)
DATABASE = ScheduledFault(name="database killed", do=Kill(Database()))
_ZOMBIE = ScheduledFault(name="zombie", progress=0.1, do=Pause(Member(name=WHO), at=WITH_WORK))

_POSTGRES = StoringConsumers()
_SQLITE = StoringConsumers(kind="sqlite")
_UNGUARDED = StoringConsumers(guard=False)
_UNGUARDED_FILE = StoringConsumers(kind="sqlite", guard=False)
_BEFORE = StoringConsumers(commits="before")
_AFTER = StoringConsumers(commits="after")
_CLEANED = StoringConsumers(commits="after", cleans=True)
_BEFORE_FILE = StoringConsumers(kind="sqlite", commits="before")

_UNDER_FAULTS = Scenario(
    name=_POSTGRES.name,
    title="Offsets stored with rows and balances: commits in doubt, consumer and database killed",
    subject=_POSTGRES,
    workload=WORKLOAD,
    schedule=(
        _LATE,
        _ROLLED_BACK,
        replace(KILLED_AFTER, progress=0.0, after=(_ROLLED_BACK.name,)),
        replace(DATABASE, after=(KILLED_AFTER.name,)),
    ),
    claims=(*final_claims(HOLDS, IN_DOUBT, REFUSED), *reader_claims(HOLDS, IN_DOUBT, REFUSED)),
    seconds=45,
)
_QUIET = replace(
    _UNDER_FAULTS,
    name=f"{_POSTGRES.name}-quiet",
    title="Offsets stored in PostgreSQL, without faults: nothing goes wrong, and nothing is tested",
    schedule=(),
    claims=final_claims(UNEXERCISED),
    seconds=25,
)
_PAUSED = replace(
    _UNDER_FAULTS,
    name=f"{_POSTGRES.name}-paused",
    title="Offsets stored in PostgreSQL: a zombie with payments that others have written",
    schedule=(_ZOMBIE,),
    claims=(*final_claims(HOLDS, REFUSED), *reader_claims(HOLDS, REFUSED)),
)
_AGAIN = frozenset({REPLAYED})

SCENARIOS = (
    _QUIET,
    _UNDER_FAULTS,
    _PAUSED,
    replace(
        _QUIET,
        name=f"{_SQLITE.name}-quiet",
        title="Offsets stored in SQLite, without faults: nothing goes wrong, and nothing is tested",
        subject=_SQLITE,
    ),
    replace(
        _UNDER_FAULTS,
        name=_SQLITE.name,
        title="Offsets stored in SQLite: a consumer killed during its commit, and a zombie",
        subject=_SQLITE,
        schedule=(_KILLED, replace(_ZOMBIE, progress=0.0, after=(_KILLED.name,))),
        claims=final_claims(HOLDS, IN_DOUBT, REFUSED),
        seconds=50,
    ),
    replace(
        _UNDER_FAULTS,
        name=_UNGUARDED.name,
        title="The broken twin: offsets updated without comparing, and a commit that arrives late",
        subject=_UNGUARDED,
        schedule=(_LATE,),
        claims=twice(hazards=_AGAIN),
        seconds=30,
    ),
    replace(
        _PAUSED,
        name=f"{_UNGUARDED.name}-paused",
        title="The broken twin: a zombie adds payments a second time and moves offsets back",
        subject=_UNGUARDED,
        claims=twice("offset-regressed", hazards=_AGAIN),
    ),
    replace(
        _PAUSED,
        name=f"{_UNGUARDED_FILE.name}-paused",
        title="The broken twin in SQLite: a zombie adds payments a second time",
        subject=_UNGUARDED_FILE,
        claims=twice("offset-regressed", hazards=_AGAIN),
    ),
    *(
        replace(
            _UNDER_FAULTS,
            name=subject.name,
            title=f"Offsets committed in Kafka first: killed during the commit into {database}",
            subject=subject,
            schedule=(_KILLED,),
            claims=_claims(
                most=HOLDS,
                least=LOST,
                exactly=LOST,
                balances=WRONG,
                hazards=frozenset({ABANDONED}),
            ),
            seconds=35,
        )
        for subject, database in ((_BEFORE, "PostgreSQL"), (_BEFORE_FILE, "SQLite"))
    ),
    replace(
        _UNDER_FAULTS,
        name=_AFTER.name,
        title="Rows committed first: killed before the offsets are committed in Kafka",
        subject=_AFTER,
        schedule=(KILLED_AFTER,),
        claims=twice(hazards=_AGAIN),
        seconds=35,
    ),
    replace(
        _UNDER_FAULTS,
        name=_CLEANED.name,
        title="The broken twin: duplicates are deleted later, but readers have seen them",
        subject=_CLEANED,
        schedule=(KILLED_AFTER,),
        claims=(
            *final_claims(HOLDS, *_AGAIN),
            *reader_claims(violated("duplicate-output"), *_AGAIN),
        ),
        seconds=35,
    ),
)
