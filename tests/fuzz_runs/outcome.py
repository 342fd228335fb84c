"""What `onceproof check` makes of a folder, and whether that is allowed."""

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
"""After which something hangs; a verdict takes one or two."""
REFUSED: Final = "refused"
HUNG: Final = "HUNG"
TRACEBACK: Final = "TRACEBACK"
UNDESERVED: Final = "UNDESERVED"
NOT_ALLOWED: Final = frozenset({HUNG, TRACEBACK, UNDESERVED})


class Hung(BaseException):
    """It took too long."""


@dataclass(frozen=True, kw_only=True)
class Came:
    """What came of one variant: a verdict, or one of the words above, and what was said."""

    word: str
    said: str = ""

    @property
    def allowed(self) -> bool:
        """Whether it may be so."""
        return self.word not in NOT_ALLOWED


def came_of(
    run: Path,
    *,
    unsealed: bool,
    right: Verdict,
    whole: bool,
    judge: Callable[..., int] = check,
    seconds: int = SECONDS,
) -> Came:
    """Check a run folder, in this process.

    Args:
        run: the folder.
        unsealed: whether what was changed is to be judged.
        right: the verdict of the run as it was.
        whole: whether nothing is missing of it.
        judge: what checks it.
        seconds: after which that hangs.
    """
    out, err = io.StringIO(), io.StringIO()
    try:
        with _limited(seconds), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = judge(run, format_="run", unsealed=unsealed)
    except SystemExit as left:
        return _refusal(left.code, err.getvalue())
    except Hung:
        return Came(word=HUNG)
    except BaseException as error:
        return Came(word=TRACEBACK, said=f"{type(error).__name__}: {error}")
    if code == USAGE:
        return _refusal(code, err.getvalue())
    verdict = Verdict(json.loads((run / "report.json").read_text())["claims"][0]["verdict"])
    # Of values that were altered and are told to be judged all the same nobody can say more.
    wrong = verdict is not right and verdict in (Verdict.HOLDS, Verdict.VIOLATED)
    if (wrong or verdict is Verdict.HOLDS) and not (whole and right is Verdict.HOLDS):
        return Came(word=UNDESERVED, said=out.getvalue())
    return Came(word=verdict.value)


def _refusal(code: object, said: str) -> Came:
    sentence = said.startswith("onceproof: ") and len(said.splitlines()) == 1
    if code != USAGE or not sentence or "internal error" in said:
        return Came(word=TRACEBACK, said=f"left with {code}: {said}")
    return Came(word=REFUSED, said=said)


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
