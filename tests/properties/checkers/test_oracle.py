"""The oracle, the worlds and the mutations against each other: no engine is asked here."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onceproof.checkers import anomalies
from onceproof.checkers.model import Evidence
from tests.implications import implied
from tests.properties.checkers import oracle
from tests.properties.checkers.judges import RUN, Found, ask_oracle
from tests.properties.checkers.mutating import MUTATIONS, mutated
from tests.properties.checkers.oracle import WITNESS
from tests.properties.checkers.strategies import LEGAL, shapes
from tests.properties.checkers.world import CHOICES, Shape, any_world, build


def names(found: Found) -> set[str]:
    return {name for findings in found.values() for name in findings}


def test_what_went_right_has_no_findings() -> None:
    for seed in range(1_500):
        assert names(ask_oracle(any_world(seed))) <= LEGAL, f"any_world({seed})"


@settings(deadline=None, max_examples=200)
@given(shapes(), st.integers(0, 2**20))
def test_whatever_its_shape(shape: Shape, seed: int) -> None:
    assert names(ask_oracle(build(shape, seed))) <= LEGAL


def test_a_world_is_the_same_again() -> None:
    for seed in range(50):
        assert any_world(seed) == any_world(seed)


def test_every_shape_can_be_drawn_and_the_dullest_first() -> None:
    assert [f.name for f in fields(Shape)] == list(CHOICES)
    dull = Shape()
    assert all(getattr(dull, name) == choices[0] for name, choices in CHOICES.items())


def test_the_oracle_knows_every_anomaly_and_its_kind_of_evidence() -> None:
    assert WITNESS.keys() == anomalies().keys()
    absent = {a.name for a in anomalies().values() if a.evidence is Evidence.ABSENCE}
    assert absent == oracle.ABSENCE


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_mutation_brings_what_it_means_and_only_what_that_implies(name: str) -> None:
    """Or nothing: some mutations leave a legal history, and some find no place."""
    means = MUTATIONS[name].means
    came: Counter[str] = Counter()
    made = seed = 0
    while made < 40 and seed < 1_500:
        seed += 1
        world, places = mutated(any_world(seed), [name], seed)
        if not places:
            continue
        made += 1
        found = names(ask_oracle(world))
        came.update(found)
        if means is not None:
            allowed = LEGAL.union(*map(implied, (means, *MUTATIONS[name].also)))
            assert found <= allowed, f"mutated(any_world({seed}), [{name!r}], {seed})"
    assert made >= 10, "there is hardly a place for it"
    assert means is None or came[means], f"it brought only {came}"


def test_a_beginning_of_a_history_has_no_duplicate_that_the_whole_has_not() -> None:
    """Whatever was mutated: what proves itself by presence does not need the rest."""
    for seed in range(300):
        whole, made = mutated(any_world(seed), ["effect copied", "entry copied"], seed)
        if not made or not whole.rows["phases"]:
            continue
        partial = whole.copy()
        partial.rows["phases"] = [p for p in whole.rows["phases"] if p["phase"] != "collect"]
        partial.rows["log"] = whole.rows["log"][: seed % (1 + len(whole.rows["log"]))]
        before, after = ask_oracle(whole), ask_oracle(partial)
        for stretch, findings in after.items():
            for name in findings.keys() & {"duplicate", "duplicate-output"}:
                assert findings[name].keys() <= before[stretch][name].keys(), f"{seed}: {name}"
    assert RUN
