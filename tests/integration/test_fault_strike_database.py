"""A pipeline's transaction met in the database: what became of it, and how the pipeline goes on."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import get_args

import psycopg
import pytest

from onceproof.harness.faults.by_hand import asked
from onceproof.harness.faults.database import strike_database as module
from onceproof.harness.faults.database.strike_database import Act, StrikeDatabase
from onceproof.harness.faults.database.triggers import When
from onceproof.harness.links.topology import AUDITOR
from tests.integration.programs import Own, running
from tests.integration.staging import Staged, eventually

pytestmark = pytest.mark.integration


@pytest.fixture
def own(staging: Staged, topic: Callable[..., str]) -> Iterator[Own]:
    """A program that counts in a table and keeps its position in another, in one transaction."""
    with running(staging, topic, "rows") as made:
        yield made
        drop = f"DROP TABLE IF EXISTS {made.output.place}, {made.output.place}_at"
        made.program.kill("the test is over")
        with psycopg.connect(staging.stage.database(AUDITOR), autocommit=True) as connection:
            connection.execute(drop)


def tried_last(said: list[str]) -> int:
    """The last transaction that it had begun and not heard of."""
    (last,) = [line for line in said if line.startswith(("tries", "did"))][-1:]
    assert last.startswith("tries"), "it heard of all that it did"
    return int(last.split()[1])


def began(own: Own, times: int) -> list[str]:
    """Wait until it has begun so often; returns all that it said."""

    def look() -> list[str] | None:
        said = own.said()
        return said if sum(line.startswith("begins") for line in said) >= times else None

    return eventually(look, f"it to begin {times} times", own.said)


def exactly_once(own: Own) -> bool:
    """Whether each row that it told of is there, and none twice."""
    # In this order: it goes on while we look.
    done = {f"r-{line.split()[1]}" for line in own.said() if line.startswith("did")}
    effects = own.effects()
    return done <= set(effects) and set(effects.values()) == {1}


@pytest.mark.parametrize(("act", "landed"), [("kill-undone", False), ("kill-landed", True)])
def test_it_is_killed_at_its_commit(own: Own, act: Act, landed: bool) -> None:
    with own.struck(StrikeDatabase(when="commit", act=act)) as (injection, proof):
        assert not own.program.alive()
        assert "processes ended by signal 9, at a commit on " in proof
        assert re.search(rf"transaction \d+ {'committed' if landed else 'aborted'}", proof)
        assert injection.target == "postgres"
        n = tried_last(own.said(0))
        assert (f"r-{n}" in own.effects()) is landed
    assert own.said(1)[0] == f"begins {n + landed}", "the next life goes on behind what is there"
    assert exactly_once(own)


def test_it_is_killed_before_a_statement(own: Own) -> None:
    table = f"{own.output.place}_at"
    strike = StrikeDatabase(when="statement", act="kill-undone", table=table)
    with own.struck(strike) as (_, proof):
        assert f"at a statement on {table}" in proof
        assert "aborted" in proof, "its row had been written by then"
        n = tried_last(own.said(0))
        assert f"r-{n}" not in own.effects()
    assert own.said(1)[0] == f"begins {n}"
    assert exactly_once(own)


@pytest.mark.parametrize(("act", "landed"), [("cut-undone", False), ("cut-landed", True)])
def test_its_connection_ends_at_its_commit(own: Own, act: Act, landed: bool) -> None:
    with own.struck(StrikeDatabase(when="commit", act=act)) as (_, proof):
        assert own.program.alive()
        assert re.search(rf"transaction \d+ {'committed' if landed else 'aborted'}", proof)
    said = began(own, 2)
    failed = next(n for n, line in enumerate(said) if line.startswith("failed"))
    n = tried_last(said[:failed])
    assert next(line for line in said[failed:] if line.startswith("begins")) == (
        f"begins {n + landed}"
    )
    names = [process.name for process in own.staging.processes.all]
    assert names.count(own.program.supervisor.names[0]) == 1
    assert exactly_once(own)


@pytest.mark.parametrize(
    ("strike", "code"),
    [
        (StrikeDatabase(when="statement", act="refuse"), "40001"),
        (StrikeDatabase(when="commit", act="refuse"), "40001"),
        (StrikeDatabase(when="statement", act="refuse", code="40P01"), "40P01"),
    ],
    ids=lambda each: each if isinstance(each, str) else each.when,
)
def test_it_is_refused_and_lives_on(own: Own, strike: StrikeDatabase, code: str) -> None:
    with own.struck(strike) as (_, proof):
        assert re.match(rf"the database refused [1-9]\d* times with SQLSTATE {code}", proof)
        assert own.program.alive()
    assert any(line.startswith(f"failed {code}") for line in own.said())
    assert exactly_once(own)
    began(own, 2)


@pytest.mark.parametrize("when", get_args(When))
def test_an_answer_is_late(own: Own, monkeypatch: pytest.MonkeyPatch, when: When) -> None:
    monkeypatch.setattr(module, "_SLOW_SECONDS", 0.5)
    with own.struck(StrikeDatabase(when=when, act="slow")) as (_, proof):
        assert "answers delayed by up to 0.5 s" in proof
        assert "committed" in proof
    assert [line for line in own.said() if line.startswith("failed")] == []
    assert exactly_once(own)


def test_it_is_asked_to_end_while_its_commit_is_held(own: Own) -> None:
    with own.struck(StrikeDatabase(when="commit", act="stop", seconds=0.5)) as (_, proof):
        assert not own.program.alive()
        assert "at a commit on" in proof
        assert re.search(r"transaction \d+ committed; meanwhile it had committed offsets 0", proof)
    assert own.said(1)[0].startswith("begins")
    assert exactly_once(own)


def test_its_tables_are_found_again(own: Own) -> None:
    with own.struck(StrikeDatabase(when="commit", act="kill-undone")):
        pass
    own.heard("begins")
    with psycopg.connect(own.staging.stage.database(AUDITOR)) as connection:
        found = connection.execute(
            "SELECT schemaname FROM pg_tables WHERE tablename = %s", [own.output.place]
        ).fetchall()
    assert found == [("public",)], "CREATE TABLE IF NOT EXISTS of its next life made no second one"
    begins = [int(line.split()[1]) for line in own.said() if line.startswith("begins")]
    assert len(begins) > 1
    assert all(later > 0 for _, later in pairwise(begins))


def test_one_that_writes_nothing_is_not_struck(own: Own, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MEET_SECONDS", 0.5)
    with psycopg.connect(own.staging.stage.database(AUDITOR), autocommit=True) as connection:
        connection.execute("CREATE TABLE unused (n int)")
        try:
            strike = StrikeDatabase(when="statement", act="kill-undone", table="unused")
            with pytest.raises(Exception, match="a statement of the pipeline in the database"):
                strike.inject(own.context, "x")
        finally:
            connection.execute("DROP TABLE unused")
    assert own.program.alive()
    assert exactly_once(own)


def test_it_can_be_asked_for_by_hand() -> None:
    made = asked("strike-database", ["commit", "kill-landed"])
    assert made == StrikeDatabase(when="commit", act="kill-landed")
