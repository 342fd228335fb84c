"""The prompt: read queries line by line, with line editing in a terminal.

A query ends with a semicolon and may span several lines. Ctrl-C discards the query that is being
typed or executed, and never quits.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, TextIO

from onceproof.checkers.tables import TABLES
from onceproof.shell.dots import HELP, Quit
from onceproof.shell.relations import meanings

_PROMPT, _MORE = "onceproof> ", "      ...> "
_HISTORY_LENGTH: Final = 1000
_DELIMITERS: Final = " \t\n,;()=<>'\""


def read_queries(answer: Callable[[str], None], source: TextIO) -> None:
    """Pass queries and dot commands to `answer` until the input ends or it raises `Quit`."""
    typed = source.isatty()
    lines: list[str] = []
    with _saved_history(typed), suppress(Quit):
        while True:
            # One `try` for both: an interrupt between reading and answering must not quit.
            try:
                question = _question(lines, source, typed)
                if question is None:
                    return
                answer(question)
            except KeyboardInterrupt:
                lines.clear()
                print("^C", file=sys.stderr)


def _question(lines: list[str], source: TextIO, typed: bool) -> str | None:
    """Return the next query, or None at the end; `lines` holds what is typed so far."""
    while (line := _line(source, typed, _MORE if lines else _PROMPT)) is not None:
        if not lines and not line.strip():
            continue
        lines.append(line)
        if line.rstrip().endswith(";") or lines[0].lstrip().startswith("."):
            if typed:
                _join_history(lines)
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
        with suppress(OSError):  # the terminal may be gone
            print(flush=True)
        return None


def _join_history(lines: list[str]) -> None:
    """Replace the lines of a query in readline's history by one entry."""
    import readline

    if len(lines) < 2 or readline.get_current_history_length() < len(lines):
        return
    for _ in lines:
        readline.remove_history_item(readline.get_current_history_length() - 1)
    readline.add_history(" ".join(line.strip() for line in lines))


@contextmanager
def _saved_history(typed: bool) -> Iterator[None]:
    """Load and save the query history, and complete names with Tab."""
    if not typed:
        yield
        return
    import readline

    file = _file(dict(os.environ))
    with suppress(OSError):
        readline.read_history_file(file)
    readline.set_history_length(_HISTORY_LENGTH)
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
