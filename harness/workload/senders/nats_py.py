"""nats-py: JetStream drops a message with a known `Nats-Msg-Id` in its duplicate window."""

from __future__ import annotations

from typing import Final

from onceproof.harness.nats.configuration import JetStream
from onceproof.harness.nats.server import PACKAGES
from onceproof.harness.workload.senders.packaged import PackagedSender

NATS_PY: Final = PackagedSender(
    name="nats-py", module="nats_py", packages=PACKAGES, queue_broker=JetStream()
)
