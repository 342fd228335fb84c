"""List transactional ids and their states. Each broker lists those that it coordinates."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from kafka.protocol.admin import ListTransactionsRequest, ListTransactionsResponse

from onceproof.harness.kafka.coordinator import Refused
from onceproof.harness.kafka.errors import error_name
from onceproof.harness.kafka.wire import Wire

_VERSION: Final = 0


def transactions(addresses: Iterable[str], prefix: str) -> dict[str, str]:
    """Return transactional id → state, e.g. `Ongoing`, given the `host:port` of every broker.

    Raises:
        OSError: a broker does not answer.
        Refused: a broker answers with an error.
    """
    found: dict[str, str] = {}
    for address in addresses:
        wire = Wire(address)
        try:
            answer = wire.ask(
                ListTransactionsRequest(state_filters=[], producer_id_filters=[]),
                version=_VERSION,
                answer=ListTransactionsResponse,
            )
        finally:
            wire.close()
        if answer.error_code:
            raise Refused(f"listing transactions at {address}: {error_name(answer.error_code)}")
        for transaction in answer.transaction_states:
            if str(transaction.transactional_id).startswith(prefix):
                found[str(transaction.transactional_id)] = str(transaction.transaction_state)
    return found
