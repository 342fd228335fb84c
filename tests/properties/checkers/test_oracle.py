"""The oracle, the generated worlds and the mutations agree; no engine runs here."""

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
from tests.properties.checkers.judges import Found, ask_oracle
from tests.properties.checkers.mutating import MUTATIONS, mutated
from tests.properties.checkers.oracle import WITNESS
from tests.properties.checkers.strategies import LEGAL, shapes
from tests.properties.checkers.world import CHOICES, Shape, any_world, build


def anomaly_names(found: Found) -> set[str]:
    """The anomalies found in any part of a world."""
    return {name for findings in found.values() for name in findings}


def test_oracle_finds_only_legal_anomalies_in_seeded_correct_worlds() -> None:
    for seed in range(1_500):
        assert anomaly_names(ask_oracle(any_world(seed))) <= LEGAL, f"any_world({seed})"


@settings(deadline=None, max_examples=200)
@given(shapes(), st.integers(0, 2**20))
def test_oracle_finds_only_legal_anomalies_in_worlds_of_any_shape(shape: Shape, seed: int) -> None:
    assert anomaly_names(ask_oracle(build(shape, seed))) <= LEGAL


def test_same_seed_builds_same_world() -> None:
    for seed in range(50):
        assert any_world(seed) == any_world(seed)


def test_choices_cover_every_field_and_start_with_the_default() -> None:
    assert [f.name for f in fields(Shape)] == list(CHOICES)
    default = Shape()
    assert all(getattr(default, name) == choices[0] for name, choices in CHOICES.items())


def test_oracle_covers_every_anomaly_and_its_evidence() -> None:
    assert WITNESS.keys() == anomalies().keys()
    absent = {a.name for a in anomalies().values() if a.evidence is Evidence.ABSENCE}
    assert absent == oracle.ABSENCE


@pytest.mark.parametrize("name", MUTATIONS)
def test_mutation_causes_only_its_intended_and_implied_anomalies(name: str) -> None:
    """A single try may find nothing: some mutations stay legal, others do not fit a world."""
    means = MUTATIONS[name].means
    counts: Counter[str] = Counter()
    applied = seed = 0
    while applied < 40 and seed < 1_500:
        seed += 1
        world, places = mutated(any_world(seed), [name], seed)
        if not places:
            continue
        applied += 1
        found = anomaly_names(ask_oracle(world))
        counts.update(found)
        if means is not None:
            allowed = LEGAL.union(*map(implied, (means, *MUTATIONS[name].also)))
            assert found <= allowed, f"mutated(any_world({seed}), [{name!r}], {seed})"
    assert applied >= 10, "there is hardly a place for it"
    assert means is None or counts[means], f"it brought only {counts}"


def test_truncated_history_has_no_additional_duplicates() -> None:
    """Anomalies proven by presence do not need the rest of the history."""
    compared = 0
    for seed in range(300):
        full, applied = mutated(any_world(seed), ["effect copied", "entry copied"], seed)
        if not applied or not full.rows["phases"]:
            continue
        partial = full.copy()
        partial.rows["phases"] = [p for p in full.rows["phases"] if p["phase"] != "collect"]
        partial.rows["log"] = full.rows["log"][: seed % (1 + len(full.rows["log"]))]
        before, after = ask_oracle(full), ask_oracle(partial)
        for stretch, findings in after.items():
            for name in findings.keys() & {"duplicate", "duplicate-output"}:
                assert findings[name].keys() <= before[stretch][name].keys(), f"{seed}: {name}"
                compared += 1
    assert compared > 20, "hardly any duplicate was left to compare"
