"""One life of a member in Python, with any client: load its task, run it, exit with a reason."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TypeVar

from onceproof.harness.history.identity import RECORD_HEADER
from onceproof.harness.subjects.group.task import MemberTask

Task = TypeVar("Task", bound=MemberTask)
Value = str | bytes | None
Headers = list[tuple[str, Value]]


class LifeEnded(Exception):
    """The member cannot continue in this life; the text says why."""


def say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def identity(headers: Mapping[str, Value] | Iterable[tuple[str, Value]]) -> Headers:
    """Return the header that names the record: an effect carries its payment's."""
    return [(RECORD_HEADER, dict(headers).get(RECORD_HEADER))]


def live(kind: type[Task], run: Callable[[Task], object], *errors: type[Exception]) -> None:
    """Run the task named on the command line until it raises `LifeEnded` or one of `errors`."""
    # For the clients in pure Python; librdkafka writes its own log.
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(name)s %(message)s")
    ends: tuple[type[Exception], ...] = (LifeEnded, *errors)
    try:
        run(kind.load(Path(sys.argv[1])))
    except ends as reason:
        sys.exit(f"over: {reason}")
