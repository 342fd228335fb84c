"""Profiles of common kinds of pipelines, and trials that are planned from them."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from onceproof.harness.schedule.scenario import Scenario
from onceproof.harness.user_pipeline.profile import (
    ABORTED,
    CHECKPOINT,
    DATABASE,
    GROUP,
    NULL,
    TRANSACTION,
    GroupProfile,
    Profile,
)
from onceproof.verify.draft import draft
from onceproof.verify.options import VerifyOptions
from onceproof.verify.plan import plan
from onceproof.verify.trial import pipeline_of, planned

READERS: Final = GroupProfile(
    name="readers",
    members=1,
    protocol_type="consumer",
    assignors=("range", "roundrobin"),
    session_ms=45_000,
    max_poll_ms=300_000,
)
COPY: Final = Profile(
    commits=(GROUP,),
    groups=("readers",),
    commit_seconds=5.0,
    group=READERS,
    idempotent=True,
    acks=-1,
    topics=("enriched",),
    read_committed=True,
    pause=0.3,
    survives=(ABORTED, NULL),
)
"""From Kafka to Kafka, with offsets committed to its group."""
TRANSACTIONAL: Final = replace(
    COPY,
    commits=(TRANSACTION,),
    commit_seconds=None,
    transactional_ids=1,
    transaction_ms=60_000,
    transaction_version=2,
)
OFFSETS_IN_A_TOPIC: Final = replace(
    TRANSACTIONAL, commits=(), groups=(), group=None, topics=("enriched", "offsets")
)
"""The same, with offsets in a topic that is not an output, and without a group."""
FLINK: Final = replace(TRANSACTIONAL, commits=(GROUP,), groups=("copy",), group=None)
"""A Flink job: offsets in its checkpoints, and committed to its group for monitoring."""
TO_DATABASE: Final = replace(
    COPY, topics=(), idempotent=False, acks=None, tables=("ledger",), statements="extended"
)
"""Rows in PostgreSQL, offsets in Kafka."""
TEXTBOOK: Final = replace(
    TO_DATABASE,
    commits=(DATABASE,),
    groups=(),
    commit_seconds=None,
    group=None,
    tables=("ledger", "positions"),
    position_table="positions",
    survives=(),
    ends_at=(ABORTED,),
)
"""Rows and offsets in one PostgreSQL transaction, and offsets nowhere else."""
TO_SERVICE: Final = replace(
    COPY, topics=(), idempotent=False, acks=None, http_methods=("POST",), commit_seconds=None
)
"""Requests to the HTTP service, offsets in Kafka."""
ROW_AND_EVENT: Final = replace(COPY, tables=("ledger",), statements="simple")
TWO_WORKERS: Final = replace(COPY, group=replace(READERS, members=2), processes=2)
ACTIVE_AND_STANDBY: Final = replace(TEXTBOOK, processes=2)
"""An active and a standby process, without a group."""
SPARK_JOB: Final = Profile(commits=(CHECKPOINT,), topics=("enriched",), read_committed=False)
UNWATCHED: Final = Profile(watched=False, commits=(GROUP,), group=READERS)
"""On a stage without gates, its messages cannot be observed."""
PROFILES: Final = {
    "copy": COPY,
    "transactional": TRANSACTIONAL,
    "offsets-in-a-topic": OFFSETS_IN_A_TOPIC,
    "flink": FLINK,
    "database": TO_DATABASE,
    "textbook": TEXTBOOK,
    "row-and-event": ROW_AND_EVENT,
    "two-workers": TWO_WORKERS,
    "active-and-standby": ACTIVE_AND_STANDBY,
    "service": TO_SERVICE,
    "unwatched": UNWATCHED,
    "nothing-seen": Profile(),
}
"""Profiles of programs, by name."""


def trial_of(options: VerifyOptions, profile: Profile = COPY) -> Scenario:
    """Plan the trial of these options, as if a dry run had observed this profile."""
    scenario = draft(options)
    trial_plan = plan(pipeline_of(scenario, options, profile), options.preset, options.accepted)
    return planned(scenario, options, profile, trial_plan)
