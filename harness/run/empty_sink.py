"""Check that a sink is empty before its pipeline first starts.

Records have the same identities in every run, so rows of an earlier run in the same database would
look like duplicates, or hide a loss.
"""

from __future__ import annotations

import sqlite3
from typing import Final

import psycopg

from onceproof.harness.context.run_context import RunContext
from onceproof.harness.kafka.log_reader import UnreadableLog
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.sinks.rows import UnreadableFiles
from onceproof.harness.user_pipeline.outputs.base import UnreadableOutput

_NOT_YET: Final = (
    UnreadableLog,
    UnreadableOutput,
    UnreadableFiles,
    psycopg.errors.UndefinedTable,
    sqlite3.OperationalError,
)
"""Errors that mean that the pipeline has not created its tables yet."""


def check_empty(context: RunContext) -> None:
    """Check that the sink is empty.

    Raises:
        StageTrouble: it is not.
    """
    try:
        with context.reader() as reader:
            sink = context.open_sink(reader)
            found = len(sink.effects()) + len(sink.states())
    except _NOT_YET:
        return
    if found:
        raise StageTrouble(
            f"the sink of {context.subject.name} has {found} effects or states before the pipeline "
            "starts, and they would be attributed to this run. Use an empty database, or drop the "
            "tables of the previous run"
        )
