"""Transactional ids and their states, collected from all coordinators."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator

import pytest
from kafka.protocol.admin import ListTransactionsResponse

from onceproof.harness.kafka.coordinator import Refused
from onceproof.harness.kafka.transaction_list import transactions
from tests.unit.harness.links.gate.made_up_broker import MadeUpBroker

MakeBroker = Callable[..., str]


@pytest.fixture
def broker() -> Iterator[MakeBroker]:
    made: list[MadeUpBroker] = []

    def coordinator(error: int = 0, **states: str) -> str:
        def reply(data: bytes) -> bytes:
            version, correlation = struct.unpack_from(">hi", data, 6)
            state = ListTransactionsResponse.TransactionState
            answer = ListTransactionsResponse(
                error_code=error,
                transaction_states=[
                    state(
                        transactional_id=ident.replace("_", "-"),
                        producer_id=7,
                        transaction_state=status,
                    )
                    for ident, status in states.items()
                ],
                version=version,
            )
            answer.with_header(correlation_id=correlation)
            return bytes(answer.encode(framed=True, header=True))

        made.append(MadeUpBroker(reply))
        return made[-1].address

    yield coordinator
    for one in made:
        one.close()


def test_ids_with_prefix_are_collected_from_all_brokers(broker: MakeBroker) -> None:
    addresses = [
        broker(billing_0_1="Ongoing", other_0_1="Ongoing"),
        broker(),
        broker(billing_1_1="CompleteCommit"),
    ]
    assert transactions(addresses, "billing-") == {
        "billing-0-1": "Ongoing",
        "billing-1-1": "CompleteCommit",
    }


def test_error_of_one_broker_fails_the_listing(broker: MakeBroker) -> None:
    with pytest.raises(Refused, match="COORDINATOR_LOAD_IN_PROGRESS"):
        transactions([broker(billing_0_1="Ongoing"), broker(error=14)], "billing-")


def test_unreachable_broker_fails_the_listing(broker: MakeBroker) -> None:
    gone = MadeUpBroker()
    gone.close()
    with pytest.raises(OSError, match=r"refused|reset|closed"):
        transactions([broker(billing_0_1="Ongoing"), gone.address], "billing-")
