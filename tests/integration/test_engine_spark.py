"""Spark's findings, witnesses and rejected histories match DuckDB's.

`test_spark_uris.py` compares the mutation self-check and the verdict.
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
def test_spark_findings_match_duckdb_in_one_job() -> None:
    targets = [None, *anomalies()]
    cases = [Case.of(seed, targets[seed % len(targets)]) for seed in range(2 * len(targets))]
    worlds = [case.world for case in cases]
    assert ask_engine(worlds, SPARK) == ask_engine(worlds, Settings())


@LATER
def test_spark_rejects_bad_history_like_duckdb() -> None:
    history = History.of(sends=[{"attempt": "a"}, {"attempt": "a"}])
    with pytest.raises(BadHistory) as by_duckdb:
        find(history, CLAIM)
    with pytest.raises(BadHistory) as by_spark:
        find(history, CLAIM, SPARK)
    assert str(by_spark.value) == str(by_duckdb.value)
