"""A trial with several inputs: what is asked of it, and what becomes of what its outputs hold.

Each input is judged as if it were the only one, and what is wrong names its topic.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st

from onceproof.checkers import History, Judgement, Verdict, check
from onceproof.checkers.claims import AT_LEAST_ONCE, AT_MOST_ONCE, EXACTLY_ONCE
from onceproof.harness.faults.messages.hit_message import HitMessage
from onceproof.harness.kafka.log_reader import LogReader
from onceproof.harness.user_pipeline.profile import ABORTED
from onceproof.verify.inputs import inputs_of
from onceproof.verify.options import PAYMENTS, BadTrial, InputOptions, VerifyOptions
from onceproof.verify.plan import plan
from onceproof.verify.trial import draft, dry_run_of, pipeline_of
from tests.unit.onceproof.verify.profiles_made_up import COPY, READERS, TRANSACTIONAL

PHASES = ("arrange", "warm-up", "disturb", "heal", "settle", "collect", "tear-down")
OTHER = InputOptions(topic="payments", identity=PAYMENTS)
SAID = VerifyOptions(
    command=("job", "{input:orders}", "{input:payments}"),
    folder=Path("/somewhere"),
    outputs=("json:{work}/out",),
    others=(OTHER,),
    records=400,
)
GROUP = replace(COPY, group=replace(READERS, topics=("orders", "payments")))
Row = dict[str, Any]


def judgement(rows: Sequence[Row], said: VerifyOptions = SAID) -> Judgement:
    """What becomes of a trial whose output holds these rows."""
    scenario = draft(said)
    workload, subject = scenario.workload, scenario.subject
    every = [r for n in range(workload.producers) for r in workload.sends(producer=n, seed=1)]
    at: Counter[str] = Counter()
    log = []
    for record in every:
        place = {"topic": record.topic, "partition": 0, "offset": at[record.topic]}
        log.append({"record": record.record, "key": record.key, **place})
        at[record.topic] += 1
    expected = [
        row
        for n in range(workload.producers)
        for row in workload.expected(subject, producer=n, seed=1)
    ]
    with TemporaryDirectory() as folder:
        (Path(folder) / "out").mkdir()
        text = "".join(f"{json.dumps(row)}\n" for row in rows)
        (Path(folder) / "out" / "a.json").write_text(text)
        sink = subject.open_sink(database="", reader=cast("LogReader", None), work=Path(folder))
        effects = [asdict(effect) for effect in sink.effects()]
    history = History.of(
        sends=[{"record": r.record, "topic": r.topic} for r in every],
        log=log,
        effects=effects,
        expected=expected,
        phases=[{"phase": phase, "outcome": "ok"} for phase in PHASES],
        hazards=[{"hazard": "x", "hop": "process"}],
    )
    return check(history, scenario.claims)


def contents(topic: str, said: VerifyOptions = SAID) -> list[Row]:
    workload = draft(said).workload
    sent = [r for n in range(workload.producers) for r in workload.sends(producer=n, seed=1)]
    return [json.loads(record.value or "") for record in sent if record.topic == topic]


def joined() -> list[Row]:
    orders = {order["order_id"]: order for order in contents("orders")}
    return [{**orders[payment["order_id"]], **payment} for payment in contents("payments")]


def merged() -> list[Row]:
    """Rows of a union, each of which names an input of one topic."""
    orders = [{"order_id": order["order_id"]} for order in contents("orders")]
    return orders + [{"payment_id": p["payment_id"]} for p in contents("payments")]


def found(judged: Judgement) -> dict[str, dict[str, set[str]]]:
    """Topic → anomaly → the records that it names."""
    names = {
        each.anomaly: [str(one.key["record"]) for one in each.shown] for each in judged.findings
    }
    return {
        (topic := claim.claim.scope.input): {
            anomaly: {name for name in names[anomaly] if name.startswith(f"{topic}/")}
            for anomaly, count in claim.found.items()
            if count
        }
        for claim in judged.claims
    }


@pytest.mark.parametrize("rows", [joined, merged])
def test_each_input_has_its_effects(rows: Any) -> None:
    judged = judgement(rows())
    assert [claim.claim.name for claim in judged.claims] == [
        "exactly-once orders → out",
        "exactly-once payments → out",
    ]
    assert [claim.verdict for claim in judged.claims] == [Verdict.HOLDS] * 2
    assert found(judged) == {"orders": {}, "payments": {}}


@settings(max_examples=12, deadline=None)
@given(st.data())
def test_what_a_union_loses_or_repeats_is_found_and_names_its_topic(data: st.DataObject) -> None:
    rows = merged()
    places = st.lists(st.integers(0, len(rows) - 1), max_size=3, unique=True)
    lost = set(data.draw(places, "lost"))
    twice = set(data.draw(places, "twice")) - lost
    kept = [row for n, row in enumerate(rows) if n not in lost]
    judged = judgement(kept + [rows[n] for n in twice])

    def of(topic: str, which: set[int]) -> set[str]:
        name = "order_id" if topic == "orders" else "payment_id"
        return {f"{topic}/{rows[n][name]}" for n in which if name in rows[n]}

    for claim in judged.claims:
        topic = claim.claim.scope.input
        planted = {
            "lost-output": of(topic, lost),
            "duplicate-output": of(topic, twice),
        }
        assert found(judged)[topic] == {name: which for name, which in planted.items() if which}
        wrong = any(planted.values())
        assert claim.verdict is (Verdict.VIOLATED if wrong else Verdict.HOLDS)


def test_a_row_that_is_lost_from_a_join_is_missed_by_both() -> None:
    first, *others = joined()
    names = f"orders/{first['order_id']}", f"payments/{first['payment_id']}"
    judged = judgement(others)
    assert found(judged) == {
        topic: {"lost-output": {name}}
        for topic, name in zip(("orders", "payments"), names, strict=True)
    }


def test_what_names_no_input_of_its_topic_is_a_phantom_there_alone() -> None:
    judged = judgement([*joined(), {"payment_id": "order-000001"}])
    assert found(judged) == {
        "orders": {},
        "payments": {"phantom-output": {"payments/order-000001"}},
    }


def test_what_names_no_input_at_all_makes_nothing_hold() -> None:
    judged = judgement([*joined(), {"id": 7}])
    assert [claim.verdict for claim in judged.claims] == [Verdict.INVALID] * 2


def test_effects_are_counted_for_each_input() -> None:
    twice = replace(SAID, others=(replace(OTHER, effects="2"),))
    rows = [{**row, "n": n} for row in merged() for n in range(2 if "payment_id" in row else 1)]
    assert [c.verdict for c in judgement(rows, twice).claims] == [Verdict.HOLDS] * 2
    assert set(found(judgement(rows))["payments"]) == {"duplicate-output"}


def test_an_input_that_may_lack_effects_is_held_to_at_most_once() -> None:
    said = replace(SAID, others=(replace(OTHER, effects="0..1"),))
    names = [claim.name for claim in draft(said).claims]
    assert names == ["exactly-once orders → out", "at-most-once payments → out"]
    orders = [row for row in merged() if "order_id" in row]
    judged = judgement([*orders, {"payment_id": "payment-000007"}], said)
    assert [claim.verdict for claim in judged.claims] == [Verdict.HOLDS] * 2
    again = judgement([*orders, *[{"payment_id": "payment-000007"}] * 2], said)
    assert [claim.verdict for claim in again.claims] == [Verdict.HOLDS, Verdict.VIOLATED]
    least = replace(said, claims=(AT_LEAST_ONCE, AT_MOST_ONCE))
    assert [(c.guarantee, c.scope.input) for c in draft(least).claims] == [
        (AT_LEAST_ONCE, "orders"),
        (AT_MOST_ONCE, "orders"),
        (AT_MOST_ONCE, "payments"),
    ]
    with pytest.raises(BadTrial, match="cannot reveal a loss"):
        draft(replace(said, effects="0..1"))


HEADER = "header:onceproof-record"
WRONG = [
    (
        replace(SAID, command=("job",)),
        {"others": (replace(OTHER, topic="orders"),)},
        "orders is given twice",
    ),
    (SAID, {"expects": ("rules.py:content",)}, "--expect cannot be used with several inputs"),
    (SAID, {"upserts": "json:$.customer"}, "--upserts cannot be used with several inputs"),
    (SAID, {"event_time": "json:$.at", "allowed_lateness": "5s"}, "--event-time cannot be used"),
    (SAID, {"command": ("spark-submit", "{checkpoint}")}, "expected {work}/checkpoint"),
    (SAID, {"data": Path("a.jsonl")}, "--data is missing for payments"),
    (SAID, {"identity": PAYMENTS}, "is the rule of orders and payments"),
    (SAID, {"identity": HEADER}, "an output has only one such header"),
    (SAID, {"outputs": ("payments",)}, "payments is the input topic"),
    (SAID, {"command": ("job", "{input:refunds}")}, "unknown placeholder {input:refunds}"),
    (
        replace(SAID, others=(replace(OTHER, data=Path("b.jsonl")),)),
        {"data": Path("a.jsonl")},
        "--records cannot be used with --data and several inputs",
    ),
    (
        SAID,
        {"dead_letters": "dead", "dead_letter_identity": PAYMENTS},
        "--dead-letter-identity json:.* is the rule of",
    ),
]


@pytest.mark.parametrize(("said", "more", "says"), WRONG)
def test_what_cannot_be_told_apart_or_judged_is_refused(
    said: VerifyOptions, more: dict[str, Any], says: str
) -> None:
    with pytest.raises(BadTrial, match=says):
        draft(replace(said, **more))


def test_options_are_given_for_all_inputs_or_for_one() -> None:
    given_ = {
        "identity": ["payments=regex:p=(.*)"],
        "effects": ["2"],
        "data": ["orders=a=b.jsonl", "payments=c.csv"],
    }
    assert inputs_of(["orders", "payments"], given_) == [
        InputOptions(topic="orders", effects="2", data=Path("a=b.jsonl")),
        InputOptions(topic="payments", identity="regex:p=(.*)", effects="2", data=Path("c.csv")),
    ]
    assert inputs_of(["orders"], {"identity": ["regex:id=([0-9]+)"]}) == [
        InputOptions(identity="regex:id=([0-9]+)")
    ]
    with pytest.raises(typer.BadParameter, match="orders already has one"):
        inputs_of(["orders", "payments"], {"effects": ["1", "orders=2"]})


def test_commits_of_each_input_are_disturbed() -> None:
    pipeline = pipeline_of(draft(SAID), SAID, GROUP)
    schedule = plan(pipeline, "gentle").schedule
    refused = [at.do for at in schedule if at.hazard == "commit-refused"]
    assert [do.message.topic for do in refused if isinstance(do, HitMessage)] == [
        "orders",
        "payments",
    ]
    for hazard in ("killed-before-commit", "killed-after-commit"):
        assert sum(at.hazard == hazard for at in schedule) == 2
    together = replace(TRANSACTIONAL, group=GROUP.group)
    schedule = plan(pipeline_of(draft(SAID), SAID, together), "gentle").schedule
    assert sum(at.hazard == "killed-before-commit" for at in schedule) == 1


def test_what_would_not_match_is_left_out_and_told() -> None:
    absent = plan(pipeline_of(draft(SAID), SAID, GROUP), "brutal").absent
    assert ABORTED not in absent
    assert "several inputs" in absent["null-values"]
    assert "co-partitioned" in absent["partition-added"]
    assert "single input" in absent["empty-partition"]


def test_a_group_that_reads_only_some_inputs_is_refused() -> None:
    apart = replace(COPY, group=replace(READERS, topics=("orders",)))
    with pytest.raises(BadTrial, match="group readers did not read payments"):
        pipeline_of(draft(SAID), SAID, apart)


def test_a_dry_run_sends_few_of_each_input_and_all_of_files(tmp_path: Path) -> None:
    few = dry_run_of(draft(replace(SAID, records=None))).workload
    assert (few.records, few.rate) == (300, 60)
    file = tmp_path / "a.jsonl"
    file.write_text("".join(f'{{"order_id": {n}, "payment_id": {n}}}\n' for n in range(5000)))
    said = replace(SAID, records=None, data=file, others=(replace(OTHER, data=file),))
    whole = dry_run_of(draft(said)).workload
    assert (whole.records, whole.rate) == (10_000, 500)


def test_one_input_has_a_claim_as_before() -> None:
    (claim,) = draft(replace(SAID, command=("job",), others=())).claims
    assert (claim.name, claim.guarantee) == ("exactly-once orders → out", EXACTLY_ONCE)
