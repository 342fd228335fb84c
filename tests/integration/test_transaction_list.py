"""Transactions as their coordinators list them: what says whether a Flink job's are open."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from onceproof.harness.context.run_context import addresses
from onceproof.harness.kafka.transaction_list import transactions
from onceproof.harness.kafka.transactions import ONGOING
from tests.integration.staging import Staged, eventually
from tests.integration.transactions import SECONDS, producer, send

pytestmark = pytest.mark.integration


def test_all_of_a_prefix_are_listed_whoever_coordinates_them(
    staging: Staged, topic: Callable[..., str]
) -> None:
    name, brokers = topic(1), addresses(staging.stage).values()
    made = [producer(staging.stage.bootstrap("pipeline"), f"{name}-{n}-1") for n in range(6)]
    assert transactions(brokers, f"{name}-") == {f"{name}-{n}-1": "Empty" for n in range(6)}
    for one in made:
        one.begin_transaction()
        send(one, name, "a")
    assert transactions(brokers, f"{name}-") == {f"{name}-{n}-1": ONGOING for n in range(6)}
    made[0].commit_transaction(SECONDS)
    made[1].abort_transaction(SECONDS)
    ended = {f"{name}-0-1": "CompleteCommit", f"{name}-1-1": "CompleteAbort"}
    eventually(
        lambda: {k: v for k, v in transactions(brokers, f"{name}-").items() if k in ended} == ended,
        "two of them to be over",
        lambda: transactions(brokers, f"{name}-"),
    )
    for one in made[2:]:
        one.abort_transaction(SECONDS)
