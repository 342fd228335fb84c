"""Each sample has just the findings that it names: so say the oracle, and the engine with it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from onceproof.checkers import anomalies
from onceproof.checkers.engines import Settings, open_engine
from tests.properties.checkers.combine import Stretches, combined
from tests.properties.checkers.corpus import Sample, samples
from tests.properties.checkers.judges import (
    Found,
    ask_engine,
    ask_oracle,
    disagreements,
    trials,
)

SAMPLES = samples()
NAMES = [sample.tells for sample in SAMPLES]


def named(found: Found) -> Iterator[tuple[str, dict[str, Any]]]:
    """Findings of all stretches by anomaly and key."""
    for by_anomaly in found.values():
        for name, keys in by_anomaly.items():
            for key in keys:
                yield name, dict(zip(anomalies()[name].key, key, strict=True))


def missing(sample: Sample, found: Found) -> str:
    """What is not as the sample says, in words."""
    left = list(named(found))
    words = []
    for name, keys in sample.finds.items():
        for key in keys:
            fits = [f for f in left if f[0] == name and key.items() <= f[1].items()]
            if not fits:
                words.append(f"no {name} of {dict(key)}")
            else:
                left.remove(fits[0])
    return "; ".join([*words, *(f"{name} of {key}" for name, key in left)])


@pytest.fixture(scope="module")
def by_engine() -> list[Found]:
    return ask_engine([sample.world for sample in SAMPLES], Settings(threads=1))


@pytest.fixture(scope="module")
def undecided() -> list[frozenset[str]]:
    worlds = [sample.world for sample in SAMPLES]
    stretches = Stretches.of(worlds)
    found: list[set[str]] = [set() for _ in worlds]
    with open_engine(combined(worlds), trials(worlds, stretches), Settings(threads=1)) as layer:
        for anomaly in anomalies().values():
            places = stretches.topics if anomaly.hop == "produce" else stretches.trials
            for trial in layer.undecided(anomaly):
                found[places[trial - 1][0]].add(anomaly.name)
    return [frozenset(names) for names in found]


@pytest.mark.parametrize("sample", SAMPLES, ids=NAMES)
def test_the_definitions_demand_it(sample: Sample) -> None:
    assert not missing(sample, ask_oracle(sample.world))


@pytest.mark.parametrize("number", range(len(SAMPLES)), ids=NAMES)
def test_the_engine_finds_it(number: int, by_engine: list[Found]) -> None:
    sample = SAMPLES[number]
    found = {"oracle": ask_oracle(sample.world), "engine": by_engine[number]}
    assert not list(disagreements(list(found), found))


@pytest.mark.parametrize("number", range(len(SAMPLES)), ids=NAMES)
def test_what_is_undecided_is_said(number: int, undecided: list[frozenset[str]]) -> None:
    assert undecided[number] == SAMPLES[number].undecided


def test_samples_differ_in_what_they_tell() -> None:
    assert len(set(NAMES)) == len(NAMES)
