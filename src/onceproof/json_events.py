"""Write events as lines of JSON; if to standard output, other output goes to standard error."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stdout, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TextIO

from onceproof.errors import TROUBLE, exit_on_error
from onceproof.harness.history.events import Handler
from onceproof.interrupts import INTERRUPTED

if TYPE_CHECKING:
    from onceproof.reports.event_lines.lines import LineWriter

STANDARD_OUTPUT = "-"


@dataclass(frozen=True, kw_only=True)
class Stream:
    """The event stream of a command; empty without `--json-events`."""

    handlers: tuple[Handler, ...] = ()
    """One handler, or none."""
    writer: LineWriter | None = None


def streamed(command: str, target: str | None, do: Callable[[Stream], int]) -> int:
    """Run `do` with events written to `target` (a file, `-` or None), and return its exit code.

    Expected errors are printed, and the last event has the exit code.
    """
    with exit_on_error():
        if target is None:
            return do(Stream())
        with _stream(target) as stream:
            assert stream.writer is not None
            return _with_first_and_last(stream, stream.writer, command, do)


def _with_first_and_last(
    stream: Stream, writer: LineWriter, command: str, do: Callable[[Stream], int]
) -> int:
    from onceproof.reports.event_lines.lines import stamp
    from onceproof.reports.event_lines.model import StreamBegan, StreamEnded

    writer.write(StreamBegan(at=stamp(), command=command))
    code = TROUBLE  # for unexpected exceptions
    try:
        with exit_on_error():
            code = do(stream)
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else code
        raise
    except KeyboardInterrupt:
        code = INTERRUPTED
        raise
    finally:
        writer.write(StreamEnded(at=stamp(), exit_code=code))
    return code


@contextmanager
def _stream(target: str) -> Iterator[Stream]:
    from onceproof.reports.event_lines.lines import LineWriter, RunLines

    with ExitStack() as ending:
        out = ending.enter_context(_opened(target))
        if target == STANDARD_OUTPUT:
            ending.enter_context(redirect_stdout(sys.stderr))
        writer = LineWriter(out, partial(_report_failure, target))
        ending.callback(writer.close)
        yield Stream(handlers=(RunLines(writer),), writer=writer)


@contextmanager
def _opened(target: str) -> Iterator[TextIO]:
    # Duplicate the descriptor: if the reader is gone, only this stream must fail.
    where: str | int = os.dup(sys.stdout.fileno()) if target == STANDARD_OUTPUT else target
    file = open(where, "w", encoding="utf-8")  # noqa: SIM115, PTH123
    try:
        yield file
    finally:
        with suppress(OSError):  # the writer has reported it
            file.close()


def _report_failure(target: str, why: str) -> None:
    name = "standard output" if target == STANDARD_OUTPUT else target
    print(
        f"onceproof: events are no longer written to {name}: {why}. The command continues.",
        file=sys.stderr,
    )
