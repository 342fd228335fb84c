"""Engines against the oracle, and whole judgements, on generated histories.

A small sample for every test run; `make agree` judges thousands.
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
FEW = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def history(world: World) -> History:
    """The history of a single world."""
    return combined([world])


def claims(world: World) -> list[Claim]:
    """End-to-end exactly-once claims, and atomic ones, for every trial of the world."""
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
    """The judgement of `check`, with the world's own phase names restored."""
    rows = history(world)
    phases = History.of(phases=world.rows["phases"])["phases"]
    return check(rows.replace("phases", phases), claims(world))


def assert_judges_agree(batch: list[Case]) -> None:
    worlds = [case.world for case in batch]
    screened, unscreened = ask_engine(worlds, SCREEN), ask_engine(worlds, NO_SCREEN)
    for number, case in enumerate(batch):
        found = {
            "oracle": ask_oracle(case.world),
            "duckdb": screened[number],
            "duckdb, no screen": unscreened[number],
        }
        assert not list(disagreements(list(found), found)), str(case)


def test_judges_agree_on_seeded_cases() -> None:
    assert_judges_agree([Case.of(seed) for seed in range(200)])


@settings(FEW, max_examples=6)
@given(st.lists(cases(), min_size=1, max_size=20))
def test_judges_agree_on_generated_cases(batch: list[Case]) -> None:
    assert_judges_agree(batch)


@pytest.mark.parametrize("seed", range(4))
def test_correct_world_has_no_violation(seed: int) -> None:
    judgement = judged(any_world(seed))
    assert {f.anomaly for f in judgement.findings} <= LEGAL
    assert not any(claim.verdict is Verdict.VIOLATED for claim in judgement.claims)


@pytest.mark.parametrize("table", ["sends", "log", "effects"])
def test_history_with_an_empty_table_never_holds(table: str) -> None:
    world = any_world(3).copy()
    world.rows[table] = []
    for result in judged(world).claims:
        seen_by_journal = table == "effects" and result.claim.scope.view == "journal"
        assert seen_by_journal or result.verdict is not Verdict.HOLDS, result.claim.name
