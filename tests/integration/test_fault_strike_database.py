"""Database faults during a pipeline's transaction: its outcome and the pipeline's recovery."""

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
from tests.integration.programs import RunningPipeline, running
from tests.integration.staging import Staged, eventually

pytestmark = pytest.mark.integration


@pytest.fixture
def pipeline(staging: Staged, topic: Callable[..., str]) -> Iterator[RunningPipeline]:
    """A program that writes rows and its offset to two tables, in one transaction."""
    with running(staging, topic, "rows") as started:
        yield started
        drop = f"DROP TABLE IF EXISTS {started.output.place}, {started.output.place}_at"
        started.program.kill("the test is over")
        with psycopg.connect(staging.stage.database(AUDITOR), autocommit=True) as connection:
            connection.execute(drop)


def last_unfinished(lines: list[str]) -> int:
    """The number of the last transaction, which must be unconfirmed."""
    (last,) = [line for line in lines if line.startswith(("tries", "did"))][-1:]
    assert last.startswith("tries"), "it heard of all that it did"
    return int(last.split()[1])


def wait_for_starts(pipeline: RunningPipeline, times: int) -> list[str]:
    """Wait until the program has started `times` times; return its output."""

    def look() -> list[str] | None:
        lines = pipeline.stdout()
        return lines if sum(line.startswith("begins") for line in lines) >= times else None

    return eventually(look, f"it to begin {times} times", pipeline.stdout)


def has_each_row_once(pipeline: RunningPipeline) -> bool:
    """Whether every confirmed row exists, and none is duplicated."""
    # Read the output first: the program continues meanwhile.
    done = {f"r-{line.split()[1]}" for line in pipeline.stdout() if line.startswith("did")}
    effects = pipeline.effects()
    return done <= set(effects) and set(effects.values()) == {1}


@pytest.mark.parametrize(("act", "landed"), [("kill-undone", False), ("kill-landed", True)])
def test_program_killed_at_commit_resumes_at_stored_offset(
    pipeline: RunningPipeline, act: Act, landed: bool
) -> None:
    with pipeline.injected(StrikeDatabase(when="commit", act=act)) as (injection, proof):
        assert not pipeline.program.alive()
        assert "processes ended by signal 9, at a commit on " in proof
        assert re.search(rf"transaction \d+ {'committed' if landed else 'aborted'}", proof)
        assert injection.target == "postgres"
        n = last_unfinished(pipeline.stdout(0))
        assert (f"r-{n}" in pipeline.effects()) is landed
    assert pipeline.stdout(1)[0] == f"begins {n + landed}", (
        "the next life goes on behind what is there"
    )
    assert has_each_row_once(pipeline)


def test_kill_before_statement_aborts_its_transaction(pipeline: RunningPipeline) -> None:
    table = f"{pipeline.output.place}_at"
    strike = StrikeDatabase(when="statement", act="kill-undone", table=table)
    with pipeline.injected(strike) as (_, proof):
        assert f"at a statement on {table}" in proof
        assert "aborted" in proof, "its row had been written by then"
        n = last_unfinished(pipeline.stdout(0))
        assert f"r-{n}" not in pipeline.effects()
    assert pipeline.stdout(1)[0] == f"begins {n}"
    assert has_each_row_once(pipeline)


def test_program_is_killed_while_its_writes_are_refused(pipeline: RunningPipeline) -> None:
    strike = StrikeDatabase(when="statement", act="kill-refused", seconds=5.0)
    with pipeline.injected(strike) as (_, proof):
        assert "the database refused" in proof
        assert "ended by signal 9; meanwhile it had committed offsets 0 times" in proof or (
            proof.endswith("ended by itself")
        )
    assert has_each_row_once(pipeline)


@pytest.mark.parametrize(("act", "landed"), [("cut-undone", False), ("cut-landed", True)])
def test_connection_cut_at_commit_resumes_at_stored_offset(
    pipeline: RunningPipeline, act: Act, landed: bool
) -> None:
    with pipeline.injected(StrikeDatabase(when="commit", act=act)) as (_, proof):
        assert pipeline.program.alive()
        assert re.search(rf"transaction \d+ {'committed' if landed else 'aborted'}", proof)
    lines = wait_for_starts(pipeline, 2)
    failed = next(n for n, line in enumerate(lines) if line.startswith("failed"))
    n = last_unfinished(lines[:failed])
    assert next(line for line in lines[failed:] if line.startswith("begins")) == (
        f"begins {n + landed}"
    )
    names = [process.name for process in pipeline.staging.processes.all]
    assert names.count(pipeline.program.supervisor.names[0]) == 1
    assert has_each_row_once(pipeline)


@pytest.mark.parametrize(
    ("strike", "code"),
    [
        (StrikeDatabase(when="statement", act="refuse"), "40001"),
        (StrikeDatabase(when="commit", act="refuse"), "40001"),
        (StrikeDatabase(when="statement", act="refuse", code="40P01"), "40P01"),
    ],
    ids=lambda each: each if isinstance(each, str) else each.when,
)
def test_program_survives_refused_statements(
    pipeline: RunningPipeline, strike: StrikeDatabase, code: str
) -> None:
    with pipeline.injected(strike) as (_, proof):
        assert re.match(rf"the database refused [1-9]\d* times with SQLSTATE {code}", proof)
        assert pipeline.program.alive()
    assert any(line.startswith(f"failed {code}") for line in pipeline.stdout())
    assert has_each_row_once(pipeline)
    wait_for_starts(pipeline, 2)


@pytest.mark.parametrize("when", get_args(When))
def test_slow_answers_cause_no_failure(
    pipeline: RunningPipeline, monkeypatch: pytest.MonkeyPatch, when: When
) -> None:
    monkeypatch.setattr(module, "_SLOW_SECONDS", 0.5)
    with pipeline.injected(StrikeDatabase(when=when, act="slow")) as (_, proof):
        assert "answers delayed by up to 0.5 s" in proof
        assert "committed" in proof
    assert [line for line in pipeline.stdout() if line.startswith("failed")] == []
    assert has_each_row_once(pipeline)


def test_stop_during_held_commit_commits_before_the_end(pipeline: RunningPipeline) -> None:
    with pipeline.injected(StrikeDatabase(when="commit", act="stop", seconds=0.5)) as (_, proof):
        assert not pipeline.program.alive()
        assert "at a commit on" in proof
        assert re.search(r"transaction \d+ committed; meanwhile it had committed offsets 0", proof)
    assert pipeline.stdout(1)[0].startswith("begins")
    assert has_each_row_once(pipeline)


def test_restarted_program_finds_its_tables(pipeline: RunningPipeline) -> None:
    with pipeline.injected(StrikeDatabase(when="commit", act="kill-undone")):
        pass
    pipeline.wait_for_line("begins")
    with psycopg.connect(pipeline.staging.stage.database(AUDITOR)) as connection:
        found = connection.execute(
            "SELECT schemaname FROM pg_tables WHERE tablename = %s", [pipeline.output.place]
        ).fetchall()
    assert found == [("public",)], "CREATE TABLE IF NOT EXISTS of its next life made no second one"
    begins = [int(line.split()[1]) for line in pipeline.stdout() if line.startswith("begins")]
    assert len(begins) > 1
    assert all(later > 0 for _, later in pairwise(begins))


def test_strike_fails_without_writes_to_the_table(
    pipeline: RunningPipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MEET_SECONDS", 0.5)
    with psycopg.connect(pipeline.staging.stage.database(AUDITOR), autocommit=True) as connection:
        connection.execute("CREATE TABLE unused (n int)")
        try:
            strike = StrikeDatabase(when="statement", act="kill-undone", table="unused")
            with pytest.raises(Exception, match="a statement of the pipeline in the database"):
                strike.inject(pipeline.context, "x")
        finally:
            connection.execute("DROP TABLE unused")
    assert pipeline.program.alive()
    assert has_each_row_once(pipeline)


def test_parses_command_of_fault_by_hand() -> None:
    made = asked("strike-database", ["commit", "kill-landed"])
    assert made == StrikeDatabase(when="commit", act="kill-landed")
