"""Oracle and engine find exactly the anomalies that each hand-written sample names."""

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
NAMES = [sample.title for sample in SAMPLES]


def flattened(found: Found) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields anomaly and key of every finding in a world."""
    for by_anomaly in found.values():
        for name, keys in by_anomaly.items():
            for key in keys:
                yield name, dict(zip(anomalies()[name].key, key, strict=True))


def mismatch(sample: Sample, found: Found) -> str:
    """Describes the findings that are missing or unexpected; empty if there are none."""
    unmatched = list(flattened(found))
    problems = []
    for name, keys in sample.finds.items():
        for key in keys:
            matching = [f for f in unmatched if f[0] == name and key.items() <= f[1].items()]
            if not matching:
                problems.append(f"no {name} of {dict(key)}")
            else:
                unmatched.remove(matching[0])
    return "; ".join([*problems, *(f"{name} of {key}" for name, key in unmatched)])


@pytest.fixture(scope="module")
def engine_findings() -> list[Found]:
    return ask_engine([sample.world for sample in SAMPLES], Settings(threads=1))


@pytest.fixture(scope="module")
def undecided() -> list[frozenset[str]]:
    worlds = [sample.world for sample in SAMPLES]
    stretches = Stretches.of(worlds)
    found: list[set[str]] = [set() for _ in worlds]
    with open_engine(combined(worlds), trials(worlds, stretches), Settings(threads=1)) as layer:
        for anomaly in anomalies().values():
            scopes = stretches.topics if anomaly.hop == "produce" else stretches.trials
            for trial in layer.undecided(anomaly):
                found[scopes[trial - 1][0]].add(anomaly.name)
    return [frozenset(names) for names in found]


@pytest.mark.parametrize("sample", SAMPLES, ids=NAMES)
def test_oracle_finds_exactly_the_named_anomalies(sample: Sample) -> None:
    assert not mismatch(sample, ask_oracle(sample.world))


@pytest.mark.parametrize("index", range(len(SAMPLES)), ids=NAMES)
def test_engine_agrees_with_oracle(index: int, engine_findings: list[Found]) -> None:
    sample = SAMPLES[index]
    found = {"oracle": ask_oracle(sample.world), "engine": engine_findings[index]}
    assert not list(disagreements(list(found), found))


@pytest.mark.parametrize("index", range(len(SAMPLES)), ids=NAMES)
def test_engine_reports_undecided_anomalies(index: int, undecided: list[frozenset[str]]) -> None:
    assert undecided[index] == SAMPLES[index].undecided


def test_sample_titles_are_unique() -> None:
    assert len(set(NAMES)) == len(NAMES)
