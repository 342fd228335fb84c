"""Trials with several inputs: their options, and the judgement of their outputs.

Each input is judged as if it were the only one, and findings name its topic.
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
from onceproof.verify.draft import draft
from onceproof.verify.inputs import inputs_of
from onceproof.verify.options import PAYMENTS, BadTrial, InputOptions, VerifyOptions
from onceproof.verify.plan import plan
from onceproof.verify.trial import dry_run_of, pipeline_of
from tests.unit.onceproof.verify.profiles_made_up import COPY, READERS, TRANSACTIONAL

PHASES = ("arrange", "warm-up", "disturb", "heal", "settle", "collect", "tear-down")
OTHER = InputOptions(topic="payments", identity=PAYMENTS)
OPTIONS = VerifyOptions(
    command=("job", "{input:orders}", "{input:payments}"),
    folder=Path("/somewhere"),
    outputs=("json:{work}/out",),
    others=(OTHER,),
    records=400,
)
GROUP = replace(COPY, group=replace(READERS, topics=("orders", "payments")))
Row = dict[str, Any]


def judgement(rows: Sequence[Row], options: VerifyOptions = OPTIONS) -> Judgement:
    """Judge a trial whose output has these rows."""
    scenario = draft(options)
    workload, subject = scenario.workload, scenario.subject
    sent = [r for n in range(workload.producers) for r in workload.sends(producer=n, seed=1)]
    offsets: Counter[str] = Counter()
    log = []
    for record in sent:
        place = {"topic": record.topic, "partition": 0, "offset": offsets[record.topic]}
        log.append({"record": record.record, "key": record.key, **place})
        offsets[record.topic] += 1
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
        sends=[{"record": r.record, "topic": r.topic} for r in sent],
        log=log,
        effects=effects,
        expected=expected,
        phases=[{"phase": phase, "outcome": "ok"} for phase in PHASES],
        hazards=[{"hazard": "x", "hop": "process"}],
    )
    return check(history, scenario.claims)


def contents(topic: str, options: VerifyOptions = OPTIONS) -> list[Row]:
    workload = draft(options).workload
    sent = [r for n in range(workload.producers) for r in workload.sends(producer=n, seed=1)]
    return [json.loads(record.value or "") for record in sent if record.topic == topic]


def joined() -> list[Row]:
    orders = {order["order_id"]: order for order in contents("orders")}
    return [{**orders[payment["order_id"]], **payment} for payment in contents("payments")]


def merged() -> list[Row]:
    """Rows of a union: each names an input of one topic."""
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
def test_claims_of_all_inputs_hold(rows: Any) -> None:
    judged = judgement(rows())
    assert [claim.claim.name for claim in judged.claims] == [
        "exactly-once orders → out",
        "exactly-once payments → out",
    ]
    assert [claim.verdict for claim in judged.claims] == [Verdict.HOLDS] * 2
    assert found(judged) == {"orders": {}, "payments": {}}


@settings(max_examples=6, deadline=None)
@given(st.data())
def test_lost_and_duplicate_rows_of_a_union_name_their_topic(data: st.DataObject) -> None:
    rows = merged()
    places = st.lists(st.integers(0, len(rows) - 1), max_size=3, unique=True)
    lost = set(data.draw(places, "lost"))
    repeated = set(data.draw(places, "twice")) - lost
    kept = [row for n, row in enumerate(rows) if n not in lost]
    judged = judgement(kept + [rows[n] for n in repeated])

    def ids_of(topic: str, numbers: set[int]) -> set[str]:
        name = "order_id" if topic == "orders" else "payment_id"
        return {f"{topic}/{rows[n][name]}" for n in numbers if name in rows[n]}

    for claim in judged.claims:
        topic = claim.claim.scope.input
        planted = {
            "lost-output": ids_of(topic, lost),
            "duplicate-output": ids_of(topic, repeated),
        }
        assert found(judged)[topic] == {
            name: numbers for name, numbers in planted.items() if numbers
        }
        wrong = any(planted.values())
        assert claim.verdict is (Verdict.VIOLATED if wrong else Verdict.HOLDS)


def test_row_lost_from_a_join_is_lost_for_both_inputs() -> None:
    first, *others = joined()
    names = f"orders/{first['order_id']}", f"payments/{first['payment_id']}"
    judged = judgement(others)
    assert found(judged) == {
        topic: {"lost-output": {name}}
        for topic, name in zip(("orders", "payments"), names, strict=True)
    }


def test_unknown_identity_is_a_phantom_of_its_topic_only() -> None:
    judged = judgement([*joined(), {"payment_id": "order-000001"}])
    assert found(judged) == {
        "orders": {},
        "payments": {"phantom-output": {"payments/order-000001"}},
    }


def test_row_without_identity_makes_all_claims_invalid() -> None:
    judged = judgement([*joined(), {"id": 7}])
    assert [claim.verdict for claim in judged.claims] == [Verdict.INVALID] * 2


def test_effects_are_counted_per_input() -> None:
    two_effects = replace(OPTIONS, others=(replace(OTHER, effects="2"),))
    rows = [{**row, "n": n} for row in merged() for n in range(2 if "payment_id" in row else 1)]
    assert [c.verdict for c in judgement(rows, two_effects).claims] == [Verdict.HOLDS] * 2
    assert set(found(judgement(rows))["payments"]) == {"duplicate-output"}


def test_input_with_optional_effects_gets_an_at_most_once_claim() -> None:
    options = replace(OPTIONS, others=(replace(OTHER, effects="0..1"),))
    names = [claim.name for claim in draft(options).claims]
    assert names == ["exactly-once orders → out", "at-most-once payments → out"]
    orders = [row for row in merged() if "order_id" in row]
    judged = judgement([*orders, {"payment_id": "payment-000007"}], options)
    assert [claim.verdict for claim in judged.claims] == [Verdict.HOLDS] * 2
    repeated = judgement([*orders, *[{"payment_id": "payment-000007"}] * 2], options)
    assert [claim.verdict for claim in repeated.claims] == [Verdict.HOLDS, Verdict.VIOLATED]
    two_guarantees = replace(options, claims=(AT_LEAST_ONCE, AT_MOST_ONCE))
    assert [(c.guarantee, c.scope.input) for c in draft(two_guarantees).claims] == [
        (AT_LEAST_ONCE, "orders"),
        (AT_MOST_ONCE, "orders"),
        (AT_MOST_ONCE, "payments"),
    ]
    with pytest.raises(BadTrial, match="cannot reveal a loss"):
        draft(replace(options, effects="0..1"))


HEADER = "header:onceproof-record"
WRONG = [
    (
        replace(OPTIONS, command=("job",)),
        {"others": (replace(OTHER, topic="orders"),)},
        "orders is given twice",
    ),
    (OPTIONS, {"expects": ("rules.py:content",)}, "--expect cannot be used with several inputs"),
    (OPTIONS, {"upserts": "json:$.customer"}, "--upserts cannot be used with several inputs"),
    (OPTIONS, {"event_time": "json:$.at", "allowed_lateness": "5s"}, "--event-time cannot be used"),
    (OPTIONS, {"command": ("spark-submit", "{checkpoint}")}, "expected {work}/checkpoint"),
    (OPTIONS, {"data": Path("a.jsonl")}, "--data is missing for payments"),
    (OPTIONS, {"identity": PAYMENTS}, "is the rule of orders and payments"),
    (OPTIONS, {"identity": HEADER}, "an output has only one such header"),
    (OPTIONS, {"outputs": ("payments",)}, "payments is the input topic"),
    (OPTIONS, {"command": ("job", "{input:refunds}")}, "unknown placeholder {input:refunds}"),
    (
        replace(OPTIONS, others=(replace(OTHER, data=Path("b.jsonl")),)),
        {"data": Path("a.jsonl")},
        "--records cannot be used with --data and several inputs",
    ),
    (
        OPTIONS,
        {"dead_letters": "dead", "dead_letter_identity": PAYMENTS},
        "--dead-letter-identity json:.* is the rule of",
    ),
]


@pytest.mark.parametrize(("options", "changes", "message"), WRONG)
def test_ambiguous_or_unsupported_options_are_refused(
    options: VerifyOptions, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(BadTrial, match=message):
        draft(replace(options, **changes))


def test_options_apply_to_all_inputs_or_to_one() -> None:
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


def test_schedule_has_faults_at_commits_of_each_input() -> None:
    pipeline = pipeline_of(draft(OPTIONS), OPTIONS, GROUP)
    schedule = plan(pipeline, "gentle").schedule
    refused = [at.do for at in schedule if at.hazard == "commit-refused"]
    assert [do.message.topic for do in refused if isinstance(do, HitMessage)] == [
        "orders",
        "payments",
    ]
    for hazard in ("killed-before-commit", "killed-after-commit"):
        assert sum(at.hazard == hazard for at in schedule) == 2
    together = replace(TRANSACTIONAL, group=GROUP.group)
    schedule = plan(pipeline_of(draft(OPTIONS), OPTIONS, together), "gentle").schedule
    assert sum(at.hazard == "killed-before-commit" for at in schedule) == 1


def test_hazards_that_do_not_fit_are_absent_with_a_reason() -> None:
    absent = plan(pipeline_of(draft(OPTIONS), OPTIONS, GROUP), "brutal").absent
    assert ABORTED not in absent
    assert "several inputs" in absent["null-values"]
    assert "co-partitioned" in absent["partition-added"]
    assert "single input" in absent["empty-partition"]


def test_group_that_reads_only_some_inputs_is_refused() -> None:
    partial = replace(COPY, group=replace(READERS, topics=("orders",)))
    with pytest.raises(BadTrial, match="group readers did not read payments"):
        pipeline_of(draft(OPTIONS), OPTIONS, partial)


def test_dry_run_sends_few_generated_records_but_whole_files(tmp_path: Path) -> None:
    few = dry_run_of(draft(replace(OPTIONS, records=None))).workload
    assert (few.records, few.rate) == (300, 60)
    file = tmp_path / "a.jsonl"
    file.write_text("".join(f'{{"order_id": {n}, "payment_id": {n}}}\n' for n in range(5000)))
    options = replace(OPTIONS, records=None, data=file, others=(replace(OTHER, data=file),))
    whole = dry_run_of(draft(options)).workload
    assert (whole.records, whole.rate) == (10_000, 500)


def test_single_input_has_a_single_claim() -> None:
    (claim,) = draft(replace(OPTIONS, command=("job",), others=())).claims
    assert (claim.name, claim.guarantee) == ("exactly-once orders → out", EXACTLY_ONCE)
