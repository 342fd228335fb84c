"""Transaction lists of coordinators, which show whether a Flink job has open transactions."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from onceproof.harness.context.run_context import addresses
from onceproof.harness.kafka.transaction_list import transactions
from onceproof.harness.kafka.transactions import ONGOING
from tests.integration.staging import Staged, eventually
from tests.integration.transactions import SECONDS, producer, send

pytestmark = pytest.mark.integration


def test_lists_transactions_of_a_prefix_from_all_coordinators(
    staging: Staged, topic: Callable[..., str]
) -> None:
    name, brokers = topic(1), addresses(staging.stage).values()
    producers = [producer(staging.stage.bootstrap("pipeline"), f"{name}-{n}-1") for n in range(6)]
    assert transactions(brokers, f"{name}-") == {f"{name}-{n}-1": "Empty" for n in range(6)}
    for client in producers:
        client.begin_transaction()
        send(client, name, "a")
    assert transactions(brokers, f"{name}-") == {f"{name}-{n}-1": ONGOING for n in range(6)}
    producers[0].commit_transaction(SECONDS)
    producers[1].abort_transaction(SECONDS)
    ended = {f"{name}-0-1": "CompleteCommit", f"{name}-1-1": "CompleteAbort"}
    eventually(
        lambda: {k: v for k, v in transactions(brokers, f"{name}-").items() if k in ended} == ended,
        "two of them to be over",
        lambda: transactions(brokers, f"{name}-"),
    )
    for client in producers[2:]:
        client.abort_transaction(SECONDS)
