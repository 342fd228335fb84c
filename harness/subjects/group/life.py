"""One life of a member that is written in Python, whatever its client: its task, and how it ends.

A member that can do nothing more says why and ends; whoever started it
starts it again.
"""

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


class Over(Exception):
    """Nothing more can be done in this life; the text says why."""


def say(text: str) -> None:
    """Write a line into the member's log."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def identity(headers: Mapping[str, Value] | Iterable[tuple[str, Value]]) -> Headers:
    """The header that says which record it is: an effect carries that of its payment."""
    return [(RECORD_HEADER, dict(headers).get(RECORD_HEADER))]


def live(kind: type[Task], run: Callable[[Task], object], *errors: type[Exception]) -> None:
    """Work off the task that is named on the command line, until `Over` or one of `errors`."""
    # What clients in Python have to say; librdkafka writes its log itself.
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(name)s %(message)s")
    ends: tuple[type[Exception], ...] = (Over, *errors)
    try:
        run(kind.load(Path(sys.argv[1])))
    except ends as reason:
        sys.exit(f"over: {reason}")
