"""Some of `make exact-faults`, the whole of which takes minutes: one of every blow."""

from __future__ import annotations

import pytest

from harness.exact.clients import LIBRDKAFKA
from harness.exact.combinations import BLOWS, Combination
from harness.exact.trial import Trials
from harness.stage.alone import Alone
from tests.integration.staging import Staged

pytestmark = pytest.mark.integration


def test_each_blow_hits_exactly(staging: Staged) -> None:
    """Each on another message; whatever the client makes of it, what is committed is there once."""
    messages = ("EndTxn", "TxnOffsetCommit", "AddPartitionsToTxn", "Produce", "AddOffsetsToTxn")
    up = Alone(stage=staging.stage, processes=staging.processes, block=staging.block)
    with Trials(up, LIBRDKAFKA) as trials:
        for message, blow in zip(messages, BLOWS, strict=True):
            result = trials.attempt(Combination(message=message, blow=blow))
            assert result.missed is None, result
            assert result.seconds is None or result.seconds > 0
            assert (result.seen == "once") is (result.seconds is not None), result
