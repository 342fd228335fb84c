"""Some of `make exact-faults`, the whole of which takes minutes: one of every blow."""

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
def test_each_blow_hits_exactly(staging: Staged, tools: StageTools) -> None:
    """Each on another message; whatever the client makes of it, what is committed is there once."""
    messages = ("EndTxn", "TxnOffsetCommit", "AddPartitionsToTxn", "Produce", "AddOffsetsToTxn")
    with Trials(alone(staging), librdkafka(tools)) as trials:
        for message, blow in zip(messages, BLOWS, strict=True):
            check(trials, Combination(message=message, blow=blow))


def test_a_client_in_java(staging: Staged, tools: StageTools) -> None:
    """On transaction version 2 it does without two of the messages, which is looked at as well."""
    client = java(tools)
    assert client.never_sends == ["AddPartitionsToTxn", "AddOffsetsToTxn"]
    with Trials(alone(staging), client) as trials:
        for message, blow in (
            ("EndTxn", "response lost"),
            ("TxnOffsetCommit", "connection closed"),
            ("InitProducerId", "request lost"),
        ):
            check(trials, Combination(message=message, blow=_BY_NAME[blow]))


def test_what_is_said_never_to_be_sent_is_seen(staging: Staged, tools: StageTools) -> None:
    client = replace(librdkafka(tools), name="mistaken", sends=("EndTxn",))
    combination = Combination(message="EndTxn", blow=_BY_NAME["connection closed"])
    with Trials(alone(staging), client) as trials:
        assert "sent AddOffsetsToTxn, AddPartitionsToTxn" in str(trials.attempt(combination).missed)


def alone(staging: Staged) -> Alone:
    return Alone(stage=staging.stage, processes=staging.processes, block=staging.block)


def check(trials: Trials, combination: Combination) -> None:
    """It was hit; and if the client says that it committed, everything is there once."""
    result = trials.attempt(combination)
    assert result.missed is None, result
    assert result.seconds is None or result.seconds > 0
    assert (result.seen == "once") is (result.seconds is not None), result
