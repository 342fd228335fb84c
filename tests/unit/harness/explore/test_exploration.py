"""Exploring a toy protocol finds the planted bugs, and shrinks them to what was planted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onceproof.commands.explore import exit_code
from onceproof.harness.explore.acts import singles
from onceproof.harness.explore.exploration import (
    CONFIRMATIONS,
    Exploration,
    Limits,
    Load,
    NotSound,
)
from onceproof.harness.explore.funnel import Funnel, few_new, funnel, told
from onceproof.harness.explore.journal import JOURNAL, Journal, merged, read
from onceproof.harness.explore.pairs import pairs
from onceproof.harness.explore.points import learn
from onceproof.harness.explore.singles import TRIES, Singles
from tests.unit.harness.explore.toy import Bug, ToyBench

LOAD = Load(transactions=3, records=3)
QUIET = ToyBench().quiet(3, LOAD)
SINGLES = [single.id for single in singles(learn(QUIET).stable)]


def chosen_pairs() -> list[str]:
    """The keys of the pairs that are chosen when all singles hold."""
    plan = Singles(protocol=learn(QUIET), quiet=QUIET[0])
    trials = plan.next(len(SINGLES))
    for trial, outcome in zip(trials, ToyBench().attempt(trials, LOAD).outcomes, strict=True):
        plan.take(trial.faults[0], outcome)
    return [trial.key for trial in pairs(QUIET[0], plan.hit, seed=1).chosen]


PAIRS = chosen_pairs()
ORDINALS = ("first", "last", "middle")
"""By the number of records of a transaction that has them."""


def explored(folder: Path, bench: ToyBench, **more: object) -> Funnel:
    journal = Journal(folder, {"subject": "toy"})
    options = {"limits": Limits(), "load": LOAD, **more}
    try:
        return Exploration(bench=bench, journal=journal, **options).run()  # type: ignore[arg-type]
    finally:
        journal.close()


def load_of(shrunk: str) -> Load:
    words = shrunk.rpartition(", with ")[2].split()
    return Load(transactions=int(words[0]), records=int(words[3]))


def test_every_single_is_hit_once(tmp_path: Path) -> None:
    bench = ToyBench()
    figures = explored(tmp_path, bench, with_pairs=False)
    assert figures.hit == {"holds": len(SINGLES)}
    assert (figures.missed, figures.left, figures.trials) == ({}, 0, len(SINGLES))
    assert set(bench.tried) == set(SINGLES)
    assert set(bench.tried.values()) == {1}


@settings(max_examples=20, deadline=None)
@given(fault=st.sampled_from(SINGLES), transactions=st.integers(1, 3), records=st.integers(1, 3))
def test_planted_single_is_found_and_shrunk(
    tmp_path_factory: pytest.TempPathFactory, fault: str, transactions: int, records: int
) -> None:
    bench = ToyBench(bugs=[Bug((fault,), least=Load(transactions=transactions, records=records))])
    figures = explored(tmp_path_factory.mktemp("x"), bench, with_pairs=False)
    assert figures.violations == {fault: ("bug 0",)}
    assert figures.confirmed == {fault: (CONFIRMATIONS, CONFIRMATIONS)}
    assert figures.shrunk[fault].startswith(f"{fault}, with ")
    found = load_of(figures.shrunk[fault])
    # A smaller load does not have every point.
    assert found.transactions == max(transactions, 2 if "/abort/" in fault else 1)
    assert found.records == max(
        records, 3 if "/middle/" in fault else 2 if "/last/" in fault else 1
    )
    assert bench.trials <= len(SINGLES) + 2 * CONFIRMATIONS + 6


@settings(max_examples=2, deadline=None)
@given(pair=st.sampled_from(PAIRS))
def test_planted_pair_is_found_and_shrunk(
    tmp_path_factory: pytest.TempPathFactory, pair: str
) -> None:
    bench = ToyBench(bugs=[Bug(tuple(pair.split(" + ")))], size=500)
    figures = explored(tmp_path_factory.mktemp("x"), bench)
    assert pair in figures.violations
    assert figures.shrunk[pair].startswith(f"{pair}, with ")


def test_pair_is_found_in_its_order_only(tmp_path: Path) -> None:
    pair = PAIRS[len(PAIRS) // 2]
    bug = Bug(tuple(pair.split(" + ")))
    figures = explored(tmp_path, ToyBench(bugs=[bug], size=500))
    assert set(figures.violations) == {pair}


def test_fault_that_violates_alone_is_in_no_pair(tmp_path: Path) -> None:
    fault = PAIRS[0].split(" + ")[0]
    figures = explored(tmp_path, ToyBench(bugs=[Bug((fault,))], size=500))
    assert set(figures.violations) == {fault}


def test_violations_by_the_same_act_are_shrunk_once(tmp_path: Path) -> None:
    late = [single for single in SINGLES if single.startswith("request late")][:3]
    bugs = [Bug((fault,), name="bug") for fault in late]
    figures = explored(tmp_path, ToyBench(bugs=bugs), with_pairs=False)
    assert set(figures.violations) == set(figures.confirmed) == set(late)
    shrunk = [key for key, least in figures.shrunk.items() if least.startswith(f"{key}, with ")]
    assert len(shrunk) == 1
    others = set(figures.shrunk.items()) - {(shrunk[0], figures.shrunk[shrunk[0]])}
    assert others == {(key, f"like that of {shrunk[0]}") for key in late if key not in shrunk}


def test_flaky_violation_is_confirmed_by_its_rate(tmp_path: Path) -> None:
    fault, found = SINGLES[20], 0
    for seed in range(10):
        bench = ToyBench(bugs=[Bug((fault,), rate=0.3)], seed=seed)
        figures = explored(tmp_path / str(seed), bench, with_pairs=False)
        if figures.violations:
            failed, tries = figures.confirmed[fault]
            assert tries == CONFIRMATIONS
            assert (fault in figures.shrunk) is (failed > 0)
            found += failed > 0
    assert found


def test_missed_single_is_tried_again_and_then_given_up(tmp_path: Path) -> None:
    never, late = SINGLES[3], SINGLES[7]
    bench = ToyBench(miss=lambda single, n: single == never or (single == late and n < TRIES))
    figures = explored(tmp_path, bench, with_pairs=False)
    assert figures.missed == {never: "the client ended without the message"}
    assert (bench.tried[never], bench.tried[late]) == (TRIES, TRIES)
    assert figures.hit == {"holds": len(SINGLES) - 1}


def test_unsound_batch_does_not_count_and_is_repeated(tmp_path: Path) -> None:
    bench = ToyBench(unsound=lambda n: "the broken twin was not caught" if n == 2 else None)
    figures = explored(tmp_path, bench, with_pairs=False)
    assert figures.unsound == ("the broken twin was not caught",)
    assert bench.renewed == 1
    assert figures.trials == len(SINGLES)


def test_exploration_ends_if_no_batch_counts(tmp_path: Path) -> None:
    with pytest.raises(NotSound, match=r"3 batches in a row did not count; .* a bad day"):
        explored(tmp_path, ToyBench(unsound=lambda _: "a bad day"))
    assert read(tmp_path / JOURNAL).trials == []


@pytest.mark.parametrize("limit", [1, 10, 25])
def test_interrupted_exploration_continues_where_it_ended(tmp_path: Path, limit: int) -> None:
    whole = explored(tmp_path / "whole", ToyBench(), with_pairs=False)
    bench, parts = ToyBench(), tmp_path / "parts"
    for n in range(1, 4):
        limits = Limits(trials=limit * n)
        figures = explored(parts, bench, with_pairs=False, limits=limits)
        assert figures.trials == limit * n
        with (parts / JOURNAL).open("a") as file:
            file.write('{"t": "trial", "faults": "cut')
    assert explored(parts, bench, with_pairs=False) == whole
    assert set(bench.tried.values()) == {1}


def test_time_limit_ends_it_after_a_batch(tmp_path: Path) -> None:
    bench = ToyBench()
    figures = explored(tmp_path, bench, limits=Limits(over=lambda: bench.batches >= 2))
    assert figures.trials == 2 * bench.size
    assert figures.left == len(SINGLES) - figures.trials


def test_pairs_that_are_left_are_told(tmp_path: Path) -> None:
    """Also if there was no time for any of them; the exit code is that of an incomplete picture."""
    bench = ToyBench(size=500)
    enough = Limits(over=lambda: len(bench.tried) >= len(SINGLES))
    singles_only = explored(tmp_path, bench, limits=enough)
    assert singles_only.left == 0
    assert singles_only.pairs is not None
    assert singles_only.pairs.left > singles_only.pairs.chosen
    assert exit_code(singles_only) == 5
    whole = explored(tmp_path, bench)
    assert whole.pairs is not None
    assert exit_code(whole) == 0
    assert any(f"{whole.pairs.left} left" in line for line in told(whole))
    for changed, code in (
        ({"missed": 1}, 5),
        ({"left": 1, "rare": False}, 5),
        ({"left": 1, "rare": True}, 0),
        ({"verdicts": {"holds": 9, "unknown": 1}}, 5),
        ({"verdicts": {"holds": 9, "stalled": 1}}, 4),
    ):
        other = replace(whole, pairs=replace(whole.pairs, **changed))
        assert exit_code(other) == code, changed


@given(st.lists(st.integers(0, 3), max_size=300))
def test_reactions_are_rare_by_the_estimate_and_never_by_few_trials(seen: list[int]) -> None:
    once = sum(seen.count(each) == 1 for each in set(seen))
    assert few_new(seen) is (len(seen) >= 100 and once * 100 < len(seen))


def test_shards_try_every_single_once(tmp_path: Path) -> None:
    bench, parts = ToyBench(), []
    for n in (1, 2, 3):
        explored(tmp_path / str(n), bench, with_pairs=False, shard=(n, 3))
        parts.append(read(tmp_path / str(n) / JOURNAL))
    assert set(bench.tried.values()) == {1}
    assert funnel(merged(parts)).hit == {"holds": len(SINGLES)}


def test_interrupted_shrinking_is_continued(tmp_path: Path) -> None:
    fault = SINGLES[20]
    bench = ToyBench(bugs=[Bug((fault,))])
    journal = Journal(tmp_path, {"subject": "toy"})
    interrupted = Exploration(
        bench=bench, journal=journal, limits=Limits(), load=LOAD, with_pairs=False
    )

    def stop() -> None:
        if journal.known.confirmed:
            raise KeyboardInterrupt

    bench.unsound = lambda _: stop()
    with pytest.raises(KeyboardInterrupt):
        interrupted.run()
    journal.close()
    figures = explored(tmp_path, ToyBench(bugs=[Bug((fault,))]), with_pairs=False)
    assert figures.shrunk[fault].startswith(fault)
