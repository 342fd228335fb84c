from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from checkers import Claim, Findings, Verdict, anomalies, check, end_to_end
from checkers.implications import implied
from checkers.judging import find
from tests.properties.checkers.oracle import Keys, Oracle
from tests.properties.checkers.world import Rows, build, history

randoms = st.randoms(use_true_random=False)
few = settings(
    max_examples=20,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def claim(deduplicates: bool = False) -> Claim:
    return end_to_end(
        "exactly-once", "input", into="ledger", view="table", deduplicates=deduplicates
    )


def found_in(rows: Rows, *, deduplicates: bool = False) -> Keys:
    return keys(find(history(rows), claim(deduplicates)))


def keys(findings: tuple[Findings, ...]) -> Keys:
    found: Keys = {}
    for f in findings:
        assert f.count <= 20, "a small world"
        assert len(f.shown) == f.count
        names = anomalies()[f.anomaly].key
        found[f.anomaly] = {tuple(s.key[name] for name in names) for s in f.shown}
    return found


@few
@given(randoms, st.booleans())
def test_what_went_right_has_no_findings(draw: Random, deduplicates: bool) -> None:
    rows = build(draw, deduplicates=deduplicates)
    judgement = check(history(rows), [claim(deduplicates)])
    assert judgement.findings == ()
    for wound in judgement.self_proof:
        if wound.must_find == "wrong-output" and not rows["expected"]:
            continue  # nobody said what content is right, so the run is invalid
        assert wound.found or "nothing to wound" in wound.detail, wound
    oracle = Oracle(history(rows), deduplicates=deduplicates)
    assert oracle.keys() == {}


Mutation = Callable[[Rows, Random], None]


def drop(table: str) -> Mutation:
    def mutate(rows: Rows, draw: Random) -> None:
        if rows[table]:
            rows[table].pop(draw.randrange(len(rows[table])))

    return mutate


def copy_entry(rows: Rows, draw: Random) -> None:
    data = [e for e in rows["log"] if e["kind"] == "data"]
    if data:
        entry = draw.choice(data)
        end = rows["partitions"][entry["partition"]]["high_watermark"]
        rows["log"].append({**entry, "offset": end})
        rows["partitions"][entry["partition"]] |= {"last_stable_offset": end + 1}
        rows["partitions"][entry["partition"]] |= {"high_watermark": end + 1}


def copy_effect(rows: Rows, draw: Random) -> None:
    if rows["effects"]:
        effect = draw.choice(rows["effects"])
        taken = {e["position"] for e in rows["effects"]}
        free = next(p for n in range(len(taken) + 1) if (p := f"copy {n}") not in taken)
        rows["effects"].append({**effect, "position": free})


def change(table: str, column: str, *values: Any) -> Mutation:
    def mutate(rows: Rows, draw: Random) -> None:
        if rows.get(table):
            row = draw.choice(rows[table])
            if table != "log" or row["kind"] == "data":
                row[column] = draw.choice(values)

    return mutate


def shift(table: str, column: str) -> Mutation:
    def mutate(rows: Rows, draw: Random) -> None:
        if rows[table]:
            row = draw.choice(rows[table])
            row[column] = max(0, row[column] + draw.choice((-3, -2, -1, 1, 2)))

    return mutate


MUTATIONS: dict[str, Mutation] = {
    "send dropped": drop("sends"),
    "entry dropped": drop("log"),
    "effect dropped": drop("effects"),
    "position dropped": drop("positions"),
    "range dropped": drop("ranges"),
    "txn dropped": drop("txns"),
    "entry copied": copy_entry,
    "effect copied": copy_effect,
    "outcome": change("sends", "outcome", "ok", "fail", "info"),
    "sent elsewhere": change("sends", "topic", "other"),
    "other partition": change("sends", "partition", 0, 1, 2, None),
    "transaction": change("txns", "outcome", "committed", "aborted", "info"),
    "uncommitted": change("log", "committed", True, False),
    "entry's record": change("log", "record", "r0", "r1", "x"),
    "entry's attempt": change("log", "attempt", None, "?"),
    "entry's digest": change("log", "digest", "altered", None),
    "entry's key": change("log", "key", "altered", None),
    "effect's record": change("effects", "record", "r0", "r1", "x"),
    "effect's key": change("effects", "effect_key", "", "a", "b"),
    "effect's digest": change("effects", "digest", "altered"),
    "effect's source": change("effects", "source_offset", None, 0, 1, 2),
    "effect's owner": change("effects", "owner", None, "another"),
    "effect's topic": change("effects", "source_topic", None, "other"),
    "effect's sink": change("effects", "sink", "elsewhere"),
    "position moved": shift("positions", "offset"),
    "position's role": change("positions", "role", "advisory", "resume", "atomic"),
    "position planned": change("positions", "kind", "planned"),
    "surgery": change("positions", "by", "harness"),
    "range start": shift("ranges", "start_offset"),
    "range end": shift("ranges", "end_offset"),
    "range uncommitted": change("ranges", "committed", False),
    "deleted": change("partitions", "log_start", 1, 2),
    "compacted": change("partitions", "cleanup_policy", "compact"),
    "interrupted": change("phases", "outcome", "interrupted", None),
}


@settings(few, max_examples=100)
@given(randoms, st.booleans(), st.lists(st.sampled_from(sorted(MUTATIONS)), max_size=4))
def test_the_queries_find_what_the_oracle_finds(
    draw: Random, deduplicates: bool, names: list[str]
) -> None:
    rows = build(draw, deduplicates=deduplicates)
    for name in names:
        MUTATIONS[name](rows, draw)
    oracle = Oracle(history(rows), deduplicates=deduplicates)
    assert found_in(rows, deduplicates=deduplicates) == oracle.keys()


WOUNDS: dict[str, tuple[str, Mutation]] = {
    "entry dropped": ("lost-write", drop("log")),
    "entry copied": ("duplicate", copy_entry),
    "entry altered": ("corrupt", change("log", "digest", "altered")),
    "effect dropped": ("lost-output", drop("effects")),
    "effect copied": ("duplicate-output", copy_effect),
    "effect altered": ("wrong-output", change("effects", "digest", "altered")),
    "effect renamed": ("phantom-output", change("effects", "record", "x")),
}


@pytest.mark.parametrize("wound", WOUNDS)
@settings(few, max_examples=5)
@given(randoms)
def test_one_wound_brings_only_what_it_implies(wound: str, draw: Random) -> None:
    name, mutate = WOUNDS[wound]
    rows = build(draw)
    mutate(rows, draw)
    allowed = implied(name)
    if name == "phantom-output":
        allowed |= implied("lost-output")  # its own effect is missing now
    found = found_in(rows)
    assert found.keys() <= allowed
    # A legal history may be left, for instance when the send of the entry was `info`.
    assert found == Oracle(history(rows)).keys()


@few
@given(randoms, st.sampled_from(["sends", "log", "effects", "expected"]))
def test_a_history_without_a_table_never_holds(draw: Random, table: str) -> None:
    rows = build(draw)
    rows[table] = []
    (judged,) = check(history(rows), [claim()]).claims
    assert judged.verdict is not Verdict.HOLDS


@few
@given(randoms, st.data())
def test_a_partial_history_never_has_a_duplicate_that_the_whole_one_has_not(
    draw: Random, data: st.DataObject
) -> None:
    rows = build(draw)
    for name in data.draw(
        st.lists(st.sampled_from(["effect copied", "effect dropped"]), max_size=4)
    ):
        MUTATIONS[name](rows, draw)
    whole = found_in(rows)
    rows["phases"] = [p for p in rows["phases"] if p["phase"] != "collect"]
    rows["log"] = [e for e in rows["log"] if draw.random() < 0.7]
    partial = found_in(rows)
    for name in ("duplicate-output", "duplicate"):
        assert partial.get(name, set()) <= whole.get(name, set())
