"""How far a pipeline of the user's is: what its outputs hold, and what its sentinels came to."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from onceproof.harness.context.pipeline import PipelineTrouble
from onceproof.harness.history.identity import ODD_HEADER, RECORD_HEADER
from onceproof.harness.kafka.log_reader import PartitionLog
from onceproof.harness.user_pipeline.group_commits import GroupCommits
from onceproof.harness.user_pipeline.look import QUIET, Look
from onceproof.harness.user_pipeline.outputs.base import UnreadableOutput
from onceproof.harness.user_pipeline.together import Together
from tests.unit.fakes import logs as made
from tests.unit.fakes.logs import FakeReader
from tests.unit.fakes.run_context import FakeSink, FakeStop, effect

INPUTS = tuple("abcde")
SENTINELS = "de"
AT = ("orders", 0)
CLOCK = FakeStop()


@pytest.fixture
def clock() -> FakeStop:
    CLOCK.now = 100.0
    return CLOCK


@dataclass(frozen=True, kw_only=True)
class Input:
    """An entry of the input's log."""

    record: str
    key: str = "k"
    kind: str = "data"
    committed: bool = True
    odd: bool = False


def log_of(inputs: Sequence[Input], partition: int = 0) -> PartitionLog:
    """Each that is not committed is in a transaction of its own, which is never decided."""
    entries = [
        made.entry(
            n,
            topic="orders",
            key=each.key.encode(),
            kind=each.kind,
            producer=n,
            transactional=not each.committed,
            headers={RECORD_HEADER: each.record.encode()} | ({ODD_HEADER: b""} if each.odd else {}),
        )
        for n, each in enumerate(inputs)
    ]
    return made.log(*entries, topic="orders", partition=partition)


@dataclass(kw_only=True)
class Output(FakeSink):
    """An output with effects of inputs, that has grown so often."""

    grown: int = 1

    def size(self) -> int:
        return self.grown

    def records(self) -> frozenset[str | None]:
        return frozenset(each.record for each in self.there)


def holds(effects: Iterable[str | None], *, grown: int = 1) -> Output:
    return Output(name="out", there=[effect(record) for record in effects], grown=grown)


class Away(Together):
    """An output of which only the size can be seen."""

    def named(self) -> list[frozenset[str | None]]:
        raise UnreadableOutput("its leader moves")


class Groups(GroupCommits):
    """Groups that have committed these offsets."""

    def __init__(self, committed: Mapping[tuple[str, int], int]) -> None:
        self._committed = dict(committed)

    def newest(self) -> dict[tuple[str, int], int]:
        return self._committed


def look(
    *,
    effects: Iterable[str | None],
    other: Iterable[str | None] | None = None,
    letters: Iterable[str | None] | None = None,
    required: Collection[str] = INPUTS,
    sentinels: Collection[str] = SENTINELS,
    logs: Sequence[Sequence[Input]] = (tuple(Input(record=record) for record in INPUTS),),
    group: Mapping[tuple[str, int], int] | None = None,
    rest: float = QUIET,
    upserts: bool = False,
    elsewhere: Sequence[Collection[str]] = (),
    keys: Sequence[Mapping[str, Collection[str]]] = (),
) -> Look:
    """A look at a pipeline with one output or two, which has just written."""
    there = [log_of(entries, n) for n, entries in enumerate(logs)]
    sinks = [holds(effects)] if other is None else [holds(effects), holds(other)]
    sink = Together(sinks, None if letters is None else holds(letters))
    made = Look(
        topics=("orders",),
        groups=Groups(group or {}),
        reader=lambda: FakeReader(there),
        sink=lambda reader: sink,
        sent=frozenset(INPUTS),
        required=frozenset(required),
        sentinels=frozenset(sentinels),
        rest=rest,
        upserts=upserts,
        elsewhere=elsewhere,
        keys=keys,
        clock=CLOCK.monotonic,
    )
    made.size()
    return made


def test_a_partition_is_done_once_each_input_has_its_effects() -> None:
    assert look(effects=INPUTS).positions() == {AT: 5}, "however lately it has written"


def test_a_missing_effect_is_waited_for_while_outputs_change(clock: FakeStop) -> None:
    found = look(effects="abde", rest=30.0)
    clock.now += 29.9
    assert found.positions() == {AT: 2}
    clock.now += 0.1
    assert found.positions() == {AT: 5}, "its sentinels came out, c did not"


@pytest.mark.parametrize("effects", ["ab", "abd", "abe"])
def test_a_missing_effect_is_no_loss_while_a_sentinel_is_missing_too(
    clock: FakeStop, effects: str
) -> None:
    found = look(effects=effects)
    clock.now += 100 * QUIET
    assert found.positions() == {AT: 2}, "it may hold back all of them"


@pytest.mark.parametrize("effects", ["", "abcd", "abe", "bcde"])
def test_without_a_sentinel_in_the_log_nothing_is_lost_yet(clock: FakeStop, effects: str) -> None:
    before = look(effects=effects, sentinels="xy")
    clock.now += 100 * QUIET
    (first,) = [n for n, record in enumerate(INPUTS) if record not in effects][:1]
    assert before.positions() == {AT: first}, "its sentinels have not been sent"


def test_a_sentinel_speaks_for_its_own_partition_only(clock: FakeStop) -> None:
    parts = [[Input(record=r) for r in "abd"], [Input(record=r) for r in "ce"]]
    found = look(effects="ade", sentinels="d", logs=parts)
    clock.now += QUIET
    assert found.positions() == {AT: 3, ("orders", 1): 0}


@pytest.mark.parametrize("position", range(6))
def test_what_groups_commit_decides_nothing(clock: FakeStop, position: int) -> None:
    for effects, reached in (("abc", 3), ("abde", 5), (INPUTS, 5)):
        found = look(effects=effects, group={AT: position})
        clock.now += QUIET
        assert found.positions() == {AT: reached}


def test_an_input_that_needs_no_effect_is_not_waited_for() -> None:
    assert look(effects="ae", required="ae", sentinels="e").positions() == {AT: 5}
    assert look(effects="", required="", sentinels="").positions() == {AT: 5}


def test_each_output_must_have_its_effects(clock: FakeStop) -> None:
    behind = look(effects=INPUTS, other="abd")
    clock.now += QUIET
    assert behind.positions() == {AT: 2}, "the sentinel e is not in the other"
    assert behind.done() == (3, 5)
    lost = look(effects=INPUTS, other="abde")
    clock.now += QUIET
    assert lost.positions() == {AT: 5}
    assert lost.done() == (4, 5)


def test_a_dead_letter_stands_for_every_output() -> None:
    done = look(effects="abcd", other="abcd", letters="e")
    assert done.positions() == {AT: 5}
    assert done.done() == (5, 5)
    assert not done.waits()


def test_it_waits_while_a_required_input_lacks_an_effect() -> None:
    assert look(effects="abcd").waits()
    assert look(effects=INPUTS, other="abcd").waits()
    assert not look(effects=INPUTS).waits()
    assert not look(effects="abcd", required="abcd", sentinels="d").waits()


def test_an_effect_is_waited_for_only_where_it_must_be() -> None:
    routed = [frozenset("de"), frozenset("abc")]
    assert look(effects="abc", other="de", elsewhere=routed).positions() == {AT: 5}
    assert not look(effects="abc", other="de", elsewhere=routed).waits()
    assert look(effects="ab", other="de", elsewhere=routed).waits()
    assert look(effects="abc", other="d", elsewhere=routed).waits()
    assert look(effects="abc", other="de").waits()


def test_a_value_that_was_written_over_is_done() -> None:
    entries = [Input(record=r, key=k) for r, k in zip(INPUTS, "xyxyz", strict=True)]
    found = look(effects="cde", logs=[entries], upserts=True)
    assert found.positions() == {AT: 5}
    assert look(effects="bcde", logs=[entries], upserts=False).positions() == {AT: 0}


def test_only_committed_records_are_inputs() -> None:
    entries = [
        Input(record="a"),
        Input(record="b", committed=False),
        Input(record="", kind="abort"),
        Input(record="c"),
        Input(record="", kind="commit"),
    ]
    found = look(effects="ac", required="abc", sentinels="c", logs=[entries])
    assert found.positions() == {AT: 4}, "behind the last record, whatever follows it"


def test_where_no_partition_has_an_input_there_is_nothing_to_say() -> None:
    assert look(effects="", logs=[(), ()]).positions() is None


def test_a_look_that_failed_is_taken_again() -> None:
    done = look(effects="abcde")
    opened, looks = done.sink, iter([True, True, False])

    def flaky(reader: Any) -> Any:
        return opened(reader) if next(looks, True) else Away([holds("")])

    done.sink = flaky
    done.size()
    assert done.positions() is None
    assert done.positions() == {AT: 5}


def test_it_is_past_once_something_at_or_behind_an_offset_has_its_effect() -> None:
    waiting = look(effects="ab")
    is_past = waiting.getting_past({AT: 2})
    assert not is_past()
    opened = waiting.sink
    waiting.sink = lambda reader: Away([holds("")])
    assert not is_past(), "nothing has changed, so nothing is read"
    waiting.sink = lambda reader: Together([holds("abd", grown=2)])
    assert is_past()
    waiting.sink = opened
    assert waiting.past({AT: 1})
    assert not waiting.past({AT: 2})


def test_it_is_quiet_since_the_outputs_last_changed(clock: FakeStop) -> None:
    found = look(effects="a", rest=2.0)
    clock.now += 1.5
    assert (found.still(), found.quiet_for, found.changes) == (False, 1.5, 1)
    found.sink = lambda reader: Away([holds("", grown=2)])
    clock.now += 1.0
    assert (found.still(), found.quiet_for, found.changes) == (False, 0.0, 2)
    clock.now += 2.0
    assert (found.still(), found.changes) == (True, 2)


@pytest.mark.parametrize("effects", [["a"], ["of another run"], [None]])
def test_outputs_are_empty_before_the_first_start(effects: list[str | None]) -> None:
    with pytest.raises(
        PipelineTrouble, match="have 1 effects before the pipeline was first started"
    ):
        look(effects=effects).check_empty()


def test_what_is_empty_or_not_made_yet_may_be_started() -> None:
    look(effects=[]).check_empty()
    missing = look(effects=[])

    def away(reader: object) -> Any:
        raise UnreadableOutput("no such program")

    missing.sink = away
    missing.check_empty()


# Against an oracle that is as plain as the rule is in words.

RECORDS = tuple("abcdefgh")


@st.composite
def logs(draw: st.DrawFn) -> list[list[Input]]:
    """Two partitions, that share the records."""
    parts: list[list[Input]] = [[], []]
    for record in RECORDS[: draw(st.integers(0, len(RECORDS)))]:
        kind = draw(st.sampled_from(["data", "data", "data", "commit", "abort"]))
        entry = Input(
            record=record if kind == "data" else "",
            key=draw(st.sampled_from("xyz")),
            kind=kind,
            committed=draw(st.integers(0, 4)) > 0,
            odd=draw(st.integers(0, 6)) == 0,
        )
        parts[draw(st.integers(0, 1))].append(entry)
    return parts


def subsets(of: Collection[str] = RECORDS) -> st.SearchStrategy[frozenset[str]]:
    """Some of them; often all or nearly all, as outputs are when a pipeline rests."""
    few = (
        st.frozensets(st.sampled_from(sorted(of)), max_size=3) if of else st.just(frozenset[str]())
    )
    return st.one_of(few, few.map(lambda gone: frozenset(of) - gone))


def has(output: Collection[str], log: Sequence[Input], place: int, *, upserts: bool) -> bool:
    """Whether an output has the effect of the input at that place of its log."""
    if log[place].record in output:
        return True
    later = [entry for entry in log[place + 1 :] if counts(entry)]
    return upserts and any(e.key == log[place].key and e.record in output for e in later)


def counts(entry: Input) -> bool:
    return entry.kind == "data" and entry.committed and not entry.odd


@given(data=st.data(), parts=logs(), upserts=st.booleans(), still=st.booleans())
def test_positions_are_what_the_rule_says(
    data: st.DataObject, parts: list[list[Input]], upserts: bool, still: bool
) -> None:
    outputs = data.draw(st.lists(subsets(), min_size=1, max_size=2), "effects")
    letters = data.draw(st.frozensets(st.sampled_from(RECORDS), max_size=2), "letters")
    required = data.draw(subsets(), "required")
    sentinels = data.draw(subsets(required), "sentinels")
    found = look(
        effects=outputs[0],
        other=outputs[1] if len(outputs) > 1 else None,
        letters=letters,
        required=required,
        sentinels=sentinels,
        logs=parts,
        rest=0.0 if still else 1_000_000.0,
        upserts=upserts,
    ).positions()
    reached: dict[tuple[str, int], int] = {}
    for partition, log in enumerate(parts):
        places = [place for place, entry in enumerate(log) if counts(entry)]
        if not places:
            continue
        missing = [
            place
            for place in places
            if log[place].record in required
            and not all(has(out | letters, log, place, upserts=upserts) for out in outputs)
        ]
        asked = [place for place in places if log[place].record in sentinels]
        if not missing:
            reached["orders", partition] = places[-1] + 1
            event("nothing is missing")
        elif still and asked and not set(asked) & set(missing):
            reached["orders", partition] = places[-1] + 1
            event("something is lost")
        else:
            reached["orders", partition] = missing[0]
            event("something may come yet")
    assert found == (reached or None)


KEYS = {"a": ("x",), "b": ("x",), "c": ("y",), "d": ("z",), "e": ("last",)}
"""What each input adds to in a table of state."""


def test_in_a_table_of_state_new_keys_show_which_inputs_have_arrived(clock: FakeStop) -> None:
    found = look(effects=["x"], keys=[KEYS])
    assert found.positions() == {AT: 1}, "a second input of a key shows only in what is behind it"
    assert found.waits()
    assert found.done() == (1, 5)
    assert look(effects=["x", "y"], keys=[KEYS]).positions() == {AT: 3}
    everything = look(effects=["x", "y", "z", "last"], keys=[KEYS])
    assert everything.positions() == {AT: 5}
    assert not everything.waits()
    assert everything.past({AT: 4})


def test_a_key_that_is_lost_is_told_from_one_that_may_come(clock: FakeStop) -> None:
    lost = look(effects=["x", "z", "last"], keys=[KEYS])
    assert lost.positions() == {AT: 2}
    clock.now += QUIET
    assert lost.positions() == {AT: 5}, "what was sent last has arrived, and it rests"
    held = look(effects=["x", "y", "z"], keys=[KEYS])
    clock.now += QUIET
    assert held.positions() == {AT: 4}, "of what was sent last something may be held back"


def test_keys_that_come_from_no_input_are_strange() -> None:
    assert look(effects=["x", "q"], keys=[KEYS]).arrived() == (1, 1, "a row has the key q")
    assert look(effects=["x"], keys=[KEYS]).arrived() == (1, 0, "")
    with pytest.raises(PipelineTrouble, match="the outputs have 1 effects"):
        look(effects=["q"], keys=[KEYS]).check_empty()
