"""What a dry run learns from a pipeline's reaction to odd records."""

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


class EndingProcess(FakeProcess):
    """A process that, after `ends_soon`, is still alive at the first look."""

    left: int | None = None

    def ends_soon(self) -> None:
        self.left = 2

    def leader_alive(self) -> bool:
        if self.left is None:
            return self.lives
        self.left -= 1
        return self.left > 0


class OddRecordProgram(FakeSupervisor):
    """A program that reacts to odd records as given; also its own look and consumer group."""

    def __init__(self, reactions: Mapping[str, str], *, moves: bool = True) -> None:
        self.now = EndingProcess("pipeline#1", count=1)
        super().__init__(self.now)
        self.reactions, self.moves = reactions, moves
        self.kind = ""
        self.at_end = False
        self.named_nothing = 0
        self.committed: dict[int, int] = {}
        self.removed = 0

    def send(self, context: object, kind: str) -> dict[int, int]:
        if self.reactions[kind] == "not sent":
            raise NotSent("nobody took them")
        self.kind, self.at_end = kind, False
        self.named_nothing += self.reactions[kind] == "nameless"
        return {}

    def send_plain(self, context: object, kind: str, *, again: bool = False) -> frozenset[str]:
        assert kind == self.kind
        reaction = self.reactions[kind]
        if not self.at_end and (reaction == "ends" or (reaction == "writes and ends" and again)):
            self.now.lives = False
        if reaction == "ends later" and not self.at_end:
            self.now.ends_soon()
        return frozenset({f"behind {kind}, {again}"})

    def has(self, records: frozenset[str]) -> bool:
        first = frozenset({f"behind {self.kind}, False"})
        if self.reactions[self.kind] == "ends later":
            return True  # the record of a file already had its effect
        if self.reactions[self.kind] == "writes and ends" and records == first:
            return True
        return self.reactions[self.kind] in ("goes on", "nameless") or self.at_end

    def nameless(self) -> int:
        return self.named_nothing

    def running(self) -> FakeProcess:
        return self.now

    def start(self) -> None:
        assert self.committed == {0: 12, 1: 9}, "it starts behind what ended it"
        self.now = EndingProcess("pipeline#2", count=1)
        self.lives_as(self.now)
        self.at_end = True

    # Its consumer group.

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


def probe_kinds(
    monkeypatch: pytest.MonkeyPatch,
    program: OddRecordProgram,
    *,
    identity: str = "key",
    orders: Orders = ORDERS,
    groups: tuple[str, ...] = ("readers",),
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    monkeypatch.setattr(module, "send_odd", program.send)
    monkeypatch.setattr(module, "send_plain", program.send_plain)
    monkeypatch.setattr(module, "group_of", lambda context, name: program)
    output = Output.parse("copied", Rule.parse(identity))
    context = FakeContext(
        pipeline=FakeProgram(program, program),
        subject=OwnPipeline(command=("job",), folder=".", outputs=(output,), orders=orders),
        producers=FakeProducers(workload=orders),
        logs=FakeReader(log(topic="orders", partition=p, end=end) for p, end in ENDS.items()),
    )
    return Probe(context, groups, 0.0).kinds()


@pytest.mark.parametrize(
    ("reactions", "identity", "orders", "expected"),
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
def test_learns_the_reaction_to_odd_records(
    monkeypatch: pytest.MonkeyPatch,
    reactions: tuple[str, ...],
    identity: str,
    orders: Orders,
    expected: tuple[tuple[str, ...], tuple[str, ...]],
) -> None:
    program = OddRecordProgram(dict(zip(PROBED, reactions, strict=True)))
    assert probe_kinds(monkeypatch, program, identity=identity, orders=orders) == expected
    assert program.removed == len(expected[1])


@pytest.mark.parametrize("groups", [("readers",), ()], ids=["refused", "no group"])
def test_stops_probing_if_the_group_cannot_skip_the_record(
    monkeypatch: pytest.MonkeyPatch, groups: tuple[str, ...]
) -> None:
    program = OddRecordProgram({ABORTED: "goes on", NULL: "ends", OVERSIZE: "goes on"}, moves=False)
    program.start = lambda: None  # type: ignore[method-assign]
    assert probe_kinds(monkeypatch, program, groups=groups) == ((ABORTED,), (NULL,))
