"""Scenarios can run with another PostgreSQL if their pipeline connects to it, and no others."""

from __future__ import annotations

from pathlib import Path

import pytest

from onceproof.harness.schedule.scenario import Scenario
from onceproof.harness.subjects.spark.subject import JobPlace, SparkSubject
from onceproof.harness.subjects.stored.dbos import DbosWorkflows
from onceproof.harness.subjects.stored.subject import StoringConsumers
from onceproof.harness.tools.runtimes.known import POSTGRESQL
from onceproof.scenarios import all_scenarios


@pytest.mark.parametrize("scenario", all_scenarios(), ids=lambda each: each.name)
def test_postgresql_is_a_runtime_of_pipelines_that_connect_to_it(
    scenario: Scenario, tmp_path: Path
) -> None:
    subject, connects = scenario.subject, False
    if isinstance(subject, SparkSubject):
        place = JobPlace(
            source_bootstrap="source:9092",
            sink_bootstrap="sink:9092",
            database="dbname=audited",
            topic="payments",
            checkpoint=tmp_path / "checkpoint",
            progress=tmp_path / "progress",
            work=tmp_path,
        )
        connects = place.database in subject.command(place)
    elif isinstance(subject, StoringConsumers):
        connects = subject.kind == "postgres"
    elif isinstance(subject, DbosWorkflows):
        connects = True
    assert (POSTGRESQL in scenario.runtimes) == connects
