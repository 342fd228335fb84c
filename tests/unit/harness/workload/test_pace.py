"""The pace of the producers, and the orders that regulate it."""

from __future__ import annotations

import json
import tempfile
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onceproof.harness.processes.processes import Process, Processes
from onceproof.harness.processes.sweep import new_marker
from onceproof.harness.user_pipeline.event_time import EventTime
from onceproof.harness.user_pipeline.orders import Orders
from onceproof.harness.wait import Overdue, Stop
from onceproof.harness.workload.control import Producers, ProducerTrouble, Status
from onceproof.harness.workload.payments import Payments, payments_of
from onceproof.harness.workload.task_file import load_records
from tests.unit.fakes.process import FakeProcess
from tests.unit.fakes.run_context import FakeStop


def producers(
    folder: Path, *, orders: Orders | None = None, stop: Stop | None = None, **workload: int
) -> Unstarted:
    return Unstarted(
        workload=orders or Payments(**workload), seed=3, bootstrap="here:1",
        processes=Processes(new_marker(), folder), history=folder, work=folder,
        stop=stop or Stop(),
    )  # fmt: skip


class Unstarted(Producers):
    """Producers that start no process and record their orders."""

    def __init__(self, **parts: Any) -> None:
        super().__init__(**parts)
        self.started: dict[str, list[str]] = {}
        self.orders: list[str] = []

    def _start(self, name: str, task: Path) -> FakeProcess:
        records = load_records(Path(json.loads(task.read_text())["records"]))
        self.started[name] = [record.record for record in records]
        return FakeProcess(name)

    def _order(self, child: Process, line: str) -> None:  # type: ignore[override]
        self.orders.append(line)

    def _spawn(self, target: Any, *arguments: Any, place: int | None = None) -> None:
        """Start no thread."""


def rate(made: Producers, called: int) -> float:
    return made.pace.rate(called)


@pytest.fixture
def made(tmp_path: Path) -> Producers:
    return producers(tmp_path, records=20_000, producers=2, rate=400)


def test_warm_up_is_limited_to_a_tenth_of_the_records(made: Producers) -> None:
    # Full rate for half of the limit, slower up to the limit, then a trickle.
    assert [rate(made, n) for n in (0, 1000, 1500, 1990, 2000, 5000)] == [
        200, 200, 100, 4, 4, 4,
    ]  # fmt: skip
    made.pace.keep_for(1)
    assert rate(made, 2000) == 4


def test_rate_falls_towards_the_last_record(made: Producers) -> None:
    made.pace.warmed_up()
    assert [rate(made, n) for n in (2000, 19_000, 19_500, 19_900, 20_000)] == [
        200, 200, 100, 20, 4,
    ]  # fmt: skip


def test_records_are_reserved_for_each_coming_fault(made: Producers) -> None:
    made.pace.warmed_up()
    for faults, limit in ((0, 20_000), (1, 17_000), (3, 11_000), (6, 2000), (50, 2000)):
        made.pace.keep_for(faults)
        assert made.pace.limit == pytest.approx(limit)
        assert rate(made, limit - 500) == pytest.approx(100)
        assert rate(made, limit) == 4


class TestTrickle:
    """Orders continue at a part of their rate at a limit."""

    @pytest.fixture
    def made(self, tmp_path: Path) -> Producers:
        self.time = FakeStop()
        orders = Orders(topic="orders", records=20_000, producers=2, rate=400)
        made = producers(tmp_path, orders=orders, stop=self.time)
        made.pace.warmed_up()
        return made

    def test_a_quarter_of_the_rate_is_left_at_a_limit(self, made: Producers) -> None:
        made.pace.keep_for(1)
        assert rate(made, int(made.pace.limit)) == 50

    def test_trickle_is_slower_before_many_faults(self, made: Producers) -> None:
        made.pace.keep_for(40)
        # 18,000 records for 40 faults of about 10 s: 45 a second of all producers.
        assert rate(made, 2_000) == pytest.approx(22.5)

    def test_trickle_adapts_to_the_duration_of_faults(self, made: Producers) -> None:
        made.pace.keep_for(40)
        self.time.pause(400)
        made.pace.keep_for(30)
        left = 20_000 - int(made.pace.limit)
        assert rate(made, int(made.pace.limit)) == pytest.approx(left / (30 * 40) / 2), "40 s each"

    def test_trickle_never_stops(self, made: Producers) -> None:
        made.pace.keep_for(40)
        assert rate(made, 20_000) == 4


class TestSentinels:
    @pytest.fixture
    def made(self, tmp_path: Path) -> Unstarted:
        orders = Orders(topic="orders", records=100, producers=2, sentinels=10)
        return producers(tmp_path, orders=orders)

    def test_sentinels_are_sent_last_by_separate_producers(self, made: Unstarted) -> None:
        workload = made.workload
        every = [[r.record for r in workload.sends(producer=n, seed=3)] for n in range(2)]
        made.start()
        assert made.started == {f"producer-{n}": every[n][:-5] for n in range(2)}
        assert made.keeps_sentinels
        made.send_sentinels()
        assert made.started == {
            **{f"producer-{n}": every[n][:-5] for n in range(2)},
            **{f"producer-{n}-sentinels": every[n][-5:] for n in range(2)},
        }
        assert not made.keeps_sentinels
        assert not made.finished, "they are waited for as well"

    def test_sentinels_are_sent_in_rounds(self, tmp_path: Path) -> None:
        times = EventTime.parse("json:$.at", "iso", "10s")
        orders = Orders(topic="orders", records=100, producers=2, sentinels=12, times=times)
        made = producers(tmp_path, orders=orders)
        every = [[r.record for r in orders.sends(producer=n, seed=3)] for n in range(2)]
        made.start()
        for life, ends in (("", (-6, -4)), ("-2", (-4, -2)), ("-3", (-2, None))):
            assert made.keeps_sentinels
            made.send_sentinels()
            for n in range(2):
                assert made.started[f"producer-{n}-sentinels{life}"] == every[n][slice(*ends)]
        assert not made.keeps_sentinels
        assert len(made.started) == 8

    def test_progress_counts_sentinels_from_the_start(self, made: Unstarted) -> None:
        made.start()
        for n in range(2):
            made._status[f"producer-{n}"] = Status(called=45, ok=45, done=True)
        assert (made.finished, made.progress) == (True, 0.9)
        made.send_sentinels()
        assert not made.finished

    def test_enough_cancels_sentinels(self, made: Unstarted) -> None:
        made.start()
        made.enough()
        assert not made.keeps_sentinels
        made.send_sentinels()
        assert len(made.started) == 2


@given(
    st.integers(0, 3_000),
    st.integers(1, 9),
    st.integers(1, 1000),
    st.one_of(st.none(), st.integers(0, 9)),
    st.data(),
)
def test_rate_is_positive_and_never_rises(
    records: int, count: int, pace: int, faults: int | None, data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        made = producers(Path(folder), records=records, producers=count, rate=pace)
    if faults is not None:
        made.pace.warmed_up()
        made.pace.keep_for(faults)
    one, other = sorted(data.draw(st.tuples(*[st.integers(0, records)] * 2)))
    fast, slow = rate(made, one), rate(made, other)
    assert 0 < slow <= fast <= pace / count


def test_small_rate_is_not_ordered_as_zero(tmp_path: Path) -> None:
    made = producers(tmp_path, records=100, producers=2, rate=4)
    made._status["producer-0"] = Status(called=100)
    made._paced = {"producer-0": FakeProcess("producer-0")}
    made.pace.hurry()
    made._regulate()
    assert [float(line.removeprefix("rate ")) > 0 for line in made.orders] == [True]


def test_last_order_lifts_the_rate_limit(made: Unstarted) -> None:
    made._paced = {"producer-0": FakeProcess("producer-0")}
    made._children = list(made._paced.values())
    made.pace.hurry()
    made._regulate()
    assert [float(line.removeprefix("rate ")) for line in made.orders] == [200, float("inf")]


def test_each_producer_gets_one_task(tmp_path: Path) -> None:
    producers(tmp_path, records=10, producers=2, keys=3)
    tasks = [json.loads((tmp_path / f"producer-{n}.json").read_text()) for n in range(2)]
    assert [t["name"] for t in tasks] == ["producer-0", "producer-1"]
    assert tasks[0]["client"]["acks"] == "all"
    assert tasks[0]["transactional_id"] is None
    for n, task in enumerate(tasks):
        records = list(load_records(Path(task["records"])))
        sent = list(payments_of(Payments(records=10, keys=3), producer=n, seed=3))
        assert [r.value.encode() for r in records] == [p.value for p in sent]


def test_each_transactional_producer_has_a_distinct_id(tmp_path: Path) -> None:
    producers(tmp_path, records=10, producers=2, transaction=5)
    tasks = [json.loads((tmp_path / f"producer-{n}.json").read_text()) for n in range(2)]
    assert [t["transactional_id"] for t in tasks] == ["producer-0", "producer-1"]
    assert tasks[0]["client"]["transaction.timeout.ms"] == 20_000


def test_producer_without_progress_is_overdue_before_the_deadline(made: Producers) -> None:
    made._status["producer-0"] = Status(called=5, ok=2)
    made._status["producer-1"] = Status(done=True)
    with pytest.raises(Overdue, match=r"for producer-0 to make progress; .*called=5, ok=2"):
        made.wait_finished(60, still=0.1)


def test_figures_are_summed_over_producers(made: Producers) -> None:
    made._status["producer-0"] = Status(called=90, ok=70, timeouts={1: 2, 3: 1}, done=True)
    made._status["producer-1"] = Status(called=60, ok=30, timeouts={1: 5})
    assert made.acknowledged == 100
    assert made.progress == 0.005
    assert (made.timeouts(1), made.timeouts(2), made.timeouts(3)) == (7, 0, 1)
    assert not made.finished
    made._status["producer-1"].done = True
    assert made.finished


def test_empty_workload_is_complete(tmp_path: Path) -> None:
    assert producers(tmp_path, records=0).progress == 1


def ended_thread() -> threading.Thread:
    thread = threading.Thread()
    thread.start()
    return thread


def test_early_exit_of_a_producer_is_trouble(made: Producers) -> None:
    made._children = [FakeProcess("producer-0"), FakeProcess("producer-1", lives=False)]
    made._threads = [ended_thread(), ended_thread()]
    with pytest.raises(ProducerTrouble, match=r"producer-1 exited with -9; .*its last words"):
        made.check()
    made._status["producer-1"].done = True
    made.check()


def test_check_waits_for_output_left_in_the_pipe(made: Producers) -> None:
    def read_the_rest() -> None:
        made._stop.pause(0.05)
        made._status["producer-0"].done = True

    made._children = [FakeProcess("producer-0", lives=False)]
    made._threads = [listening := threading.Thread(target=read_the_rest)]
    listening.start()
    made.check()
