"""Spark finds what DuckDB finds, on real Spark: findings, witnesses, and what the door refuses."""

from __future__ import annotations

import pytest

from checkers import BadHistory, History, Verdict, anomalies, check, exactly_once
from checkers.engines.settings import Settings
from checkers.judging import find
from tests.properties.checkers.cases import Case
from tests.properties.checkers.judges import ask_engine

SPARK = Settings(engine="spark", master="local[2]")
CLAIM = exactly_once("input", into="ledger", view="table")


@pytest.mark.timeout(900)
def test_many_worlds_in_one_job() -> None:
    towards = [None, *anomalies()]
    cases = [Case.of(seed, towards[seed % len(towards)]) for seed in range(96)]
    worlds = [case.world for case in cases]
    assert ask_engine(worlds, SPARK) == ask_engine(worlds, Settings())


@pytest.mark.timeout(600)
def test_a_small_history_with_its_self_proof() -> None:
    names = [f"r{n}" for n in range(5)]
    history = History.of(
        sends=[
            {"record": r, "attempt": r, "partition": 0, "offset": n} for n, r in enumerate(names)
        ],
        log=[{"record": r, "attempt": r, "digest": f"in-{r}"} for r in names],
        effects=[{"record": r} for r in names[:-1]],
        expected=[{"record": r} for r in names],
        phases=[{"phase": p, "outcome": "ok"} for p in ("settle", "collect")],
        hazards=[{"hop": "process"}],
    )
    by_duckdb, by_spark = check(history, [CLAIM]), check(history, [CLAIM], SPARK)
    assert by_spark.claims == by_duckdb.claims
    assert by_spark.findings == by_duckdb.findings
    assert by_spark.claims[0].verdict is Verdict.VIOLATED
    assert by_spark.self_proof
    assert all(wound.found for wound in by_spark.self_proof)


@pytest.mark.timeout(300)
def test_the_door_is_the_same() -> None:
    twice = History.of(sends=[{"attempt": "a"}, {"attempt": "a"}])
    with pytest.raises(BadHistory) as by_duckdb:
        find(twice, CLAIM)
    with pytest.raises(BadHistory) as by_spark:
        find(twice, CLAIM, SPARK)
    assert str(by_spark.value) == str(by_duckdb.value)
