"""Decide whether to colour an output: only a terminal, and only without NO_COLOR."""

from __future__ import annotations

import io
import os
from typing import TextIO

from rich.console import Console

_PLAIN_WIDTH = 120


def is_terminal(out: TextIO) -> bool:
    """Return whether the output is a terminal that can do more than print lines."""
    return out.isatty() and os.environ.get("TERM") != "dumb"


def console(out: TextIO) -> Console:
    """Return a console for one output; texts are never parsed as markup."""
    if isinstance(out, io.TextIOWrapper):  # arrows must not raise without UTF-8
        out.reconfigure(errors="backslashreplace")
    terminal = is_terminal(out)
    return Console(
        file=out,
        force_terminal=terminal,
        no_color=not terminal or bool(os.environ.get("NO_COLOR")),
        width=None if terminal else _PLAIN_WIDTH,
        highlight=False,
        markup=False,
        emoji=False,
    )
