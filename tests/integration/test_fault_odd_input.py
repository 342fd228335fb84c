"""Odd records come into a pipeline's input, a partition is added, and it starts with no input."""

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
from tests.integration.programs import Own, running
from tests.integration.staging import Staged, eventually

pytestmark = pytest.mark.integration


def entries(own: Own) -> list[tuple[bytes | None, bool]]:
    """Value of each data record of the input, and whether it was committed."""
    with own.context.reader() as reader:
        return [
            (entry.value, committed)
            for log in reader.read_topic(own.source)
            for entry, committed in zip(log.entries, log.committed(), strict=True)
            if entry.kind == "data"
        ]


@pytest.mark.parametrize("kind", [ABORTED, NULL])
def test_odd_records_come_and_are_passed(
    staging: Staged, topic: Callable[..., str], kind: str
) -> None:
    with running(staging, topic, "copy") as own:
        with own.flowing(), own.struck(OddInput(records=kind)) as (injection, proof):
            assert injection.target == f"topic {own.source}"
            assert "the records after it had effects" in proof
        odd = [(v, c) for v, c in entries(own) if not c or v is None]
        assert len(odd) >= 3 * 3, "some on every partition"
        assert all(committed is (kind == NULL) for _, committed in odd)
        eventually(lambda: not own.missing(), "an effect of each", own.said)


def test_a_plain_record_comes_to_every_partition(
    staging: Staged, topic: Callable[..., str]
) -> None:
    with running(staging, topic, "copy") as own:
        before = len(entries(own))
        send_plain(own.context, ABORTED)
        assert len(entries(own)) == before + 3
        eventually(lambda: max(own.effects().values()) == 2, "an effect of a copy")


def test_each_kind_comes_as_a_dry_run_tries_it(staging: Staged, topic: Callable[..., str]) -> None:
    with running(staging, topic, "copy") as own:
        for kind in PROBED:
            ends = send_odd(own.context, kind)
            send_plain(own.context, kind)

            def committed(ends: Positions = ends) -> bool:
                reached = own.program.look.groups.newest()
                return all(reached[at] > end for at, end in ends.items())

            eventually(committed, f"commits behind {kind}", own.said)


def test_odd_orders_are_seen_to_come(staging: Staged, topic: Callable[..., str]) -> None:
    with running(staging, topic, "copy") as own:
        send_odd(own.context, OVERSIZE)
        come = OddInput(records=OVERSIZE, orders=True)
        with own.flowing(), own.struck(come) as (injection, proof):
            assert injection.target == f"topic {own.source}"
            assert proof.startswith("records larger than brokers accept by default arrived in")


def test_a_partition_is_empty_while_it_writes(staging: Staged, topic: Callable[..., str]) -> None:
    with running(staging, topic, "copy") as own:
        full = pytest.raises(NoEffect, match="every partition of the input had records")
        with own.flowing(), full:
            EmptyPartition().inject(own.context, "x").evidence()
        own.left_out = 1
        admin = AdminClient({"bootstrap.servers": staging.stage.bootstrap(AUDITOR)})
        admin.create_partitions([NewPartitions(own.source, 4)])[own.source].result()
        with own.flowing(), own.struck(EmptyPartition()) as (injection, proof):
            assert injection.target == f"{own.source}-3"
            assert proof.startswith(f"the pipeline wrote while {own.source}-3 was empty")
        eventually(lambda: not own.missing(), "an effect of each", own.said)


def test_a_partition_is_added_and_found_after_a_start(
    staging: Staged, topic: Callable[..., str]
) -> None:
    with running(staging, topic, "copy") as own:
        with own.flowing(), own.struck(AddPartition()) as (injection, proof):
            assert injection.target == f"{own.source}-3"
            assert "was killed and restarted" in proof
        assert own.program.look.added == {(own.source, 3)}
        own.heard("assigned 0 1 2 3")
        eventually(lambda: not own.missing(), "an effect of each", own.said)


def test_it_starts_when_there_is_nothing_to_read(
    staging: Staged, topic: Callable[..., str]
) -> None:
    with running(staging, topic, "copy") as own:
        life = own.program.supervisor.running()
        injection = RestartIdle().inject(own.context, "x")
        assert own.holds == [True, False]
        assert injection.target == life.instance
        assert "fetched 3 times while there were no new records" in (injection.evidence() or "")
        assert own.program.supervisor.running() is not life
        with own.flowing():
            injection.heal()
        eventually(lambda: not own.missing(), "an effect of each", own.said)
