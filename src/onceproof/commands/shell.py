"""`onceproof shell`: query a run's tables in SQL, at a prompt or from the command line."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from onceproof.checkers import BadHistory
from onceproof.errors import USAGE, exit_on_error
from onceproof.interrupts import INTERRUPTED
from onceproof.shell.database import Database, Refused
from onceproof.shell.dots import OutputSettings, run_dot_command
from onceproof.shell.output import print_answer
from onceproof.shell.prompt import read_queries
from onceproof.shell.source import Source, open_source


def shell(path: Path, questions: Sequence[str], *, format_: str) -> int:
    """Answer the given questions, or without any, those typed at the prompt."""
    with exit_on_error():
        source = open_source(path)
        database, settings = Database(source), OutputSettings(format_=format_)
        try:
            if questions:
                return _answer_all(database, source, settings, questions)
            return _run_prompt(database, source, settings)
        except KeyboardInterrupt:
            print("onceproof: interrupted; nothing was changed", file=sys.stderr)
            return INTERRUPTED
        finally:
            database.close()


def _answer_all(
    database: Database, source: Source, settings: OutputSettings, questions: Sequence[str]
) -> int:
    for note in source.notes:
        print(f"note: {note}", file=sys.stderr)
    for question in questions:
        try:
            _answer(database, source, settings, question)
        except (ValueError, BadHistory) as error:
            print(f"onceproof: {error}", file=sys.stderr)
            return USAGE
    return 0


def _run_prompt(database: Database, source: Source, settings: OutputSettings) -> int:
    typed, failed = sys.stdin.isatty(), False
    if typed:
        print(f"{source.name}: `.tables` lists the tables, `.help` the commands.")
        for note in source.notes:
            print(f"note: {note}")

    def answer(question: str) -> None:
        nonlocal failed
        try:
            _answer(database, source, settings, question)
        except (Refused, ValueError) as error:
            failed = True
            sys.stdout.flush()
            print(f"onceproof: {error}", file=sys.stderr)

    read_queries(answer, sys.stdin)
    return USAGE if failed and not typed else 0


def _answer(database: Database, source: Source, settings: OutputSettings, question: str) -> None:
    if question.lstrip().startswith("."):
        run_dot_command(question, source, settings, sys.stdout)
        return
    try:
        for found in database.ask(question):
            print_answer(found, sys.stdout, format_=settings.format_, shown=settings.rows)
    except RuntimeError as error:  # how DuckDB answers a signal
        if "interrupted" not in str(error).lower():
            raise
        raise KeyboardInterrupt from None
