"""What is learned of a pipeline that meets odd records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import pytest

from onceproof.harness.dry_run import probing as module
from onceproof.harness.dry_run.probing import Probe
from onceproof.harness.history.identity import RECORD_HEADER
from onceproof.harness.kafka.coordinator import Refused
from onceproof.harness.user_pipeline.identity import Rule
from onceproof.harness.user_pipeline.odd_records import NotSent
from onceproof.harness.user_pipeline.orders import Orders
from onceproof.harness.user_pipeline.outputs.output import Output
from onceproof.harness.user_pipeline.profile import ABORTED, NULL, OVERSIZE, PROBED
from onceproof.harness.user_pipeline.subject import OwnPipeline
from tests.unit.fakes.logs import FakeReader, log
from tests.unit.fakes.pipelines import FakeProgram, FakeSupervisor
from tests.unit.fakes.process import FakeProcess
from tests.unit.fakes.run_context import FakeContext, FakeProducers

HEADER: Final = f"header:{RECORD_HEADER}"
ORDERS: Final = Orders(topic="orders", records=100)
FILE: Final = replace(ORDERS, file="orders.jsonl")
ENDS: Final = {0: 12, 1: 9}


class Ending(FakeProcess):
    """A process that still lives the first times that it is asked, if it is about to end."""

    left: int | None = None

    def ends_soon(self) -> None:
        self.left = 2

    def leader_alive(self) -> bool:
        if self.left is None:
            return self.lives
        self.left -= 1
        return self.left > 0


class DryRun(FakeSupervisor):
    """A program that meets odd records: it goes on, ends, or writes what names nothing.

    It is its own look, and its own group.
    """

    def __init__(self, how: Mapping[str, str], *, moves: bool = True) -> None:
        self.now = Ending("pipeline#1", count=1)
        super().__init__(self.now)
        self.how, self.moves = how, moves
        self.kind = ""
        self.at_end = False
        self.named_nothing = 0
        self.committed: dict[int, int] = {}
        self.removed = 0

    def send(self, context: object, kind: str) -> dict[int, int]:
        if self.how[kind] == "not sent":
            raise NotSent("nobody took them")
        self.kind, self.at_end = kind, False
        self.named_nothing += self.how[kind] == "nameless"
        return {}

    def behind(self, context: object, kind: str, *, again: bool = False) -> frozenset[str]:
        assert kind == self.kind
        how = self.how[kind]
        if not self.at_end and (how == "ends" or (how == "writes and ends" and again)):
            self.now.lives = False
        if how == "ends later" and not self.at_end:
            self.now.ends_soon()
        return frozenset({f"behind {kind}, {again}"})

    def has(self, records: frozenset[str]) -> bool:
        first = frozenset({f"behind {self.kind}, False"})
        if self.how[self.kind] == "ends later":
            return True  # a record of a file has had its effect all the time
        if self.how[self.kind] == "writes and ends" and records == first:
            return True
        return self.how[self.kind] in ("goes on", "nameless") or self.at_end

    def nameless(self) -> int:
        return self.named_nothing

    def running(self) -> FakeProcess:
        return self.now

    def start(self) -> None:
        assert self.committed == {0: 12, 1: 9}, "it starts behind what ended it"
        self.now = Ending("pipeline#2", count=1)
        self.lives_as(self.now)
        self.at_end = True

    # Its group.

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def remove_members(self) -> None:
        self.removed += 1

    def commit(self, topic: str, partition: int, offset: int) -> None:
        if not self.moves:
            raise Refused("UNKNOWN_MEMBER_ID")
        assert topic == "orders"
        self.committed[partition] = offset


def probed(
    monkeypatch: pytest.MonkeyPatch,
    dry_run: DryRun,
    *,
    identity: str = "key",
    orders: Orders = ORDERS,
    groups: tuple[str, ...] = ("readers",),
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    monkeypatch.setattr(module, "send_odd", dry_run.send)
    monkeypatch.setattr(module, "send_plain", dry_run.behind)
    monkeypatch.setattr(module, "group_of", lambda context, name: dry_run)
    output = Output.parse("copied", Rule.parse(identity))
    context = FakeContext(
        pipeline=FakeProgram(dry_run, dry_run),
        subject=OwnPipeline(command=("job",), folder=".", outputs=(output,), orders=orders),
        producers=FakeProducers(workload=orders),
        logs=FakeReader(log(topic="orders", partition=p, end=end) for p, end in ENDS.items()),
    )
    return Probe(context, groups, 0.0).kinds()


@pytest.mark.parametrize(
    ("does", "identity", "orders", "found"),
    [
        (("goes on",) * 3, "key", ORDERS, ((ABORTED, NULL, OVERSIZE), ())),
        (("goes on", "ends", "goes on"), "key", ORDERS, ((ABORTED, OVERSIZE), (NULL,))),
        (("ends", "ends", "ends"), "key", ORDERS, ((), (ABORTED, NULL, OVERSIZE))),
        (("goes on", "goes on", "ends"), "key", ORDERS, ((ABORTED, NULL), (OVERSIZE,))),
        (("goes on", "nameless", "goes on"), "key", ORDERS, ((ABORTED, OVERSIZE), ())),
        (("goes on", "nameless", "ends"), HEADER, ORDERS, ((ABORTED, NULL), (OVERSIZE,))),
        (("goes on", *("writes nothing",) * 2), "key", ORDERS, ((ABORTED, NULL), ())),
        (("goes on", "not sent", ""), "key", ORDERS, ((ABORTED,), ())),
        (("goes on", "goes on", "writes and ends"), "key", ORDERS, ((ABORTED, NULL), (OVERSIZE,))),
        (("goes on", "goes on", ""), "key", FILE, ((ABORTED, NULL), ())),
        (("goes on", "ends later", ""), "key", FILE, ((ABORTED,), (NULL,))),
    ],
)
def test_what_a_program_does_with_odd_records(
    monkeypatch: pytest.MonkeyPatch,
    does: tuple[str, ...],
    identity: str,
    orders: Orders,
    found: tuple[tuple[str, ...], tuple[str, ...]],
) -> None:
    dry_run = DryRun(dict(zip(PROBED, does, strict=True)))
    assert probed(monkeypatch, dry_run, identity=identity, orders=orders) == found
    assert dry_run.removed == len(found[1])


@pytest.mark.parametrize("groups", [("readers",), ()], ids=["refused", "no group"])
def test_who_cannot_be_let_past_is_tried_no_further(
    monkeypatch: pytest.MonkeyPatch, groups: tuple[str, ...]
) -> None:
    dry_run = DryRun({ABORTED: "goes on", NULL: "ends", OVERSIZE: "goes on"}, moves=False)
    dry_run.start = lambda: None  # type: ignore[method-assign]
    assert probed(monkeypatch, dry_run, groups=groups) == ((ABORTED,), (NULL,))
