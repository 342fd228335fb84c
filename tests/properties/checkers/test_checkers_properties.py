"""Engines against the oracle, and the whole command of judging, on worlds that shrink.

This is the small share that every test run does; `make agree` does
thousands.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from onceproof.checkers import Claim, History, Verdict, atomic, check, end_to_end
from onceproof.checkers.engines.settings import Settings
from onceproof.checkers.model import Judgement
from tests.properties.checkers.cases import Case
from tests.properties.checkers.combine import combined
from tests.properties.checkers.judges import ask_engine, ask_oracle, disagreements
from tests.properties.checkers.strategies import LEGAL, cases
from tests.properties.checkers.world import World, any_world

SCREEN, NO_SCREEN = Settings(), Settings(screen=False)
few = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def history(world: World) -> History:
    """One world alone."""
    return combined([world])


def claims(world: World) -> list[Claim]:
    """Exactly once, on each of its stretches."""
    return [
        end_to_end(
            "exactly-once", f"w0:{t.topic}", into=f"w0:{t.sink}", view=t.view,
            deduplicates=t.deduplicates,
            dead_letters=None if t.dead_letters is None else f"w0:{t.dead_letters}",
        )
        for t in world.trials
    ] + [
        atomic(
            f"w0:{t.topic}", into=[(f"w0:{s}", v) for s, v in ((t.sink, t.view), *t.others)],
            deduplicates=t.deduplicates,
            dead_letters=None if t.dead_letters is None else f"w0:{t.dead_letters}",
        )
        for t in world.trials
        if t.others
    ]  # fmt: skip


def judged(world: World) -> Judgement:
    """As the command judges it; its phases have their own names again."""
    rows = history(world)
    phases = History.of(phases=world.rows["phases"])["phases"]
    return check(rows.replace("phases", phases), claims(world))


def agree(some: list[Case]) -> None:
    worlds = [case.world for case in some]
    screened, whole = ask_engine(worlds, SCREEN), ask_engine(worlds, NO_SCREEN)
    for number, case in enumerate(some):
        found = {
            "oracle": ask_oracle(case.world),
            "duckdb": screened[number],
            "duckdb, no screen": whole[number],
        }
        assert not list(disagreements(list(found), found)), str(case)


def test_all_judges_find_the_same_in_a_few_hundred_worlds() -> None:
    agree([Case.of(seed) for seed in range(200)])


@settings(few, max_examples=6)
@given(st.lists(cases(), min_size=1, max_size=20))
def test_all_judges_find_the_same(some: list[Case]) -> None:
    agree(some)


@pytest.mark.parametrize("seed", range(4))
def test_a_correct_world_is_judged_without_a_finding(seed: int) -> None:
    judgement = judged(any_world(seed))
    assert {f.anomaly for f in judgement.findings} <= LEGAL
    assert not any(claim.verdict is Verdict.VIOLATED for claim in judgement.claims)


@pytest.mark.parametrize("table", ["sends", "log", "effects"])
def test_a_history_without_a_table_never_holds(table: str) -> None:
    world = any_world(3).copy()
    world.rows[table] = []
    for said in judged(world).claims:
        told_otherwise = table == "effects" and said.claim.scope.view == "journal"
        assert told_otherwise or said.verdict is not Verdict.HOLDS, said.claim.name
