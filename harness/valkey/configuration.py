"""Write the configuration of a Valkey server.

A stream keeps its entries after they are consumed, so it is its own log. The pipeline consumes it
by one consumer group, whose pending entries were delivered and not acknowledged.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import ClassVar, Final

GROUP: Final = "forwarders"
"""The consumer group that all forwarders of a stream share."""
IDLE_MS: Final = 5_000
"""Milliseconds after which a forwarder claims an entry that is pending for another one."""
_CONFIGURATION: Final = """\
bind {host}
port {port}
dir "{folder}"
appendonly {append_only}
appendfsync always
save ""
"""


@dataclass(frozen=True, kw_only=True)
class Streams:
    """Settings of Valkey that a claim depends on.

    Attributes:
        append_only: whether the server logs each write, and repeats the log when it starts.
    """

    product: ClassVar[str] = "valkey"
    one_listener: ClassVar[bool] = True

    append_only: bool = True

    @property
    def lacks(self) -> tuple[str, ...]:
        return () if self.append_only else ("forgetful",)

    def as_configured(self) -> dict[str, str]:
        return {
            "appendonly": _word(self),
            "appendfsync": "always",
            "entries are claimed after": f"{IDLE_MS / 1000:g} s",
        }

    def as_json(self) -> dict[str, object]:
        return asdict(self)

    def source(self, address: str) -> str:
        return address


def server_configuration(settings: Streams, listen: str, folder: Path) -> str:
    """Return the content of the server's configuration file."""
    host, _, port = listen.rpartition(":")
    return _CONFIGURATION.format(host=host, port=port, folder=folder, append_only=_word(settings))


def _word(settings: Streams) -> str:
    return "yes" if settings.append_only else "no"
