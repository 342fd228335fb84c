"""From what a user says of a pipeline to what is done to it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from onceproof.verify.presets import PRESETS, by_name, preset

from harness.faults.cut_link import CutLink
from harness.faults.kill_driver import KillDriver
from harness.faults.kill_program import HAZARDS, KillProgram
from harness.faults.kill_queue_broker import KillQueueBroker
from harness.faults.targets import Node
from harness.feasible import feasible
from harness.schedule_json import schedule_to_json
from harness.stage.backends import EVERYTHING
from harness.stage.topology import ARTEMIS
from onceproof.verify.said import BadTrial, Said
from onceproof.verify.trial import rehearsal, trial

SAID = Said(
    command=("python", "job.py", "{bootstrap}"), folder=Path("/somewhere"), outputs=("enriched",)
)
SPARK = replace(SAID, command=("spark-submit", "job.py", "--checkpoint={checkpoint}"))


def test_what_is_said_is_what_is_tried() -> None:
    scenario = trial(
        replace(
            SAID,
            outputs=("enriched@read_uncommitted", "postgres:ledger"),
            claims=("at-least-once", "exactly-once"),
            records=5000,
            partitions=4,
        )
    )
    assert [claim.name for claim in scenario.claims] == [
        "at-least-once orders → enriched",
        "exactly-once orders → enriched",
        "at-least-once orders → ledger",
        "exactly-once orders → ledger",
    ]
    assert [c.scope.view for c in scenario.claims[1:3]] == ["read_uncommitted", "table"]
    assert [sorted(claim.hazards) for claim in scenario.claims[:2]] == [
        ["killed-after-commit"],
        ["killed-after-commit", "killed-before-commit"],
    ]
    assert "What effects say" in scenario.claims[0].fine_print.not_tested
    assert [(t.name, t.partitions) for t in scenario.all_topics] == [("orders", 4), ("enriched", 4)]
    assert scenario.workload.records == 5000


def test_other_topics_are_made_once() -> None:
    said = replace(SAID, topics=("enriched", "state", "orders", "state"))
    assert [topic.name for topic in trial(said).all_topics] == ["orders", "enriched", "state"]


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("said", [SAID, SPARK], ids=["program", "spark"])
def test_a_preset_can_be_done_and_puts_the_claim_to_the_test(name: str, said: Said) -> None:
    scenario = trial(replace(said, preset=name))
    offered = {*scenario.subject.offers, "kill", "stop", "cut", "links", "gates"}
    assert all(set(at.needs) <= offered for at in scenario.schedule)
    moments = {at.do.moment for at in scenario.schedule if isinstance(at.do, KillProgram)}
    windows = {at.do.window for at in scenario.schedule if isinstance(at.do, KillDriver)}
    brought = {HAZARDS[moment] for moment in moments if moment}
    if "after-sink-write" in windows:
        brought.add("replayed-batch")
    assert all(claim.hazards and claim.hazards <= brought for claim in scenario.claims)


def test_presets_grow() -> None:
    for spark in (True, False):
        sizes = [len(preset(name, spark=spark)) for name in PRESETS]
        assert sizes == sorted(set(sizes))


def test_a_queue_among_outputs_has_its_broker_killed_too() -> None:
    said = replace(SAID, outputs=("queue:q", "enriched"), command=("x", "{queues}"))
    scenario = trial(said)
    assert scenario.queues == ("q",)
    assert [topic.name for topic in scenario.all_topics] == ["orders", "enriched"]
    assert scenario.needs == {"queues"}
    kinds = [type(at.do) for at in scenario.schedule]
    assert kinds.count(KillQueueBroker) == 1
    assert feasible(scenario, EVERYTHING) == (scenario, ())
    assert not trial(SAID).needs
    # The mildest leaves it alone, and the hardest cuts it off as well.
    gentle, brutal = (trial(replace(said, preset=name)).schedule for name in ("gentle", "brutal"))
    assert KillQueueBroker not in {type(at.do) for at in gentle}
    assert brutal[-1].do == CutLink(source="pipeline", target=Node(name=ARTEMIS))
    (claim, _) = scenario.claims
    assert (claim.scope.sink, claim.scope.view) == ("q", "queue")
    assert "read as a log" in claim.fine_print.not_tested


def test_faults_by_name_and_by_file(tmp_path: Path) -> None:
    schedule = by_name(["kill-driver after-commit", "isolate broker-2"])
    assert schedule[0].do == KillDriver(window="after-commit")
    assert schedule[1].after == (schedule[0].name,)
    named = trial(replace(SPARK, faults=("kill-driver after-commit", "isolate broker-2")))
    assert named.schedule == schedule
    file = tmp_path / "schedule.json"
    file.write_text(json.dumps(schedule_to_json(schedule)))
    assert trial(replace(SPARK, schedule=file)).schedule == schedule
    file.write_text("no")
    with pytest.raises(BadTrial, match=r"schedule\.json: "):
        trial(replace(SPARK, schedule=file))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"command": ()}, "no command: write the pipeline's behind --"),
        ({"command": ("x", "{bootstap}")}, r"\{bootstap\} means nothing"),
        ({"outputs": ()}, "no output"),
        ({"identity": "id"}, "expected json"),
        ({"effects": "many"}, "no number of effects"),
        ({"claims": ("once",)}, "'once' cannot be put on trial; there are exactly-once"),
        ({"faults": ("kill-everything",)}, "there is no fault «kill-everything»"),
        ({"faults": ("kill-program soon",)}, "'soon' is no moment; expected now or before-commit"),
        ({"records": 300}, "300 records are over before 5 faults have struck; expected 1000"),
        ({"data_key": "key"}, "speak of a file"),
        ({"outputs": ("a", "parquet:{work}/a")}, "two outputs are called 'a'"),
        ({"dead_letters": "enriched"}, "two outputs are called 'enriched'"),
        ({"outputs": ("orders",)}, "orders is the input; expected another name"),
        ({"outputs": ("queue:orders",), "command": ("x", "{queues}")}, "orders is the input"),
        ({"outputs": ("queue:q",)}, r"does not say where q is; expected \{queues\} in it"),
        ({"command": ("x", "{queues}")}, r"\{queues\} means nothing without a queue"),
        (
            {"outputs": ("queue:q",), "command": ("x", "{queues}"), "topics": ("q",)},
            "q is a topic and a queue",
        ),
        ({"dead_letters": "orders"}, "orders is the input"),
        ({"dead_letters": "mysql:x"}, "is no output"),
        ({"effects": "0..1"}, "--effects 0..1 cannot show that something is lost"),
        ({"topics": ("a", "b/c")}, "--topic 'b/c' is no name of a topic"),
        (
            {"dead_letters": "csv:x", "dead_letter_identity": "key"},
            "cannot stand in a row of csv:x",
        ),
        ({"dead_letter_identity": "key"}, "say where with --dead-letters"),
        ({"upserts": "customer"}, "expected json"),
        (
            {"upserts": "key", "outputs": ("postgres:x",)},
            "--upserts key cannot stand in a row of x",
        ),
        ({"upserts": "key", "dead_letters": "x"}, "cannot be judged together"),
        ({"upserts": "key", "claims": ("at-least-once",)}, "expected --claim exactly-once alone"),
        ({"upserts": "key", "effects": "0..1"}, "expected 1 with --upserts, or a function"),
        ({"upserts": "key", "effect_key": "key"}, "a key has one value"),
    ],
)
def test_what_cannot_be_tried_is_said_before_anything_starts(
    change: dict[str, object], says: str
) -> None:
    with pytest.raises(BadTrial, match=says):
        trial(replace(SAID, **change))  # type: ignore[arg-type]


def test_a_file_is_looked_through_before_anything_starts(tmp_path: Path) -> None:
    file = tmp_path / "records.jsonl"
    file.write_text("".join(f'{{"order_id": {n}}}\n' for n in range(1500)))
    assert trial(replace(SAID, data=file)).workload.records == 1500
    assert trial(replace(SAID, data=file, records=1200)).workload.records == 1200
    file.write_text(file.read_text() + '{"order_id": 7}\n')
    with pytest.raises(BadTrial, match=r"line 1501 has the identity '7' of records\.jsonl line 8"):
        trial(replace(SAID, data=file))


def test_dead_letters_stand_beside_every_output() -> None:
    scenario = trial(
        replace(
            SAID,
            outputs=("enriched", "postgres:ledger"),
            dead_letters="rejected",
            dead_letter_identity="header:order",
        )
    )
    assert {claim.scope.dead_letters for claim in scenario.claims} == {"rejected"}
    assert [topic.name for topic in scenario.all_topics] == ["orders", "enriched", "rejected"]
    assert scenario.subject.sinks == ("enriched", "ledger")
    for claim in scenario.claims:
        assert "A dead letter in rejected stands for all effects" in claim.fine_print.promise
        assert "Whether what became a dead letter had to." in claim.fine_print.not_tested


def test_values_are_lost_only_where_somebody_looks(tmp_path: Path) -> None:
    file = tmp_path / "records.jsonl"

    def tried(keys: int) -> Said:
        file.write_text("".join(f'{{"order_id": {n}, "who": {n % keys}}}\n' for n in range(1200)))
        return replace(SAID, data=file, data_key="json:$.who", upserts="key")

    assert trial(tried(1200)).subject.orders.upserts
    with pytest.raises(BadTrial, match=r"records 1 to 1190 are all followed by a later one"):
        trial(tried(10))
    rules = tmp_path / "rules.py"
    rules.write_text("def two(order): return 2\n")
    with pytest.raises(BadTrial, match=r"0 has 2 effects; expected with --upserts: one value"):
        trial(replace(tried(1200), effects=f"{rules}:two"))


@pytest.mark.parametrize(
    ("change", "says", "not_said"),
    [
        ({}, "keeps outside Kafka: only its commits", "The database"),
        ({"outputs": ("postgres:x",)}, "The database going down", "as it is listed"),
        ({"outputs": ("csv:x",)}, "as it is listed", "The database"),
        ({"outputs": ("command:x",)}, "prints all of it, and once", "as it is listed"),
        ({"faults": ("kill-program now",)}, "brought network partitions or requests", "crashes or"),
        ({"command": SPARK.command}, "beside its checkpoint", "only its commits"),
        ({"upserts": "key"}, "what stood there in between", "only their number"),
    ],
)
def test_the_report_says_what_was_not_tested(
    change: dict[str, object], says: str, not_said: str
) -> None:
    (claim,) = trial(replace(SAID, **change)).claims  # type: ignore[arg-type]
    assert says in claim.fine_print.not_tested
    assert not_said not in claim.fine_print.not_tested
    assert "Loss of the checkpoint" in claim.fine_print.not_tested
    assert ("older values may come back" in claim.fine_print.guarantee) is ("upserts" in change)


def test_a_program_needs_gates_only_where_its_commit_is_met() -> None:
    now, before = by_name(["kill-program now", "kill-program before-commit"])
    assert (now.gated, now.needs) == ((), ("program",))
    assert (before.gated, before.needs) == (("pipeline",), ("program", "gates"))


def test_a_rehearsal_breaks_nothing_and_asks_for_no_hazard() -> None:
    scenario = rehearsal(trial(SPARK))
    assert scenario.schedule == ()
    assert scenario.workload.records == 300
    assert scenario.claims
    assert not any(claim.hazards for claim in scenario.claims)
