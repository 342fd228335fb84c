"""What a chosen version cannot do, so that it is refused before anything starts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from onceproof.harness.tools import jar_lock
from onceproof.harness.tools.error import SetupError
from onceproof.harness.tools.runtimes.known import numbers

_TRANSACTION_VERSIONS_SINCE: Final = "4.0"
_READS_NEW_BROKERS: Final = "1.8.0"
"""The first librdkafka whose consumers work with brokers 4; 1.7.0 does not, 1.8.2 does."""


def refuse(
    versions: Mapping[str, str], *, transaction_version: int | None = None, reads: bool = False
) -> None:
    """Raise `SetupError` if the chosen runtimes cannot do what a run wants of them.

    Args:
        versions: runtime → version, those that differ from the usual ones.
        transaction_version: `transaction.version` that the run sets; None if it sets none.
        reads: whether what is on trial reads topics.
    """
    if reason := unsupported(versions, transaction_version=transaction_version, reads=reads):
        raise SetupError(f"unsupported: {reason}")


def with_needed(
    chosen: Mapping[str, str], needed: Mapping[str, str], what: str
) -> Mapping[str, str]:
    """Return the versions that a run chooses, with those that a subject needs.

    Args:
        what: the subject's name.

    Raises:
        SetupError: another version was chosen.
    """
    for name in conflicts(chosen, needed):
        raise SetupError(
            f"unsupported: {what} works only with {name} {needed[name]}, not with {chosen[name]}. "
            f"Leave out --with {name}={chosen[name]}."
        )
    return {**chosen, **needed}


def conflicts(chosen: Mapping[str, str], needed: Mapping[str, str]) -> list[str]:
    """Return the runtimes that a run chooses in another version than a subject needs."""
    return [name for name in needed if chosen.get(name, needed[name]) != needed[name]]


def unsupported(
    versions: Mapping[str, str], *, transaction_version: int | None = None, reads: bool = False
) -> str | None:
    """Return why a run is impossible, in a sentence or two; None if it is possible."""
    brokers = versions.get("kafka", jar_lock.KAFKA)
    is_old = numbers(brokers) < numbers(_TRANSACTION_VERSIONS_SINCE)
    library = versions.get("librdkafka", _READS_NEW_BROKERS)
    if reads and not is_old and numbers(library) < numbers(_READS_NEW_BROKERS):
        return (
            f"a consumer of librdkafka {library} asks for offsets in a way that brokers refuse "
            f"since Kafka 4.0 (KIP-896), and the brokers are {brokers}. Add --with kafka=3.9.2."
        )
    if transaction_version is not None and is_old:
        return (
            f"transaction.version {transaction_version} needs Kafka {_TRANSACTION_VERSIONS_SINCE} "
            f"(KIP-890), and the brokers are {brokers}."
        )
    return None
