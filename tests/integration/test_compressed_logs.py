"""Reading logs in every compression codec."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from confluent_kafka import Producer

from onceproof.harness.context.run_context import fresh_reader
from onceproof.harness.links.topology import AUDITOR
from tests.integration.staging import Staged

pytestmark = pytest.mark.integration


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_reads_compressed_log(staging: Staged, topic: Callable[..., str], codec: str) -> None:
    name = topic()
    bootstrap = staging.stage.bootstrap(AUDITOR)
    producer = Producer(
        {"bootstrap.servers": bootstrap, "compression.type": codec, "linger.ms": 50}
    )
    values = [f"order {n} ".encode() * 20 for n in range(50)]
    for value in values:
        producer.produce(name, value)
    assert producer.flush(60) == 0
    with fresh_reader(staging.stage) as reader:
        (log,) = reader.read_topic(name)
    assert [entry.value for entry in log.entries] == values
