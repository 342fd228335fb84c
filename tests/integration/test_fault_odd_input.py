"""Odd records, added and empty partitions, and restarts without new input."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from confluent_kafka.admin import AdminClient, NewPartitions

from onceproof.harness.context.pipeline import Positions
from onceproof.harness.faults.base import NoEffect
from onceproof.harness.faults.program.add_partition import AddPartition
from onceproof.harness.faults.program.empty_partition import EmptyPartition
from onceproof.harness.faults.program.odd_input import OddInput
from onceproof.harness.faults.program.restart_idle import RestartIdle
from onceproof.harness.links.topology import AUDITOR
from onceproof.harness.user_pipeline.odd_records import send_odd, send_plain
from onceproof.harness.user_pipeline.profile import ABORTED, NULL, OVERSIZE, PROBED
from tests.integration.programs import RunningPipeline, running
from tests.integration.staging import Staged, eventually

pytestmark = pytest.mark.integration


def input_values(pipeline: RunningPipeline) -> list[tuple[bytes | None, bool]]:
    """Value of each data record of the input, and whether it was committed."""
    with pipeline.context.reader() as reader:
        return [
            (entry.value, committed)
            for log in reader.read_topic(pipeline.source)
            for entry, committed in zip(log.entries, log.committed(), strict=True)
            if entry.kind == "data"
        ]


@pytest.mark.parametrize("kind", [ABORTED, NULL])
def test_pipeline_continues_after_odd_records(
    staging: Staged, topic: Callable[..., str], kind: str
) -> None:
    with running(staging, topic, "copy") as pipeline:
        with pipeline.flowing(), pipeline.injected(OddInput(records=kind)) as (injection, proof):
            assert injection.target == f"topic {pipeline.source}"
            assert "the records after it had effects" in proof
        odd = [(v, c) for v, c in input_values(pipeline) if not c or v is None]
        assert len(odd) >= 3 * 3, "some on every partition"
        assert all(committed is (kind == NULL) for _, committed in odd)
        eventually(lambda: not pipeline.missing(), "an effect of each", pipeline.stdout)


def test_send_plain_copies_a_record_to_every_partition(
    staging: Staged, topic: Callable[..., str]
) -> None:
    with running(staging, topic, "copy") as pipeline:
        before = len(input_values(pipeline))
        send_plain(pipeline.context, ABORTED)
        assert len(input_values(pipeline)) == before + 3
        eventually(lambda: max(pipeline.effects().values()) == 2, "an effect of a copy")


def test_pipeline_commits_past_every_probed_kind(
    staging: Staged, topic: Callable[..., str]
) -> None:
    with running(staging, topic, "copy") as pipeline:
        for kind in PROBED:
            ends = send_odd(pipeline.context, kind)
            send_plain(pipeline.context, kind)

            def committed(ends: Positions = ends) -> bool:
                newest = pipeline.program.look.groups.newest()
                return all(newest[at] > end for at, end in ends.items())

            eventually(committed, f"commits behind {kind}", pipeline.stdout)


def test_arrival_of_oversize_orders_is_evidence(staging: Staged, topic: Callable[..., str]) -> None:
    with running(staging, topic, "copy") as pipeline:
        send_odd(pipeline.context, OVERSIZE)
        fault = OddInput(records=OVERSIZE, orders=True)
        with pipeline.flowing(), pipeline.injected(fault) as (injection, proof):
            assert injection.target == f"topic {pipeline.source}"
            assert proof.startswith("records larger than brokers accept by default arrived in")


def test_empty_partition_requires_a_partition_without_records(
    staging: Staged, topic: Callable[..., str]
) -> None:
    with running(staging, topic, "copy") as pipeline:
        no_effect = pytest.raises(NoEffect, match="every partition of the input had records")
        with pipeline.flowing(), no_effect:
            EmptyPartition().inject(pipeline.context, "x").evidence()
        pipeline.skipped_partitions = 1
        admin = AdminClient({"bootstrap.servers": staging.stage.bootstrap(AUDITOR)})
        admin.create_partitions([NewPartitions(pipeline.source, 4)])[pipeline.source].result()
        with pipeline.flowing(), pipeline.injected(EmptyPartition()) as (injection, proof):
            assert injection.target == f"{pipeline.source}-3"
            assert proof.startswith(f"the pipeline wrote while {pipeline.source}-3 was empty")
        eventually(lambda: not pipeline.missing(), "an effect of each", pipeline.stdout)


def test_added_partition_is_assigned_after_restart(
    staging: Staged, topic: Callable[..., str]
) -> None:
    with running(staging, topic, "copy") as pipeline:
        with pipeline.flowing(), pipeline.injected(AddPartition()) as (injection, proof):
            assert injection.target == f"{pipeline.source}-3"
            assert "was killed and restarted" in proof
        assert pipeline.program.look.added == {(pipeline.source, 3)}
        pipeline.wait_for_line("assigned 0 1 2 3")
        eventually(lambda: not pipeline.missing(), "an effect of each", pipeline.stdout)


def test_restart_idle_restarts_without_new_records(
    staging: Staged, topic: Callable[..., str]
) -> None:
    with running(staging, topic, "copy") as pipeline:
        life = pipeline.program.supervisor.running()
        injection = RestartIdle().inject(pipeline.context, "x")
        assert pipeline.holds == [True, False]
        assert injection.target == life.instance
        assert "fetched 3 times while there were no new records" in (injection.evidence() or "")
        assert pipeline.program.supervisor.running() is not life
        with pipeline.flowing():
            injection.heal()
        eventually(lambda: not pipeline.missing(), "an effect of each", pipeline.stdout)
