"""Engines compute relations and answers; all must give the same results.

`open_history` returns the bottom layer of a history in the engine that the settings name.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from onceproof.checkers.bad_history import BadHistory
from onceproof.checkers.engines.database import Database
from onceproof.checkers.engines.everything import without_screen
from onceproof.checkers.engines.not_enough_memory import NotEnoughMemory
from onceproof.checkers.engines.overlay import Layer, standard_queries
from onceproof.checkers.engines.parallel import run_interruptibly
from onceproof.checkers.engines.settings import Settings
from onceproof.checkers.engines.validation import check_contents
from onceproof.checkers.history import History
from onceproof.checkers.trials import Trials

__all__ = ["Layer", "Settings", "open_engine", "open_history"]


@contextmanager
def open_history(history: History, settings: Settings) -> Iterator[Layer]:
    """Open a history's tables and check their contents.

    Raises:
        BadHistory: a table holds what the contract does not allow.
    """
    database = _database(settings, sum(map(history.rows, history)))
    try:
        queries = standard_queries()
        if not settings.screen:
            queries = without_screen(queries)
        layer = Layer(database, {}, None, queries)
        run_interruptibly(database, lambda: _filled(layer, history))
        yield layer
    except (BadHistory, NotEnoughMemory):
        raise
    except Exception:
        # Engines fail on a damaged file in various ways, without naming it.
        history.check_readable()
        raise
    finally:
        database.close()


@contextmanager
def open_engine(history: History, trials: Trials, settings: Settings) -> Iterator[Layer]:
    """Open a history with trials; see `open_history`."""
    with open_history(history, settings) as bottom, bottom.above(trials.tables()) as layer:
        yield layer


def _filled(layer: Layer, history: History) -> None:
    history.put_into(layer)
    check_contents(layer, history)


def _database(settings: Settings, rows: int) -> Database:
    if settings.engine == "spark":
        from onceproof.checkers.engines.spark import Spark

        return Spark(settings)
    from onceproof.checkers.engines.duckdb import DuckDB

    return DuckDB(settings, rows)
