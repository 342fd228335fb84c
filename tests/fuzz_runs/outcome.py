"""The outcome of `onceproof check` on a folder, and whether it is allowed."""

from __future__ import annotations

import contextlib
import io
import json
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from onceproof.checkers import Verdict
from onceproof.commands.check import USAGE, check

SECONDS: Final = 120
"""Time limit of a check in seconds; a verdict takes one or two."""
REFUSED: Final = "refused"
HUNG: Final = "HUNG"
TRACEBACK: Final = "TRACEBACK"
UNDESERVED: Final = "UNDESERVED"
NOT_ALLOWED: Final = frozenset({HUNG, TRACEBACK, UNDESERVED})


class Hung(BaseException):
    """The check exceeded its time limit."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """A verdict, or one of the words above, and the message that was printed."""

    word: str
    message: str = ""

    @property
    def allowed(self) -> bool:
        return self.word not in NOT_ALLOWED


def outcome_of(
    run: Path,
    *,
    unsealed: bool,
    right: Verdict,
    whole: bool,
    judge: Callable[..., int] = check,
    seconds: int = SECONDS,
) -> Outcome:
    """Check a run folder, in this process.

    Args:
        run: the folder.
        unsealed: whether changed tables are judged (`--unsealed`).
        right: the verdict of the undamaged run.
        whole: whether no row is missing.
        judge: the check command.
        seconds: the time limit.
    """
    out, err = io.StringIO(), io.StringIO()
    try:
        with _limited(seconds), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = judge(run, format_="run", unsealed=unsealed)
    except SystemExit as exit_:
        return _refusal(exit_.code, err.getvalue())
    except Hung:
        return Outcome(word=HUNG)
    except BaseException as error:
        return Outcome(word=TRACEBACK, message=f"{type(error).__name__}: {error}")
    if code == USAGE:
        return _refusal(code, err.getvalue())
    verdict = Verdict(json.loads((run / "report.json").read_text())["claims"][0]["verdict"])
    # With all rows present, altered values may turn `holds` into `violated`.
    wrong = verdict is not right and verdict in (Verdict.HOLDS, Verdict.VIOLATED)
    if (wrong or verdict is Verdict.HOLDS) and not (whole and right is Verdict.HOLDS):
        return Outcome(word=UNDESERVED, message=out.getvalue())
    return Outcome(word=verdict.value)


def _refusal(code: object, message: str) -> Outcome:
    sentence = message.startswith("onceproof: ") and len(message.splitlines()) == 1
    if code != USAGE or not sentence or "internal error" in message:
        return Outcome(word=TRACEBACK, message=f"left with {code}: {message}")
    return Outcome(word=REFUSED, message=message)


@contextlib.contextmanager
def _limited(seconds: int) -> Iterator[None]:
    def over(*_: object) -> None:
        raise Hung

    before = signal.signal(signal.SIGALRM, over)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
        sys.stdout.flush()
