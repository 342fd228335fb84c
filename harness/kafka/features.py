"""Get and set the `transaction.version` of a cluster.

With version 2 each transaction has its own epoch, so that brokers refuse late requests of an
earlier transaction (KIP-890); with version 1 such a request may end a later transaction. A client
follows the version from its next connection on, if it supports it: librdkafka 2.16 does not, and
version 2 does not protect it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kafka.protocol.admin import UpdateFeaturesRequest, UpdateFeaturesResponse
from kafka.protocol.metadata import ApiVersionsRequest, ApiVersionsResponse

from onceproof.harness.kafka.coordinator import Refused
from onceproof.harness.kafka.errors import error_name
from onceproof.harness.kafka.wire import Wire
from onceproof.harness.wait import Stop, wait_until

TRANSACTION_VERSION: Final = "transaction.version"
TRANSACTION_VERSIONS: Final = (0, 1, 2)
"""The versions in Kafka 4."""
_ASK, _UPDATE = 3, 1
_UPGRADE, _DOWNGRADE = 1, 2
_SECONDS: Final = 30.0


def finalized(address: str) -> int:
    """Return the finalized transaction version as the broker at `host:port` knows it; default 0.

    Raises:
        OSError: the broker does not answer.
    """
    wire = Wire(address)
    try:
        found = wire.ask(
            ApiVersionsRequest(client_software_name="onceproof", client_software_version="auditor"),
            version=_ASK,
            answer=ApiVersionsResponse,
        )
    finally:
        wire.close()
    levels = {str(f.name): int(f.max_version_level) for f in found.finalized_features or []}
    return levels.get(TRANSACTION_VERSION, 0)


def finalize(bootstrap: str, version: int, *, stop: Stop | None = None) -> None:
    """Set a cluster's transaction version, and wait until every broker in `bootstrap` knows it.

    Raises:
        Overdue: not all brokers know the version in time.
        Refused: the cluster refused, for instance because it does not support the version.
    """
    brokers = bootstrap.split(",")
    before = finalized(brokers[0])
    if before != version:
        _update(brokers[0], version, _UPGRADE if version > before else _DOWNGRADE)
    wait_until(
        lambda: set(_versions(brokers)) == {version},
        what=f"every broker to have {TRANSACTION_VERSION} {version}",
        seconds=_SECONDS,
        every=0.1,
        stop=stop,
        seen=lambda: _versions(brokers),
    )


def _update(broker: str, version: int, upgrade_type: int) -> None:
    wanted = UpdateFeaturesRequest.FeatureUpdateKey
    request = UpdateFeaturesRequest(
        timeout_ms=int(_SECONDS * 1000),
        feature_updates=[
            wanted(
                feature=TRANSACTION_VERSION, max_version_level=version, upgrade_type=upgrade_type
            )
        ],
        validate_only=False,
    )
    wire = Wire(broker)
    try:
        found = wire.ask(request, version=_UPDATE, answer=UpdateFeaturesResponse)
    finally:
        wire.close()
    results = [found, *(found.results or [])]
    for result in results:
        if result.error_code:
            raise Refused(
                f"setting {TRANSACTION_VERSION} to {version}: {error_name(result.error_code)}: "
                f"{result.error_message}"
            )


def _versions(brokers: Sequence[str]) -> list[int]:
    """Return each broker's version; -1 if it does not answer."""
    found = []
    for broker in brokers:
        try:
            found.append(finalized(broker))
        except OSError:
            found.append(-1)
    return found
