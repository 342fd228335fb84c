"""Whether and how to colour an output.

Only a terminal is coloured, and only if NO_COLOR is not set.
"""

from __future__ import annotations

import io
import os
from typing import TextIO

from rich.console import Console

_PLAIN_WIDTH = 120


def is_terminal(out: TextIO) -> bool:
    """Whether somebody looks at it on a terminal that can do more than print lines."""
    return out.isatty() and os.environ.get("TERM") != "dumb"


def console(out: TextIO) -> Console:
    """A console for one output; nothing in a text is taken for markup."""
    if isinstance(out, io.TextIOWrapper):  # an arrow must not fail a run where UTF-8 is not spoken
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
