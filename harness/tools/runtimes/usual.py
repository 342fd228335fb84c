"""The versions of runtimes that are used unless another one is chosen."""

from __future__ import annotations

from importlib import metadata

from confluent_kafka import libversion

from onceproof.harness.tools import jar_lock, postgres
from onceproof.harness.tools.error import SetupError
from onceproof.harness.tools.runtimes.known import POSTGRESQL
from onceproof.harness.tools.runtimes.python_client import PACKAGES


def usual(name: str) -> str:
    """Return the usual version of a runtime; of Flink, which has one per scenario, the newest."""
    if name == "librdkafka":
        return str(libversion()[0])
    if name in PACKAGES:
        return metadata.version(PACKAGES[name][0])
    if name == POSTGRESQL:
        try:
            return postgres.run_version(postgres.find_wheel().bin, user=None)
        except SetupError:  # `doctor` says what to do
            return "?"
    if name == "artemis":
        return jar_lock.ARTEMIS
    return next(iter(jar_lock.FLINK)) if name == "flink" else jar_lock.KAFKA
