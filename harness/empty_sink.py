"""Seeing that a sink holds nothing before its pipeline has ever run.

The one thing to know: records have the same identities in every run, so what an earlier run left in
a database that outlives it would look like copies, or hide a loss.
"""

from __future__ import annotations

import sqlite3
from typing import Final

import psycopg

from onceproof.harness.bench import Bench
from onceproof.harness.kafka.log_reader import UnreadableLog
from onceproof.harness.own.outputs.base import UnreadableOutput
from onceproof.harness.sinks.rows import UnreadableFiles
from onceproof.harness.stage.base import StageTrouble

_NOT_YET: Final = (
    UnreadableLog,
    UnreadableOutput,
    UnreadableFiles,
    psycopg.errors.UndefinedTable,
    sqlite3.OperationalError,
)
"""What it comes to that the pipeline has yet to make its tables."""


def check_empty(bench: Bench) -> None:
    """See it.

    Raises:
        StageTrouble: something stands there.
    """
    try:
        with bench.reader() as reader:
            sink = bench.open_sink(reader)
            there = len(sink.effects()) + len(sink.states())
    except _NOT_YET:
        return
    if there:
        raise StageTrouble(
            f"the sink of {bench.subject.name} has {there} effects or states before the pipeline "
            "was ever started, which would be taken for this run's: give it an empty database, or "
            "drop the tables of the run before"
        )
