"""Transactional ids as all coordinators together tell them."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator

import pytest
from kafka.protocol.admin import ListTransactionsResponse

from onceproof.harness.kafka.coordinator import Refused
from onceproof.harness.kafka.transaction_list import transactions
from tests.unit.harness.links.gate.made_up_broker import MadeUpBroker

Making = Callable[..., str]


@pytest.fixture
def broker() -> Iterator[Making]:
    made: list[MadeUpBroker] = []

    def coordinating(error: int = 0, **states: str) -> str:
        def reply(data: bytes) -> bytes:
            version, correlation = struct.unpack_from(">hi", data, 6)
            state = ListTransactionsResponse.TransactionState
            answer = ListTransactionsResponse(
                error_code=error,
                transaction_states=[
                    state(
                        transactional_id=ident.replace("_", "-"),
                        producer_id=7,
                        transaction_state=told,
                    )
                    for ident, told in states.items()
                ],
                version=version,
            )
            answer.with_header(correlation_id=correlation)
            return bytes(answer.encode(framed=True, header=True))

        made.append(MadeUpBroker(reply))
        return made[-1].address

    yield coordinating
    for one in made:
        one.close()


def test_those_of_all_brokers_that_begin_so(broker: Making) -> None:
    places = [
        broker(billing_0_1="Ongoing", other_0_1="Ongoing"),
        broker(),
        broker(billing_1_1="CompleteCommit"),
    ]
    assert transactions(places, "billing-") == {
        "billing-0-1": "Ongoing",
        "billing-1-1": "CompleteCommit",
    }


def test_one_that_cannot_say_leaves_no_list(broker: Making) -> None:
    with pytest.raises(Refused, match="COORDINATOR_LOAD_IN_PROGRESS"):
        transactions([broker(billing_0_1="Ongoing"), broker(error=14)], "billing-")


def test_one_that_is_away_leaves_no_list(broker: Making) -> None:
    gone = MadeUpBroker()
    gone.close()
    with pytest.raises(OSError, match=r"refused|reset|closed"):
        transactions([broker(billing_0_1="Ongoing"), gone.address], "billing-")
