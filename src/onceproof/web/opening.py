"""Open the page of a command, if it is wanted. The server takes long to import."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onceproof.web.server import Web


def with_page(wanted: bool, do: Callable[[Web | None], int]) -> int:
    """Run a command with its page, or with None, and return its exit code."""
    if not wanted:
        return do(None)
    from onceproof.web.server import page

    with page() as web:
        web.exit_code = do(web)
        return web.exit_code
