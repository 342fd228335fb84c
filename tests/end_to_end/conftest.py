"""Runs of the flagship scenarios, shared by all tests of this folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.end_to_end.command import Finished, onceproof

SEED = 7


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="session")
def guarded(runs: Path) -> Finished:
    # A relative folder, as in `make run`.
    return onceproof(
        "run", "spark-foreachbatch-postgres", "--seed", str(SEED), "--out", "some runs", folder=runs
    )


@pytest.fixture(scope="session")
def unguarded(runs: Path) -> Finished:
    return onceproof("run", "spark-foreachbatch-postgres-unguarded", "--seed", SEED, "--out", runs)


@pytest.fixture(scope="session")
def kafka_sink(runs: Path) -> Finished:
    return onceproof("run", "spark-kafka-sink", "--seed", SEED, "--out", runs)
