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

_POLL_SECONDS: Final = 0.05
"""Seconds between checks for an interrupt, and between repeated interrupts."""


class Workers:
    """Accepts work and returns futures."""

    def __init__(self, pool: ThreadPoolExecutor | None) -> None:
        """Without a pool, work is done at once."""
        self._pool = pool
        self._submitted: list[Future[Any]] = []

    def submit(self, work: Callable[[], T]) -> Future[T]:
        future: Future[T] = Future()
        if self._pool is None:
            future.set_result(work())
            return future
        # Register it before submitting: an interrupt may come at any time.
        self._submitted.append(future)
        self._pool.submit(_run, work, future)
        return future

    def cancel(self, database: Database) -> None:
        """Cancel work that has not started, and interrupt the rest until it ends.

        One interrupt is not enough: between two queries it has no effect.
        """
        running = [future for future in self._submitted if not future.cancel()]
        while wait(running, _POLL_SECONDS).not_done:
            database.interrupt()


def _run(work: Callable[[], T], future: Future[T]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        future.set_result(work())
    except BaseException as error:
        future.set_exception(error)


@contextmanager
def workers(database: Database) -> Iterator[Workers]:
    """Accept work until the context ends, and wait for it; after an error, cancel it instead."""
    if database.threads < 2:
        yield Workers(None)
        return
    # Work may submit work and wait for it, so the pool has one extra thread.
    with ThreadPoolExecutor(database.threads + 1) as pool:
        working = Workers(pool)
        try:
            yield working
        except BaseException:
            working.cancel(database)
            raise


def run_interruptibly(database: Database, work: Callable[[], T]) -> T:
    """Do some work so that an interrupt takes effect immediately."""
    with workers(database) as working:
        future = working.submit(work)
        # A signal that arrives just before a wait is handled after that wait.
        while not wait([future], _POLL_SECONDS).done:
            pass
        return future.result()
