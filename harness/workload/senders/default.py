"""The default sender of scenarios."""

from __future__ import annotations

from typing import Final

from onceproof.harness.workload.senders.base import Sender
from onceproof.harness.workload.senders.librdkafka import LIBRDKAFKA

DEFAULT_SENDER: Final[Sender] = LIBRDKAFKA
