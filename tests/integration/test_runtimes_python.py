"""Python clients in other versions than usual send each record once, in their own environments."""

from __future__ import annotations

from pathlib import Path

import pytest

from onceproof.harness.kafka.topics import create_topics
from onceproof.harness.links.topology import AUDITOR
from onceproof.harness.tools import cache
from onceproof.harness.tools.runtimes.present import present
from onceproof.harness.tools.runtimes.python_client import exact_version
from onceproof.harness.tools.setup import ensure
from onceproof.harness.workload.payments import Payments
from onceproof.harness.workload.senders.aiokafka import AIOKAFKA
from onceproof.harness.workload.senders.base import Sender
from onceproof.harness.workload.senders.kafka_python import KAFKA_PYTHON
from onceproof.harness.workload.senders.librdkafka import LIBRDKAFKA
from onceproof.harness.workload.task_file import SenderTask, save_records
from tests.end_to_end.catalogue import LATER
from tests.integration.staging import Staged, read_settled, status_at_end

pytestmark = pytest.mark.integration
RECORDS = 300


@pytest.mark.parametrize(
    ("sender", "version"),
    [
        (LIBRDKAFKA, "1.5.0"),
        pytest.param(LIBRDKAFKA, "2.3.0", marks=LATER),
        pytest.param(AIOKAFKA, "0.10.0", marks=LATER),
        pytest.param(KAFKA_PYTHON, "2.2.8", marks=LATER),
    ],
)
def test_client_of_a_chosen_version_sends(
    sender: Sender, version: str, staging: Staged, tmp_path: Path
) -> None:
    assert sender.runtime is not None
    tools = ensure(versions={sender.runtime: version})
    python = tools.chosen.pythons[sender.runtime]
    assert exact_version(python) == version
    assert version in present(cache.location())[sender.runtime]

    topic = f"sent-by-{sender.name}-{version}"
    workload = Payments(records=RECORDS, producers=1, topic=topic)
    create_topics(staging.stage.bootstrap(AUDITOR), [topic], partitions=1)
    history, records, task = (tmp_path / n for n in ("history", "records.jsonl", "task.json"))
    history.mkdir()
    save_records(records, workload.sends(producer=0, seed=1))
    SenderTask(
        name="sender",
        bootstrap=staging.stage.bootstrap("producer"),
        records=str(records),
        history=str(history),
        client=sender.settings(transactional=False),
        transactional_id=None,
    ).save(task)
    process = staging.processes.start(topic, sender.command(task, tools), pipes=True)
    try:
        assert process.popen.args[0] == str(python)  # type: ignore[index]
        status = status_at_end(process)
    finally:
        process.kill("the test is over")
    assert (status["ok"], status["done"]) == (RECORDS, True), process.tail()
    assert sum(len(log.entries) for log in read_settled(staging, topic)) == RECORDS
