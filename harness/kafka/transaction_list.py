"""Every transactional id with a prefix, and what its newest transaction is at.

Each broker knows only those that it coordinates, so all of them are asked,
and one that does not answer leaves the list incomplete: then there is none.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from kafka.protocol.admin import ListTransactionsRequest, ListTransactionsResponse

from onceproof.harness.kafka.coordinator import Refused
from onceproof.harness.kafka.errors import error_name
from onceproof.harness.kafka.wire import Wire

_VERSION: Final = 0


def transactions(addresses: Iterable[str], prefix: str) -> dict[str, str]:
    """Transactional id → state, e.g. `Ongoing`, of the ids that begin so.

    Args:
        addresses: `host:port` of every broker's direct listener.

    Raises:
        OSError: a broker does not answer.
        Refused: one answers that it cannot say.
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
