"""The prompt: reads questions line by line, with arrow keys where somebody types them.

A question ends with a semicolon, so it may go over several lines; Ctrl-C
throws away what is being typed or answered, and never leaves.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, TextIO

from onceproof.checkers.tables import TABLES
from onceproof.shell.dots import HELP, Leave
from onceproof.shell.relations import meanings

_PROMPT, _MORE = "onceproof> ", "      ...> "
_REMEMBERED: Final = 1000
_DELIMITERS: Final = " \t\n,;()=<>'\""


def converse(answer: Callable[[str], None], source: TextIO) -> None:
    """Read until the end of the input, or until somebody leaves.

    Args:
        answer: gets each question or word with a dot; raises `Leave` at the end.
        source: where they come from.
    """
    typed = source.isatty()
    lines: list[str] = []
    with _remembering(typed), suppress(Leave):
        while True:
            # One guard around both: an interrupt between reading and answering must not leave.
            try:
                question = _question(lines, source, typed)
                if question is None:
                    return
                answer(question)
            except KeyboardInterrupt:
                lines.clear()
                print("^C", file=sys.stderr)


def _question(lines: list[str], source: TextIO, typed: bool) -> str | None:
    """The next question; None at the end of the input. What is typed of it so far is in `lines`."""
    while (line := _line(source, typed, _MORE if lines else _PROMPT)) is not None:
        if not lines and not line.strip():
            continue
        lines.append(line)
        if line.rstrip().endswith(";") or lines[0].lstrip().startswith("."):
            if typed:
                _remember_as_one(lines)
            break
    question = "\n".join(lines)
    lines.clear()
    return question or None


def _line(source: TextIO, typed: bool, prompt: str) -> str | None:
    if not typed:
        return source.readline() or None
    try:
        return input(prompt)
    except EOFError:
        with suppress(OSError):  # the terminal itself may be gone
            print(flush=True)
        return None


def _remember_as_one(lines: list[str]) -> None:
    """A question of several lines comes back as one."""
    import readline

    if len(lines) < 2 or readline.get_current_history_length() < len(lines):
        return
    for _ in lines:
        readline.remove_history_item(readline.get_current_history_length() - 1)
    readline.add_history(" ".join(line.strip() for line in lines))


@contextmanager
def _remembering(typed: bool) -> Iterator[None]:
    """Arrow keys bring back what was asked, today and earlier; Tab completes names."""
    if not typed:
        yield
        return
    import readline

    file = _file(dict(os.environ))
    with suppress(OSError):
        readline.read_history_file(file)
    readline.set_history_length(_REMEMBERED)
    readline.set_completer_delims(_DELIMITERS)
    readline.set_completer(_complete)
    readline.parse_and_bind("tab: complete")
    try:
        yield
    finally:
        with suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True)
            readline.write_history_file(file)


def _file(environ: dict[str, str]) -> Path:
    base = environ.get("XDG_STATE_HOME", "")
    folder = Path(base) if Path(base).is_absolute() else Path.home() / ".local" / "state"
    return folder / "onceproof" / "shell-history"


def _complete(start: str, number: int) -> str | None:
    columns = {column.name for table in TABLES.values() for column in table.columns}
    dots = {usage.split()[0] for usage in HELP}
    names = sorted({*TABLES, "claims", "findings", *meanings(), *columns, *dots})
    found = [name for name in names if name.startswith(start)]
    return found[number] if number < len(found) else None
