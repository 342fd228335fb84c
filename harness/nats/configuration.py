"""Write the configuration of a NATS server, and of its streams and consumers.

A stream keeps its messages after they are consumed, so it is its own log. What a queue address is
to other queue brokers, is here a stream with the subject of that name; the pipeline consumes it by
one durable pull consumer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Final

DURABLE: Final = "forwarders"
"""The consumer that all forwarders of a stream share."""
ACK_WAIT: Final = 5.0
"""Seconds after which an unacknowledged message is delivered again; 30 by default."""
SYSTEM_USER: Final = "system"
"""User of the system account, which may list connections and close them."""
_CONFIGURATION: Final = """\
server_name: onceproof
listen: "{listen}"
jetstream {{ store_dir: "{store}" }}
accounts {{
  SYS {{ users: [ {{ user: {system}, password: {system} }} ] }}
  APPLICATION {{ jetstream: enabled, users: [ {{ user: application, password: application }} ] }}
}}
system_account: SYS
no_auth_user: application
"""
_NS: Final = 1_000_000_000


@dataclass(frozen=True, kw_only=True)
class JetStream:
    """Settings of JetStream that a claim depends on.

    Attributes:
        window: seconds for which a stream remembers message ids (`duplicate_window`).
        acknowledged: whether consumers acknowledge messages (`ack_policy`); otherwise a message is
            consumed when it is delivered.
    """

    product: ClassVar[str] = "nats"
    one_listener: ClassVar[bool] = True

    window: float = 120.0
    acknowledged: bool = True

    @property
    def lacks(self) -> tuple[str, ...]:
        return ("narrow",) if self.window < ACK_WAIT else ()

    def as_configured(self) -> dict[str, str]:
        return {
            "duplicate_window": f"{self.window:g} s",
            "ack_policy": _policy(self),
            "ack_wait": f"{ACK_WAIT:g} s",
        }

    def as_json(self) -> dict[str, object]:
        return asdict(self)

    def source(self, address: str) -> str:
        return address


def server_configuration(settings: JetStream, listen: str, folder: Path) -> str:
    """Return the content of the server's configuration file; streams have the settings."""
    return _CONFIGURATION.format(listen=listen, store=folder, system=SYSTEM_USER)


def stream(name: str, settings: JetStream) -> Mapping[str, Any]:
    """Return the configuration of a stream."""
    return {
        "name": name,
        "subjects": [name],
        "storage": "file",
        "duplicate_window": int(settings.window * _NS),
        # For the harness, which sends several messages at once or none.
        "allow_atomic": True,
    }


def consumer(settings: JetStream) -> Mapping[str, Any]:
    """Return the configuration of the consumer of a stream."""
    wait = {"ack_wait": int(ACK_WAIT * _NS)} if settings.acknowledged else {}
    return {"durable_name": DURABLE, "ack_policy": _policy(settings), "max_deliver": -1, **wait}


def _policy(settings: JetStream) -> str:
    return "explicit" if settings.acknowledged else "none"
