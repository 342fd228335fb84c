"""A sample of `make exact-faults`, which takes minutes: each blow once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from onceproof.harness.message_faults.clients import java, librdkafka
from onceproof.harness.message_faults.combinations import BLOWS, Combination
from onceproof.harness.message_faults.trial import Trials
from onceproof.harness.stage.alone import Alone
from onceproof.harness.tools.setup import StageTools
from tests.end_to_end.catalogue import LATER
from tests.integration.staging import Staged

pytestmark = pytest.mark.integration

_BY_NAME = {blow.name: blow for blow in BLOWS}


@LATER
def test_every_blow_hits_its_message_and_commits_once(staging: Staged, tools: StageTools) -> None:
    """Each blow hits another message."""
    messages = ("EndTxn", "TxnOffsetCommit", "AddPartitionsToTxn", "Produce", "AddOffsetsToTxn")
    with Trials(alone(staging), librdkafka(tools)) as trials:
        for message, blow in zip(messages, BLOWS, strict=True):
            check(trials, Combination(message=message, blow=blow))


def test_java_client_commits_once(staging: Staged, tools: StageTools) -> None:
    """With transaction version 2 the client never sends two of the messages."""
    client = java(tools)
    assert client.never_sends == ["AddPartitionsToTxn", "AddOffsetsToTxn"]
    with Trials(alone(staging), client) as trials:
        for message, blow in (
            ("EndTxn", "response lost"),
            ("TxnOffsetCommit", "connection closed"),
            ("InitProducerId", "request lost"),
        ):
            check(trials, Combination(message=message, blow=_BY_NAME[blow]))


def test_reports_messages_outside_declared_sends(staging: Staged, tools: StageTools) -> None:
    client = replace(librdkafka(tools), name="mistaken", sends=("EndTxn",))
    combination = Combination(message="EndTxn", blow=_BY_NAME["connection closed"])
    with Trials(alone(staging), client) as trials:
        assert "sent AddOffsetsToTxn, AddPartitionsToTxn" in str(trials.attempt(combination).missed)


def alone(staging: Staged) -> Alone:
    return Alone(stage=staging.stage, processes=staging.processes, block=staging.block)


def check(trials: Trials, combination: Combination) -> None:
    """Assert a hit, and records seen once if and only if the client committed."""
    result = trials.attempt(combination)
    assert result.missed is None, result
    assert result.seconds is None or result.seconds > 0
    assert (result.seen == "once") is (result.seconds is not None), result
