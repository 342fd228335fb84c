"""The feed command gets the inputs of the log in order, and again after a failure."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import onceproof.harness.user_pipeline.feed as module
from onceproof.harness.context.pipeline import PipelineTrouble
from onceproof.harness.history.identity import ODD_HEADER, RECORD_HEADER
from onceproof.harness.kafka.log_reader import Entry, PartitionLog, UnreadableLog
from onceproof.harness.processes.processes import MARKER
from onceproof.harness.user_pipeline.feed import Feed
from onceproof.harness.wait import Stop, wait_until

COMMAND_SCRIPT = """
import os, sys
from pathlib import Path
taken, fails = Path(sys.argv[1]), Path(sys.argv[2])
lines = sys.stdin.readlines()
taken.open("a").write(f"{len(lines)}: {''.join(lines)}".rstrip() + "|")
if lines and fails.exists():
    fails.unlink()
    sys.exit("the table is away")
"""
HEADERS = {RECORD_HEADER: b"x"}


def entry(offset: int, value: bytes | None, partition: int = 0, **more: Any) -> Entry:
    fields: dict[str, Any] = {"kind": "data", "headers": HEADERS, "transactional": False, **more}
    return Entry(
        topic="orders", partition=partition, offset=offset, key=None, value=value,
        producer_id=-1, epoch=-1, sequence=-1, **fields,
    )  # fmt: skip


class Topic:
    """A growing topic of two partitions whose brokers can be unavailable."""

    def __init__(self) -> None:
        self.entries: list[list[Entry]] = [[], []]
        self.unavailable = False

    @contextmanager
    def reader(self) -> Iterator[Any]:
        yield self

    def read_topic(self, name: str) -> Sequence[PartitionLog]:
        assert name == "orders"
        if self.unavailable:
            raise UnreadableLog("orders-0: no broker answers")
        return [
            PartitionLog(
                topic=name, partition=n, log_start=0, last_stable_offset=len(entries),
                high_watermark=len(entries), entries=list(entries),
            )
            for n, entries in enumerate(self.entries)
        ]  # fmt: skip


class Table:
    """A feed whose command records its inputs and fails on request."""

    def __init__(self, folder: Path, topic: Topic) -> None:
        self.received, self.fail_next = folder / "taken", folder / "fails"
        self.feed = Feed(
            command=[sys.executable, "-c", COMMAND_SCRIPT, str(self.received), str(self.fail_next)],
            marker="1-test", environment={}, folder=folder, log=folder / "feed.log",
            topic="orders", reader=topic.reader, stop=Stop(),
        )  # fmt: skip

    def runs(self) -> list[str]:
        return self.received.read_text().split("|")[:-1]

    def wait(self, runs: list[str]) -> None:
        wait_until(lambda: self.runs() == runs, what=str(runs), seconds=30, seen=self.runs)


@pytest.fixture
def topic() -> Topic:
    return Topic()


@pytest.fixture
def table(tmp_path: Path, topic: Topic, monkeypatch: pytest.MonkeyPatch) -> Iterator[Table]:
    monkeypatch.setattr(module, "_EVERY_SECONDS", 0.01)
    created = Table(tmp_path, topic)
    yield created
    created.feed.close()


def test_start_runs_the_command_once_without_inputs(topic: Topic, table: Table) -> None:
    topic.entries[0] = [entry(0, b"a")]
    table.feed.start()
    table.wait(["0:", "1: a"])
    table.feed.start()
    topic.entries[1] = [entry(0, b"b", partition=1), entry(1, b"c", partition=1)]
    table.wait(["0:", "1: a", "2: b\nc"])
    table.feed.check()


def test_skips_aborted_odd_and_foreign_records(topic: Topic, table: Table) -> None:
    topic.entries[0] = [
        entry(0, b"aborted", transactional=True),
        entry(1, None, kind="abort", transactional=True, headers={}),
        entry(2, b"odd", headers={**HEADERS, ODD_HEADER: b"null"}),
        entry(3, b"somebody else's", headers={}),
        entry(4, b"a"),
    ]
    table.feed.start()
    table.wait(["0:", "1: a"])


def test_repeats_inputs_after_a_failed_command(topic: Topic, table: Table) -> None:
    table.feed.start()
    table.fail_next.touch()
    topic.entries[0] = [entry(0, b"a"), entry(1, b"b")]
    table.wait(["0:", "2: a\nb", "2: a\nb"])
    table.feed.check()


def test_feeds_inputs_once_brokers_are_available_again(topic: Topic, table: Table) -> None:
    topic.unavailable = True
    table.feed.start()
    topic.entries[0] = [entry(0, b"a")]
    topic.unavailable = False
    table.wait(["0:", "1: a"])


def with_script(table: Table, script: str) -> Feed:
    table.feed.command = [sys.executable, "-c", script]
    return table.feed


def test_start_fails_if_the_first_run_fails(table: Table) -> None:
    feed = with_script(table, "import sys; sys.exit('no such table')")
    with pytest.raises(
        PipelineTrouble, match=r"without inputs: .*exited with code 1; .*no such table"
    ):
        feed.start()
    feed.command = ["/no/such/program"]
    with pytest.raises(PipelineTrouble, match="cannot be started: No such file"):
        feed.start()


def test_gives_up_after_repeated_failures(
    topic: Topic, table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_GIVE_UP_SECONDS", 0.2)
    feed = with_script(table, "import sys; sys.exit('full' if sys.stdin.read() else 0)")
    feed.start()
    topic.entries[0] = [entry(0, b"a")]
    wait_until(raises_trouble(feed.check), what="it to be given up", seconds=30)
    with pytest.raises(PipelineTrouble, match=r"--feed has failed for 0\.2 s; last error: .*full"):
        feed.check()


def raises_trouble(check: Callable[[], None]) -> Callable[[], bool]:
    def raises() -> bool:
        try:
            check()
        except PipelineTrouble:
            return True
        return False

    return raises


def test_start_fails_if_the_command_hangs(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_RUN_SECONDS", 0.3)
    with pytest.raises(PipelineTrouble, match=r"did not finish within 0\.3 s"):
        with_script(table, "import time; time.sleep(600)").start()


def test_command_gets_large_batches_and_the_run_marker(topic: Topic, table: Table) -> None:
    script = f"import os, sys; print(len(sys.stdin.read()), os.environ[{MARKER!r}], flush=True)"
    topic.entries[0] = [entry(n, b"x" * 1000) for n in range(1000)]
    with_script(table, script).start()
    wait_until(
        lambda: "1001000 1-test" in table.feed.log.read_text(),
        what="all to be given", seconds=30, seen=table.feed.log.read_text,
    )  # fmt: skip
