"""A sink that something is in before its pipeline has ever run."""

from __future__ import annotations

import sqlite3
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest

from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.run.empty_sink import check_empty
from onceproof.harness.sinks.rows import UnreadableFiles


def context(effects: list[str], states: list[str]) -> Any:
    sink = SimpleNamespace(effects=lambda: effects, states=lambda: states)
    return SimpleNamespace(
        subject=SimpleNamespace(name="spark-foreachbatch-postgres"),
        reader=lambda: nullcontext(None),
        open_sink=lambda reader: sink,
    )


@pytest.mark.parametrize(("effects", "states"), [(["a"], []), ([], ["b"])])
def test_what_an_earlier_run_left_is_refused(effects: list[str], states: list[str]) -> None:
    with pytest.raises(StageTrouble, match=r"spark-foreachbatch-postgres has 1 effects or states"):
        check_empty(context(effects, states))


def test_an_empty_one_may_be_used() -> None:
    check_empty(context([], []))


@pytest.mark.parametrize(
    "error",
    [
        UnreadableFiles("there is no table"),
        psycopg.errors.UndefinedTable("ledger"),
        sqlite3.OperationalError("no such table: ledger"),
    ],
)
def test_what_is_not_made_yet_is_empty(error: Exception) -> None:
    def missing(reader: object) -> Any:
        raise error

    world = context([], [])
    world.open_sink = missing
    check_empty(world)
