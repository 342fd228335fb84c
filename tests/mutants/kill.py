"""Judges mutants on many small histories at once, and compares the answers with the original's.

The tables of a mutant are in a schema that shadows the original tables; only those whose inputs
differ are computed again. The first answer that differs catches the mutant. Answers that need a
complete history are not compared for an incomplete one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Timer
from typing import Any, Final

import duckdb

from onceproof.checkers.cycles import shortest_cycles
from onceproof.checkers.engines import Settings, open_engine
from onceproof.checkers.relations.base import Relation
from tests.mutants.operators import Mutant
from tests.mutants.queries import dependents, is_answer, needs, only_complete, queries
from tests.properties.checkers.combine import Stretches, combined
from tests.properties.checkers.judges import trials
from tests.properties.checkers.world import World

TIME_LIMIT: Final = 20.0
"""Seconds for a mutant on one batch of histories."""
MEMORY_LIMIT: Final = "3GB"
INVALID: Final = (duckdb.BinderException, duckdb.ParserException, duckdb.CatalogException)


@dataclass(frozen=True, kw_only=True)
class Fate:
    """What a mutant changed on some histories."""

    caught_by: str | None = None
    """The answer that differs, or the error that the mutant raised."""
    invalid: str | None = None
    """Why the engine refused it."""
    changed: frozenset[str] = frozenset()
    """Relations that differ, if no answer does."""
    hidden: bool = False
    """Whether a suspect is no longer compared in full."""

    @property
    def survived(self) -> bool:
        return self.caught_by is None and self.invalid is None

    @property
    def only_more_suspects(self) -> bool:
        """Whether it survived, and only compares more records in full than necessary."""
        return self.survived and "suspects" in self.changed and not self.hidden

    def and_then(self, other: Fate) -> Fate:
        """The fate on these histories, which it survived, and on the others."""
        return Fate(
            caught_by=other.caught_by,
            invalid=other.invalid,
            changed=self.changed | other.changed,
            hidden=self.hidden or other.hidden,
        )


class Suite:
    """One batch of histories in DuckDB, with all relations computed from them."""

    def __init__(self, worlds: Sequence[World]) -> None:
        # A join without its condition must raise an error, not fill memory or disk.
        limits = {"threads": 1, "memory_limit": MEMORY_LIMIT, "temp_directory": ""}
        self._db = duckdb.connect(":memory:", config=limits)
        history = combined(worlds)
        made = trials(worlds, Stretches.of(worlds))
        with open_engine(history, made, Settings(threads=1)):
            pass  # Opening an engine validates the history.
        for name, table in {**history, **made.tables()}.items():
            self._db.register("arriving", table)
            self._db.execute(f"CREATE TABLE main.{name} AS SELECT * FROM arriving")
            self._db.unregister("arriving")
        self._db.execute("CREATE SCHEMA mutant")
        self._fingerprints: dict[str, Any] = {}
        for name, relation in queries().items():
            self._make("main", relation)
            self._fingerprints[name] = self._fingerprint(name, "main")
        self._db.execute("SET search_path = 'mutant,main'")

    def answer(self, name: str, schema: str = "main") -> Counter[tuple[Any, ...]]:
        """The rows of a relation or answer that count."""
        return Counter(self._db.execute(f"SELECT * FROM {_judged(name, schema)} w").fetchall())

    def fate(self, mutant: Mutant) -> Fate:
        """The fate of a mutant on these histories."""
        original = queries()[mutant.query]
        altered = Relation(name=original.name, meaning="", sql=mutant.sql, cycles=original.cycles)
        changed: set[str] = set()
        made: list[str] = []
        with self._time_limit():
            try:
                for name in (mutant.query, *dependents([mutant.query])):
                    relation = altered if name == mutant.query else queries()[name]
                    if name != mutant.query and not needs(relation) & changed:
                        continue
                    self._make("mutant", relation)
                    made.append(name)
                    if self._fingerprint(name, "mutant") == self._fingerprints[name]:
                        self._db.execute(f"DROP TABLE mutant.{made.pop()}")
                    elif is_answer(name) and self._differs(name):
                        return Fate(caught_by=name)
                    else:
                        changed.add(name)
                hidden = "suspects" in changed and self._hidden()
                return Fate(changed=frozenset(changed), hidden=hidden)
            except INVALID as error:
                return Fate(invalid=str(error).splitlines()[0])
            except duckdb.InterruptException:
                return Fate(changed=frozenset(changed | {"(slow)"}))
            except (duckdb.Error, KeyError, ValueError, TypeError) as error:
                return Fate(caught_by=f"{type(error).__name__}: {str(error).splitlines()[0]}")
            finally:
                for name in made:
                    self._db.execute(f"DROP TABLE IF EXISTS mutant.{name}")

    def _make(self, schema: str, relation: Relation) -> None:
        query = relation.sql
        if relation.cycles is not None:
            edges = self._db.sql(query).to_arrow_table()
            self._db.register("arriving", shortest_cycles(edges, relation.cycles))
            query = "SELECT * FROM arriving"
        self._db.execute(f"CREATE TABLE {schema}.{relation.name} AS {query}")

    def _fingerprint(self, name: str, schema: str) -> Any:
        """Row count and hash, which are the same for equal tables."""
        return self._db.execute(
            f"SELECT count(*), sum(CAST(hash(w) AS HUGEINT)) FROM {_judged(name, schema)} w"
        ).fetchall()

    def _differs(self, name: str) -> bool:
        """Whether the rows differ, apart from the types of their numbers."""
        ((count, _),) = self._fingerprint(name, "mutant")
        if count != self._fingerprints[name][0][0]:
            return True
        return self.answer(name, "mutant") != self.answer(name)

    def _hidden(self) -> bool:
        """Whether a suspect of the original is missing from the mutant."""
        return bool(
            self._db.execute(
                "SELECT 1 FROM main.suspects s ANTI JOIN mutant.suspects m ON m.h = s.h LIMIT 1"
            ).fetchall()
        )

    @contextmanager
    def _time_limit(self) -> Iterator[None]:
        timer = Timer(TIME_LIMIT, self._db.interrupt)
        timer.start()
        try:
            yield
        finally:
            timer.cancel()


def _judged(name: str, schema: str) -> str:
    """A query for the rows of a relation or answer that count."""
    if table := only_complete().get(name):
        return (
            f"(SELECT * FROM {schema}.{name} WHERE trial IS NULL OR trial NOT IN "
            f"(SELECT trial FROM main.{table} WHERE NOT complete))"
        )
    return f"{schema}.{name}"
