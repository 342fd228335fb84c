"""Spark finds what DuckDB finds, on real Spark: findings, witnesses, and what the door refuses.

Its mutation self-check and verdict are compared where a history lies behind a URI:
`test_spark_uris.py`.
"""

from __future__ import annotations

import pytest

from onceproof.checkers import BadHistory, History, anomalies, exactly_once
from onceproof.checkers.engines.settings import Settings
from onceproof.checkers.judging import find
from tests.end_to_end.catalogue import LATER
from tests.properties.checkers.cases import Case
from tests.properties.checkers.judges import ask_engine

SPARK = Settings(engine="spark", master="local[2]")
CLAIM = exactly_once("input", into="ledger", view="table")


@LATER
@pytest.mark.timeout(900)
def test_many_worlds_in_one_job() -> None:
    towards = [None, *anomalies()]
    cases = [Case.of(seed, towards[seed % len(towards)]) for seed in range(2 * len(towards))]
    worlds = [case.world for case in cases]
    assert ask_engine(worlds, SPARK) == ask_engine(worlds, Settings())


@LATER
def test_the_door_is_the_same() -> None:
    twice = History.of(sends=[{"attempt": "a"}, {"attempt": "a"}])
    with pytest.raises(BadHistory) as by_duckdb:
        find(twice, CLAIM)
    with pytest.raises(BadHistory) as by_spark:
        find(twice, CLAIM, SPARK)
    assert str(by_spark.value) == str(by_duckdb.value)
