"""Progress of your pipeline, seen from the effects and sentinels in its outputs."""

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
from onceproof.harness.user_pipeline.together import CombinedOutputs
from tests.unit.fakes import logs as fake_logs
from tests.unit.fakes.logs import FakeReader
from tests.unit.fakes.run_context import FakeSink, FakeStop, effect

INPUTS = tuple("abcde")
SENTINELS = "de"
PARTITION = ("orders", 0)
CLOCK = FakeStop()


@pytest.fixture
def clock() -> FakeStop:
    CLOCK.now = 100.0
    return CLOCK


@dataclass(frozen=True, kw_only=True)
class Input:
    """A record of an input topic."""

    record: str
    key: str = "k"
    kind: str = "data"
    committed: bool = True
    odd: bool = False


def log_of(inputs: Sequence[Input], partition: int = 0) -> PartitionLog:
    """A log in which each uncommitted record belongs to its own open transaction."""
    entries = [
        fake_logs.entry(
            n,
            topic="orders",
            key=entry.key.encode(),
            kind=entry.kind,
            producer=n,
            transactional=not entry.committed,
            headers={RECORD_HEADER: entry.record.encode()}
            | ({ODD_HEADER: b""} if entry.odd else {}),
        )
        for n, entry in enumerate(inputs)
    ]
    return fake_logs.log(*entries, topic="orders", partition=partition)


@dataclass(kw_only=True)
class Output(FakeSink):
    """An output with fixed effects and size."""

    current_size: int = 1

    def size(self) -> int:
        return self.current_size

    def records(self) -> frozenset[str | None]:
        return frozenset(present.record for present in self.there)


def output_of(effects: Iterable[str | None], *, current_size: int = 1) -> Output:
    return Output(
        name="out", there=[effect(record) for record in effects], current_size=current_size
    )


class UnreadableOutputs(CombinedOutputs):
    """Outputs whose size is readable, but not their effects."""

    def named(self) -> list[frozenset[str | None]]:
        raise UnreadableOutput("its leader moves")


class Groups(GroupCommits):
    """Groups with fixed committed offsets."""

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
    """A look at a pipeline with one or two outputs that has just written."""
    partition_logs = [log_of(entries, n) for n, entries in enumerate(logs)]
    sinks = [output_of(effects)] if other is None else [output_of(effects), output_of(other)]
    sink = CombinedOutputs(sinks, None if letters is None else output_of(letters))
    found = Look(
        topics=("orders",),
        groups=Groups(group or {}),
        reader=lambda: FakeReader(partition_logs),
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
    found.size()
    return found


def test_partition_is_done_once_all_effects_arrive() -> None:
    assert look(effects=INPUTS).positions() == {PARTITION: 5}, "however lately it has written"


def test_missing_effect_is_waited_for_until_outputs_are_idle(clock: FakeStop) -> None:
    found = look(effects="abde", rest=30.0)
    clock.now += 29.9
    assert found.positions() == {PARTITION: 2}
    clock.now += 0.1
    assert found.positions() == {PARTITION: 5}, "its sentinels came out, c did not"


@pytest.mark.parametrize("effects", ["ab", "abd", "abe"])
def test_missing_effect_is_no_loss_while_a_sentinel_is_missing(
    clock: FakeStop, effects: str
) -> None:
    found = look(effects=effects)
    clock.now += 100 * QUIET
    assert found.positions() == {PARTITION: 2}, "it may hold back all of them"


@pytest.mark.parametrize("effects", ["", "abcd", "abe", "bcde"])
def test_missing_effect_is_no_loss_before_sentinels_are_sent(clock: FakeStop, effects: str) -> None:
    before = look(effects=effects, sentinels="xy")
    clock.now += 100 * QUIET
    (first,) = [n for n, record in enumerate(INPUTS) if record not in effects][:1]
    assert before.positions() == {PARTITION: first}, "its sentinels have not been sent"


def test_sentinel_covers_only_its_partition(clock: FakeStop) -> None:
    parts = [[Input(record=r) for r in "abd"], [Input(record=r) for r in "ce"]]
    found = look(effects="ade", sentinels="d", logs=parts)
    clock.now += QUIET
    assert found.positions() == {PARTITION: 3, ("orders", 1): 0}


@pytest.mark.parametrize("position", range(6))
def test_group_commits_do_not_affect_positions(clock: FakeStop, position: int) -> None:
    for effects, reached in (("abc", 3), ("abde", 5), (INPUTS, 5)):
        found = look(effects=effects, group={PARTITION: position})
        clock.now += QUIET
        assert found.positions() == {PARTITION: reached}


def test_optional_inputs_are_not_waited_for() -> None:
    assert look(effects="ae", required="ae", sentinels="e").positions() == {PARTITION: 5}
    assert look(effects="", required="", sentinels="").positions() == {PARTITION: 5}


def test_every_output_needs_all_effects(clock: FakeStop) -> None:
    behind = look(effects=INPUTS, other="abd")
    clock.now += QUIET
    assert behind.positions() == {PARTITION: 2}, "the sentinel e is not in the other"
    assert behind.done() == (3, 5)
    lost = look(effects=INPUTS, other="abde")
    clock.now += QUIET
    assert lost.positions() == {PARTITION: 5}
    assert lost.done() == (4, 5)


def test_dead_letter_counts_for_every_output() -> None:
    done = look(effects="abcd", other="abcd", letters="e")
    assert done.positions() == {PARTITION: 5}
    assert done.done() == (5, 5)
    assert not done.waits()


def test_waits_while_a_required_input_lacks_an_effect() -> None:
    assert look(effects="abcd").waits()
    assert look(effects=INPUTS, other="abcd").waits()
    assert not look(effects=INPUTS).waits()
    assert not look(effects="abcd", required="abcd", sentinels="d").waits()


def test_routed_inputs_need_an_effect_only_in_their_output() -> None:
    routed = [frozenset("de"), frozenset("abc")]
    assert look(effects="abc", other="de", elsewhere=routed).positions() == {PARTITION: 5}
    assert not look(effects="abc", other="de", elsewhere=routed).waits()
    assert look(effects="ab", other="de", elsewhere=routed).waits()
    assert look(effects="abc", other="d", elsewhere=routed).waits()
    assert look(effects="abc", other="de").waits()


def test_overwritten_input_is_done_with_upserts_only() -> None:
    entries = [Input(record=r, key=k) for r, k in zip(INPUTS, "xyxyz", strict=True)]
    found = look(effects="cde", logs=[entries], upserts=True)
    assert found.positions() == {PARTITION: 5}
    assert look(effects="bcde", logs=[entries], upserts=False).positions() == {PARTITION: 0}


def test_only_committed_records_are_inputs() -> None:
    entries = [
        Input(record="a"),
        Input(record="b", committed=False),
        Input(record="", kind="abort"),
        Input(record="c"),
        Input(record="", kind="commit"),
    ]
    found = look(effects="ac", required="abc", sentinels="c", logs=[entries])
    assert found.positions() == {PARTITION: 4}, "behind the last record, whatever follows it"


def test_positions_are_unknown_without_inputs() -> None:
    assert look(effects="", logs=[(), ()]).positions() is None


def test_positions_are_read_again_after_a_failure() -> None:
    done = look(effects="abcde")
    opened, looks = done.sink, iter([True, True, False])

    def flaky(reader: Any) -> Any:
        return opened(reader) if next(looks, True) else UnreadableOutputs([output_of("")])

    done.sink = flaky
    done.size()
    assert done.positions() is None
    assert done.positions() == {PARTITION: 5}


def test_past_once_an_input_at_or_after_the_offset_has_its_effect() -> None:
    waiting = look(effects="ab")
    is_past = waiting.getting_past({PARTITION: 2})
    assert not is_past()
    opened = waiting.sink
    waiting.sink = lambda reader: UnreadableOutputs([output_of("")])
    assert not is_past(), "nothing has changed, so nothing is read"
    waiting.sink = lambda reader: CombinedOutputs([output_of("abd", current_size=2)])
    assert is_past()
    waiting.sink = opened
    assert waiting.past({PARTITION: 1})
    assert not waiting.past({PARTITION: 2})


def test_quiet_time_starts_at_the_last_change(clock: FakeStop) -> None:
    found = look(effects="a", rest=2.0)
    clock.now += 1.5
    assert (found.still(), found.quiet_for, found.changes) == (False, 1.5, 1)
    found.sink = lambda reader: UnreadableOutputs([output_of("", current_size=2)])
    clock.now += 1.0
    assert (found.still(), found.quiet_for, found.changes) == (False, 0.0, 2)
    clock.now += 2.0
    assert (found.still(), found.changes) == (True, 2)


@pytest.mark.parametrize("effects", [["a"], ["of another run"], [None]])
def test_check_empty_rejects_existing_effects(effects: list[str | None]) -> None:
    with pytest.raises(
        PipelineTrouble, match="have 1 effects before the pipeline was first started"
    ):
        look(effects=effects).check_empty()


def test_check_empty_accepts_empty_or_missing_outputs() -> None:
    look(effects=[]).check_empty()
    missing = look(effects=[])

    def unreadable(reader: object) -> Any:
        raise UnreadableOutput("no such program")

    missing.sink = unreadable
    missing.check_empty()


# Compared with a model that follows the documented rule directly.

RECORDS = tuple("abcdefgh")


@st.composite
def logs(draw: st.DrawFn) -> list[list[Input]]:
    """Two partitions with the records spread over them."""
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


def subsets(universe: Collection[str] = RECORDS) -> st.SearchStrategy[frozenset[str]]:
    """Subsets, often complete or nearly so, as outputs are when a pipeline rests."""
    few = (
        st.frozensets(st.sampled_from(sorted(universe)), max_size=3)
        if universe
        else st.just(frozenset[str]())
    )
    return st.one_of(few, few.map(lambda missing: frozenset(universe) - missing))


def has_effect(output: Collection[str], log: Sequence[Input], index: int, *, upserts: bool) -> bool:
    """Whether an output has the effect of the input at this index of its log."""
    if log[index].record in output:
        return True
    later = [entry for entry in log[index + 1 :] if is_input(entry)]
    return upserts and any(e.key == log[index].key and e.record in output for e in later)


def is_input(entry: Input) -> bool:
    return entry.kind == "data" and entry.committed and not entry.odd


@given(data=st.data(), parts=logs(), upserts=st.booleans(), still=st.booleans())
def test_positions_match_the_model(
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
    expected: dict[tuple[str, int], int] = {}
    for partition, log in enumerate(parts):
        indices = [index for index, entry in enumerate(log) if is_input(entry)]
        if not indices:
            continue
        missing = [
            index
            for index in indices
            if log[index].record in required
            and not all(has_effect(out | letters, log, index, upserts=upserts) for out in outputs)
        ]
        sentinel_indices = [index for index in indices if log[index].record in sentinels]
        if not missing:
            expected["orders", partition] = indices[-1] + 1
            event("nothing is missing")
        elif still and sentinel_indices and not set(sentinel_indices) & set(missing):
            expected["orders", partition] = indices[-1] + 1
            event("something is lost")
        else:
            expected["orders", partition] = missing[0]
            event("something may come yet")
    assert found == (expected or None)


KEYS = {"a": ("x",), "b": ("x",), "c": ("y",), "d": ("z",), "e": ("last",)}
"""State keys to which each input contributes."""


def test_new_state_keys_show_which_inputs_arrived(clock: FakeStop) -> None:
    found = look(effects=["x"], keys=[KEYS])
    assert found.positions() == {PARTITION: 1}, (
        "a second input of a key shows only in what is behind it"
    )
    assert found.waits()
    assert found.done() == (1, 5)
    assert look(effects=["x", "y"], keys=[KEYS]).positions() == {PARTITION: 3}
    everything = look(effects=["x", "y", "z", "last"], keys=[KEYS])
    assert everything.positions() == {PARTITION: 5}
    assert not everything.waits()
    assert everything.past({PARTITION: 4})


def test_missing_state_key_is_lost_once_the_last_inputs_arrived(clock: FakeStop) -> None:
    lost = look(effects=["x", "z", "last"], keys=[KEYS])
    assert lost.positions() == {PARTITION: 2}
    clock.now += QUIET
    assert lost.positions() == {PARTITION: 5}, "what was sent last has arrived, and it rests"
    held = look(effects=["x", "y", "z"], keys=[KEYS])
    clock.now += QUIET
    assert held.positions() == {PARTITION: 4}, "of what was sent last something may be held back"


def test_arrived_reports_state_keys_of_no_input() -> None:
    assert look(effects=["x", "q"], keys=[KEYS]).arrived() == (1, 1, "a row has the key q")
    assert look(effects=["x"], keys=[KEYS]).arrived() == (1, 0, "")
    with pytest.raises(PipelineTrouble, match="the outputs have 1 effects"):
        look(effects=["q"], keys=[KEYS]).check_empty()
