"""Hazards of writes to the stage's database."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from onceproof.harness.faults.database.strike_database import StrikeDatabase
from onceproof.harness.faults.kill import Kill
from onceproof.harness.faults.targets.service import Database
from onceproof.verify.hazards.asking import SERVER, needs, tables
from onceproof.verify.hazards.hazard import Hazard, Pipeline, Strike

_DATABASE: Final = "pipelines that write to the stage's database"


def _at_commit(act: str) -> Callable[[Pipeline, int], Sequence[Strike]]:
    strike = Strike(do=StrikeDatabase(when="commit", act=act))  # type: ignore[arg-type]
    return lambda pipeline, n: [strike]


def _database_refused(pipeline: Pipeline, n: int) -> Iterator[Strike]:
    when, code = (("statement", "40001"), ("commit", "40001"), ("statement", "40P01"))[n % 3]
    yield Strike(do=StrikeDatabase(when=when, act="refuse", code=code))  # type: ignore[arg-type]


def _database_slow(pipeline: Pipeline, n: int) -> Iterator[Strike]:
    # PostgreSQL's statement_timeout stops counting before a commit fires deferred triggers.
    when = ("statement", "commit")[n % 2]
    yield Strike(do=StrikeDatabase(when=when, act="slow"))  # type: ignore[arg-type]


def _database_cut(pipeline: Pipeline, n: int) -> Iterator[Strike]:
    act = ("cut-undone", "cut-landed")[n % 2]
    yield Strike(do=StrikeDatabase(when="commit", act=act))  # type: ignore[arg-type]


DATABASE: Final[tuple[Hazard, ...]] = (
    Hazard(
        name="database-commit-lost",
        says="it is killed while it commits to the database; the transaction is rolled back",
        of=_DATABASE,
        proof=SERVER,
        unless=needs(tables, "it does not write to the stage's database"),
        strikes=_at_commit("kill-undone"),
    ),
    Hazard(
        name="database-commit-unheard",
        says="it is killed while it commits to the database; the transaction is committed",
        of=_DATABASE,
        proof=SERVER,
        unless=needs(tables, "it does not write to the stage's database"),
        strikes=_at_commit("kill-landed"),
    ),
    Hazard(
        name="database-connection-lost",
        says="its connection closes during a commit to the database, which succeeds or is rolled "
        "back",
        of=_DATABASE,
        proof=SERVER,
        unless=needs(tables, "it does not write to the stage's database"),
        strikes=lambda p, n: list(_database_cut(p, n)),
    ),
    Hazard(
        name="database-refused",
        says="the database rejects a statement or a commit: serialization failure or deadlock",
        of=_DATABASE,
        proof="the server counted the rejections",
        unless=needs(tables, "it does not write to the stage's database"),
        strikes=lambda p, n: list(_database_refused(p, n)),
    ),
    Hazard(
        name="database-slow",
        says="a statement or a commit takes longer than common statement time-outs",
        of=_DATABASE,
        proof=SERVER,
        unless=needs(tables, "it does not write to the stage's database"),
        strikes=lambda p, n: list(_database_slow(p, n)),
        rare=True,
    ),
    Hazard(
        name="database-killed",
        says="the database is killed and recovers",
        of=_DATABASE,
        proof="the database did not respond",
        unless=needs(tables, "it does not write to the stage's database"),
        strikes=lambda p, n: [Strike(do=Kill(Database()))],
        rare=True,
    ),
)
