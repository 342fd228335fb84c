"""Connect to NATS. Imported only by programs that are started with its packages."""

from __future__ import annotations

from typing import Any, Final

import nats

SECONDS: Final = 2.0
"""Timeout of an answer."""


async def connect(server: str, name: str, user: str | None = None) -> Any:
    """Return a connection with a name, which does not connect again by itself.

    Args:
        server: `host:port`.
        user: with a password that is the same word; None: the usual user.
    """
    known = {} if user is None else {"user": user, "password": user}
    return await nats.connect(
        f"nats://{server}",
        name=name,
        connect_timeout=SECONDS,
        allow_reconnect=False,
        # 0 would be no limit, also for a first connection that is refused.
        max_reconnect_attempts=1,
        reconnect_time_wait=0.1,
        ping_interval=1,
        max_outstanding_pings=2,
        error_cb=_ignore,
        **known,
    )


async def _ignore(error: Exception) -> None:
    """What it says is raised by the call that failed, too."""
