"""What a chosen version cannot do, so that it is refused before anything starts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from onceproof.harness.tools.error import SetupError
from onceproof.harness.tools.runtimes.known import numbers

_TRANSACTION_VERSIONS_SINCE: Final = "4.0"


def refuse(versions: Mapping[str, str], *, transaction_version: int | None = None) -> None:
    """Raise `SetupError` if the chosen runtimes cannot do what a run wants of them.

    Args:
        versions: runtime → version, those that differ from the usual ones.
        transaction_version: `transaction.version` that the run sets; None if it sets none.
    """
    if reason := unsupported(versions, transaction_version=transaction_version):
        raise SetupError(f"unsupported: {reason}")


def unsupported(
    versions: Mapping[str, str], *, transaction_version: int | None = None
) -> str | None:
    """Return why a run is impossible, in a sentence or two; None if it is possible."""
    brokers = versions.get("kafka")
    if brokers is None:
        return None
    is_old = numbers(brokers) < numbers(_TRANSACTION_VERSIONS_SINCE)
    if transaction_version is not None and is_old:
        return (
            f"transaction.version {transaction_version} needs Kafka {_TRANSACTION_VERSIONS_SINCE} "
            f"(KIP-890), and the brokers are {brokers}."
        )
    return None
