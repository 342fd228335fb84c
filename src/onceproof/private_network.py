"""`--private`: run the command and everything that it starts in a network namespace of its own."""

from __future__ import annotations

import os
import sys
from typing import Final

from onceproof.harness.tools.private_network import NotPrivate, enter_private_network

USAGE: Final = 2
TROUBLE: Final = 3
_LOCAL: Final = ("local", "local-secured")


def go_private(backend: str, *, web: bool = False) -> None:
    """Enter the namespace before any import starts threads; on failure print why and exit."""
    if web:
        print(
            "onceproof: --web and --private exclude each other: a browser cannot reach a page in "
            "a private network.",
            file=sys.stderr,
        )
        sys.exit(USAGE)
    if backend not in _LOCAL:
        print(
            "onceproof: --private works only with --backend local: other backends cannot be "
            "reached from a private network.",
            file=sys.stderr,
        )
        sys.exit(USAGE)
    try:
        enter_private_network()
    except NotPrivate as error:
        print(f"onceproof: {error}", file=sys.stderr)
        sys.exit(TROUBLE)


def way_in() -> str:
    """Return the command by which another program of the same user enters the namespace."""
    user = "" if os.geteuid() == 0 else "--preserve-credentials --user "
    return f"nsenter {user}--net --target {os.getpid()} COMMAND"
