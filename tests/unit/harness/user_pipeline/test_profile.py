"""The profile that a dry run learns, as JSON and as text."""

from __future__ import annotations

import json
from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onceproof.harness.user_pipeline.profile import (
    DATABASE,
    GROUP,
    NULL,
    TRANSACTION,
    GroupProfile,
    Profile,
)

READERS = GroupProfile(name="readers", members=1, session_ms=45_000, assignors=("range",))
COPY = Profile(
    commits=(GROUP,),
    commit_seconds=5.0,
    group=READERS,
    idempotent=True,
    acks=-1,
    topics=("enriched",),
    read_committed=True,
    rest=7.5,
)


@given(st.from_type(Profile))
def test_profile_survives_a_json_round_trip(profile: Profile) -> None:
    restored = Profile.from_json(json.loads(json.dumps(profile.as_json())))
    assert repr(restored) == repr(profile), "by repr, in which NaN is NaN"


@pytest.mark.parametrize("change", [{"colour": "red"}, {"group": {"name": "g"}}, {"topics": None}])
def test_from_json_rejects_unknown_or_invalid_fields(change: dict[str, object]) -> None:
    with pytest.raises((TypeError, ValueError, KeyError)):
        Profile.from_json({**COPY.as_json(), **change})


@pytest.mark.parametrize("name", [field.name for field in fields(Profile)])
def test_from_json_requires_only_mandatory_fields(name: str) -> None:
    data = {key: value for key, value in COPY.as_json().items() if key != name}
    if name in (
        "commits",
        "groups",
        "topics",
        "rarely_written",
        "tables",
        "http_methods",
        "survives",
        "ends_at",
        "group",
    ):
        with pytest.raises(KeyError):
            Profile.from_json(data)
    else:
        Profile.from_json(data)


def test_sentences_describe_the_profile() -> None:
    assert COPY.sentences() == (
        "It reads with read_committed, as 1 member of group readers (classic protocol, session "
        "time-out 45000 ms). It commits offsets to its group with OffsetCommit, about every 5 s. "
        "It produces to enriched: idempotent, acks=all. Its outputs count as idle after 7.5 s "
        "without a change."
    )


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"read_committed": None}, "with an unknown isolation level"),
        ({"read_committed": False}, "with read_uncommitted"),
        ({"group": None}, "outside any consumer group"),
        ({"group": replace(READERS, members=2, static=True)}, "as 2 members of group readers"),
        ({"group": replace(READERS, static=True)}, "static membership"),
        ({"group": None, "shares": True}, "It reads as a member of a share group."),
        ({"commits": (), "shares": True}, "It acknowledges each record to its share group."),
        ({"commits": ()}, "Where it stores its offsets is unknown."),
        ({"commits": (TRANSACTION,)}, "in Kafka transactions with TxnOffsetCommit"),
        (
            {"commits": (GROUP, DATABASE), "position_table": "seen", "commit_seconds": None},
            "It commits offsets to its group with OffsetCommit and to table seen in the database.",
        ),
        (
            {"transactional_ids": 2, "transaction_version": 2, "transaction_ms": 60_000},
            "transactional (version 2, time-out 60000 ms)",
        ),
        ({"idempotent": False, "acks": 1}, "enriched: plain, acks=1"),
        ({"idempotent": False, "acks": 0}, "enriched: plain, acks=0"),
        ({"acks": None}, "acks=?"),
        ({"topics": ()}, "It produces to no topic."),
        ({"ends_at": (NULL,)}, "It ends when its input contains records with a null value."),
        (
            {"tables": ("ledger", "seen"), "statements": "prepared"},
            "It writes to ledger, seen in the database with prepared statements.",
        ),
    ],
)
def test_sentence_of_each_observation(change: dict[str, object], sentence: str) -> None:
    assert sentence in replace(COPY, **change).sentences()  # type: ignore[arg-type]


def test_unwatched_profile_does_not_deny_topics() -> None:
    assert "no topic" not in Profile(watched=False).sentences()


@pytest.mark.parametrize(
    ("profile", "expected"),
    [
        (Profile(commits=(GROUP,), transactional_ids=3), True),
        (Profile(transactional_ids=1), True),
        (Profile(commits=(TRANSACTION,), transactional_ids=1), False),
        (Profile(commits=(GROUP,), transactional_ids=1, group=GroupProfile(name="g")), False),
        (Profile(commits=(GROUP,)), False),
    ],
    ids=[
        "Flink",
        "offsets unseen",
        "offsets in transaction",
        "group member commits offsets",
        "no transactions",
    ],
)
def test_prepares_if_transactions_contain_no_offsets(profile: Profile, expected: bool) -> None:
    assert profile.prepares is expected
