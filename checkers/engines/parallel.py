"""Work beside each other: several threads that ask one engine, where the engine allows it.

Small queries cost their planning, which keeps one core busy each. Where an
engine takes one question at a time everything is done at once, in turn. And whoever waits for an
answer in here hears a signal at once; DuckDB, asked directly, hears it when a step is over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from onceproof.checkers.engines.database import Database

T = TypeVar("T")

_AGAIN: Final = 0.05
"""Seconds until somebody who waits looks about for an interrupt, or makes it once more."""


class Beside:
    """Takes work and gives what will come of it."""

    def __init__(self, pool: ThreadPoolExecutor | None) -> None:
        """Without a pool work is done when it is handed in."""
        self._pool = pool
        self._handed_in: list[Future[Any]] = []

    def do(self, work: Callable[[], T]) -> Future[T]:
        """Begin some work; `result()` of what is returned waits for it, and raises as it did."""
        what: Future[T] = Future()
        if self._pool is None:
            what.set_result(work())
            return what
        # It is known before it is handed in: an interrupt may come at any moment.
        self._handed_in.append(what)
        self._pool.submit(_carry_out, work, what)
        return what

    def break_off(self, database: Database) -> None:
        """Let nothing begin any more, and interrupt what has begun until it is over.

        Once is not enough: an interrupt between two questions is heard by neither.
        """
        begun = [what for what in self._handed_in if not what.cancel()]
        while wait(begun, _AGAIN).not_done:
            database.interrupt()


def _carry_out(work: Callable[[], T], what: Future[T]) -> None:
    if not what.set_running_or_notify_cancel():
        return
    try:
        what.set_result(work())
    except BaseException as error:
        what.set_exception(error)


@contextmanager
def beside(database: Database) -> Iterator[Beside]:
    """Somebody to hand work to; all of it is over when the context ends.

    When the context ends with an error, an interrupt say, nobody waits for answers any more.
    """
    if database.threads < 2:
        yield Beside(None)
        return
    # Work may hand in work and wait for it: one more than ask at a time.
    with ThreadPoolExecutor(database.threads + 1) as pool:
        others = Beside(pool)
        try:
            yield others
        except BaseException:
            others.break_off(database)
            raise


def heard(database: Database, work: Callable[[], T]) -> T:
    """Do some work so that an interrupt is heard while it lasts."""
    with beside(database) as others:
        doing = others.do(work)
        # A signal that comes just before a wait begins is heard when that wait is over.
        while not wait([doing], _AGAIN).done:
            pass
        return doing.result()
