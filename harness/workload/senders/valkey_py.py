"""valkey-py: a script adds an entry only if none with its id was added before."""

from __future__ import annotations

from typing import Final

from onceproof.harness.valkey.configuration import Streams
from onceproof.harness.valkey.server import PACKAGES
from onceproof.harness.workload.senders.packaged import PackagedSender

VALKEY_PY: Final = PackagedSender(
    name="valkey-py", module="valkey_py", packages=PACKAGES, queue_broker=Streams()
)
