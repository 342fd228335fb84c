"""The check that a sink is empty before its pipeline has ever run."""

from __future__ import annotations

import sqlite3

import psycopg
import pytest

from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.run.empty_sink import check_empty
from onceproof.harness.sinks.base import State
from onceproof.harness.sinks.rows import UnreadableFiles
from tests.unit.fakes.run_context import FakeContext, FakeSink, effect

STATE = State(sink="balances", view="committed", state_key="a", aggregate="balance")


@pytest.mark.parametrize("sink", [FakeSink(there=[effect("a")]), FakeSink(sums=[STATE])])
def test_rejects_sink_with_earlier_effects_or_states(sink: FakeSink) -> None:
    with pytest.raises(StageTrouble, match=r"somebody has 1 effects or states"):
        check_empty(FakeContext(sink=sink))


def test_accepts_empty_sink() -> None:
    check_empty(FakeContext())


@pytest.mark.parametrize(
    "error",
    [
        UnreadableFiles("there is no table"),
        psycopg.errors.UndefinedTable("ledger"),
        sqlite3.OperationalError("no such table: ledger"),
    ],
)
def test_accepts_sink_that_does_not_exist_yet(error: Exception) -> None:
    check_empty(FakeContext(sink=error))
