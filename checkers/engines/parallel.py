"""Run queries in parallel threads, where the engine allows it.

The cost of a small query is its planning, which uses one core. Waiting here reacts to a signal at
once; DuckDB itself only between steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from onceproof.checkers.engines.database import Database

T = TypeVar("T")

_AGAIN: Final = 0.05
"""Seconds between checks for an interrupt, and between repeated interrupts."""


class Beside:
    """Accepts work and returns futures."""

    def __init__(self, pool: ThreadPoolExecutor | None) -> None:
        """Without a pool, work is done at once."""
        self._pool = pool
        self._handed_in: list[Future[Any]] = []

    def do(self, work: Callable[[], T]) -> Future[T]:
        what: Future[T] = Future()
        if self._pool is None:
            what.set_result(work())
            return what
        # Register it before submitting: an interrupt may come at any time.
        self._handed_in.append(what)
        self._pool.submit(_carry_out, work, what)
        return what

    def break_off(self, database: Database) -> None:
        """Cancel work that has not started, and interrupt the rest until it ends.

        One interrupt is not enough: between two queries it has no effect.
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
    """Accept work until the context ends, and wait for it; after an error, cancel it instead."""
    if database.threads < 2:
        yield Beside(None)
        return
    # Work may submit work and wait for it, so the pool has one extra thread.
    with ThreadPoolExecutor(database.threads + 1) as pool:
        others = Beside(pool)
        try:
            yield others
        except BaseException:
            others.break_off(database)
            raise


def heard(database: Database, work: Callable[[], T]) -> T:
    """Do some work so that an interrupt takes effect immediately."""
    with beside(database) as others:
        doing = others.do(work)
        # A signal that arrives just before a wait is handled after that wait.
        while not wait([doing], _AGAIN).done:
            pass
        return doing.result()
