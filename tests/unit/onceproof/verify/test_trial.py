"""From the options for a pipeline to its trial."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from onceproof.harness.faults.kill import Kill
from onceproof.harness.faults.links.cut_link import CutLink
from onceproof.harness.faults.targets.brokers import Node
from onceproof.harness.faults.targets.program import Program
from onceproof.harness.faults.targets.service import HttpService, QueueBroker
from onceproof.harness.faults.targets.spark_driver import SparkDriver
from onceproof.harness.faults.until import Acknowledged
from onceproof.harness.http_service.settings import HttpSettings
from onceproof.harness.links.topology import QUEUE_BROKER
from onceproof.harness.schedule.as_json import schedule_to_json
from onceproof.harness.schedule.scenario import ScheduledFault
from onceproof.harness.schedule.supported_faults import with_supported_faults
from onceproof.harness.stage.backends import EVERYTHING
from onceproof.harness.tools.error import SetupError
from onceproof.harness.user_pipeline.event_time import EventTime
from onceproof.harness.user_pipeline.look import QUIET
from onceproof.harness.user_pipeline.orders import Orders
from onceproof.harness.user_pipeline.profile import KEYS, OVERSIZE
from onceproof.harness.user_pipeline.subject import OwnPipeline
from onceproof.verify.draft import draft
from onceproof.verify.named_faults import by_name
from onceproof.verify.options import BadTrial, VerifyOptions
from onceproof.verify.trial import dry_run_of
from onceproof.verify.workload import SENTINELS
from tests.unit.onceproof.verify.profiles_made_up import (
    COPY,
    PROFILES,
    SPARK_JOB,
    TO_SERVICE,
    trial_of,
)

OPTIONS = VerifyOptions(
    command=("python", "job.py", "{bootstrap}"), folder=Path("/somewhere"), outputs=("enriched",)
)
SPARK = replace(OPTIONS, command=("spark-submit", "job.py", "--checkpoint={checkpoint}"))


def test_trial_follows_the_options() -> None:
    scenario = trial_of(
        replace(
            OPTIONS,
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
    assert "The content of effects" in scenario.claims[0].fine_print.not_tested
    assert [(t.name, t.partitions) for t in scenario.all_topics] == [("orders", 4), ("enriched", 4)]
    assert scenario.workload.records == 5000


def test_other_topics_are_created_once() -> None:
    options = replace(OPTIONS, topics=("enriched", "state", "orders", "state"))
    assert [topic.name for topic in trial_of(options).all_topics] == ["orders", "enriched", "state"]


def test_queue_output_adds_faults_of_its_broker() -> None:
    options = replace(OPTIONS, outputs=("queue:q", "enriched"), command=("x", "{queues}"))
    scenario = trial_of(options)
    assert scenario.queues == ("q",)
    assert [topic.name for topic in scenario.all_topics] == ["orders", "enriched"]
    assert scenario.needs == {"queues"}
    assert Kill(QueueBroker()) in {at.do for at in scenario.schedule}
    assert with_supported_faults(scenario, EVERYTHING) == (scenario, ())
    assert not trial_of(OPTIONS).needs
    assert Kill(QueueBroker()) not in {at.do for at in trial_of(OPTIONS).schedule}
    brutal = trial_of(replace(options, preset="brutal"))
    assert CutLink(source="pipeline", target=Node(name=QUEUE_BROKER)) in {
        at.do for at in brutal.schedule
    }
    (claim, _) = scenario.claims
    assert (claim.scope.sink, claim.scope.view) == ("q", "queue")
    assert "queue-broker-lost" in claim.hazards
    assert "read as a log" in claim.fine_print.not_tested


def test_http_output_adds_faults_of_its_service() -> None:
    options = replace(
        OPTIONS,
        outputs=("http:v1/shipments", "http:returns"),
        command=("x", "{http}/v1/shipments"),
        idempotency_key="Idempotency-Key",
    )
    scenario = trial_of(options, TO_SERVICE)
    assert scenario.http == HttpSettings(paths=("v1/shipments", "returns"), key="Idempotency-Key")
    assert scenario.needs == {"http"}
    assert [topic.name for topic in scenario.all_topics] == ["orders"]
    assert Kill(HttpService()) in {at.do for at in scenario.schedule}
    assert with_supported_faults(scenario, EVERYTHING) == (scenario, ())
    with pytest.raises(SetupError, match="needs http"):
        with_supported_faults(scenario, EVERYTHING - {"http"})
    (claim, _) = scenario.claims
    assert (claim.scope.sink, claim.scope.view) == ("v1/shipments", "requests")
    assert "never forgets an idempotency key" in claim.fine_print.not_tested
    assert trial_of(OPTIONS).http is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"command": ("x", "{http}")}, "add --output http:PATH"),
        ({"idempotency_key": "K"}, "--idempotency-key needs the HTTP service"),
        ({"outputs": ("http:a",)}, r"expected {http} in it, such as {http}/a"),
        ({"outputs": ("http:/a",), "command": ("x", "{http}")}, "invalid path '/a'"),
        ({"outputs": ("http://x/a",), "command": ("x", "{http}")}, "invalid path '//x/a'"),
    ],
)
def test_invalid_http_options_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(BadTrial, match=message):
        draft(replace(OPTIONS, **change))


_SERVICE = {
    "stop_command": "systemctl stop app",
    "kill_command": "systemctl kill -s KILL 'my app'",
    "healthy": "http://127.0.0.1:80/up",
}


def test_service_controlled_by_commands_is_not_paused() -> None:
    options = replace(OPTIONS, **_SERVICE)
    scenario = trial_of(options)
    subject = scenario.subject
    assert isinstance(subject, OwnPipeline)
    assert subject.kill_command == ("systemctl", "kill", "-s", "KILL", "my app")
    hazards = {at.hazard for at in scenario.schedule}
    assert {at.hazard for at in trial_of(OPTIONS).schedule} - hazards == {"evicted"}
    (claim,) = scenario.claims
    assert (
        "evicted, instance-paused, paused: it is controlled by commands"
        in claim.fine_print.not_tested
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kill_command": None}, "must be given together"),
        ({"stop_command": None}, "must be given together"),
        ({"healthy": None}, "must be given together"),
        ({"kill_command": " "}, "must be given together"),
        ({"kill_command": "kill 'app"}, "invalid command"),
        ({"kill_command": "kill {name}"}, "unknown placeholder {name}"),
        ({"instances": 2}, "cannot be used with"),
        ({"healthy": "up"}, "invalid URL"),
    ],
)
def test_invalid_service_options_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(BadTrial, match=message):
        draft(replace(OPTIONS, **{**_SERVICE, **change}))


def test_container_gets_variables_and_the_same_hazards() -> None:
    options = replace(
        OPTIONS, command=(), image="app:1", variables=("BROKERS={bootstrap}", "A=b=c")
    )
    scenario = trial_of(options)
    subject = scenario.subject
    assert isinstance(subject, OwnPipeline)
    assert subject.variables == (("BROKERS", "{bootstrap}"), ("A", "b=c"))
    assert subject.asked == {"bootstrap"}
    assert "docker run '--env=BROKERS={bootstrap}' --env=A=b=c app:1" in subject.says
    assert {at.hazard for at in scenario.schedule} == {
        at.hazard for at in trial_of(OPTIONS).schedule
    }


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"instances": 2}, "--image cannot be used with --instances"),
        (_SERVICE, "--image cannot be used with --instances, --stop-command"),
        ({"command": ("{checkpoint}",)}, r"cannot be used with \{checkpoint\}"),
        ({"variables": ("JARS={kafka_jars}",)}, r"cannot be used with \{kafka_jars\}"),
        ({"variables": ("BROKERS",)}, "--env BROKERS: expected NAME=VALUE"),
        ({"variables": ("A={brokers}",)}, "unknown placeholder"),
        ({"command": ("{http}",)}, "add --output http:PATH"),
        ({"variables": ("URL={http}",)}, "add --output http:PATH"),
    ],
)
def test_invalid_container_options_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(BadTrial, match=message):
        draft(replace(OPTIONS, image="app:1", **change))


RELAY = {"command": ("x", "{bootstrap}", "{database}"), "feed": "python feed.py {database}"}


def test_pipeline_that_reads_a_table_has_no_input_topic_hazards() -> None:
    scenario = trial_of(replace(OPTIONS, **RELAY))
    subject = scenario.subject
    assert isinstance(subject, OwnPipeline)
    assert subject.feed == ("python", "feed.py", "{database}")
    met = {str(at.hazard) for at in scenario.schedule}
    assert met.isdisjoint({"partition-added", "restarted-idle", "empty-partition", "odd-keys"})
    leaders = [at.do.target for at in scenario.schedule if at.hazard == "leader-killed"]
    assert {leader.topic for leader in leaders} == {"enriched"}
    (claim,) = scenario.claims
    assert "it reads no topic" in claim.fine_print.not_tested


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"feed": " "}, "--feed is empty"),
        ({"feed": "feed {table}"}, "unknown placeholder"),
        ({"command": ("x", "{input}")}, r"expected no \{input\} in its command"),
        ({"command": ("x", "{checkpoint}")}, "cannot be used with several inputs"),
    ],
)
def test_invalid_feed_options_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(BadTrial, match=message):
        draft(replace(OPTIONS, **{**RELAY, **change}))


@pytest.mark.parametrize(
    ("fault", "until_acknowledged"),
    [
        ("pause program", True),
        ("pause driver", True),
        ("cut pipeline broker-2", True),
        ("pause broker-2", False),
        ("kill program", False),
    ],
)
def test_fault_that_needs_time_lasts_until_records_are_acknowledged(
    fault: str, until_acknowledged: bool
) -> None:
    (at,) = by_name([fault])
    assert isinstance(at.until, Acknowledged) is until_acknowledged


def test_faults_are_given_by_name_or_file(tmp_path: Path) -> None:
    schedule = by_name(["kill driver --at after-commit", "isolate broker-2"])
    assert schedule[0].do == Kill(SparkDriver(), at="after-commit")
    assert schedule[1].after == (schedule[0].name,)
    named = trial_of(replace(SPARK, faults=("kill driver --at after-commit", "isolate broker-2")))
    assert named.schedule == schedule
    planned = trial_of(SPARK)
    assert [claim.hazards for claim in named.claims] == [c.hazards for c in planned.claims]
    file = tmp_path / "schedule.json"
    file.write_text(json.dumps(schedule_to_json(schedule)))
    assert trial_of(replace(SPARK, schedule=file)).schedule == schedule
    file.write_text("no")
    with pytest.raises(BadTrial, match=r"schedule\.json: "):
        trial_of(replace(SPARK, schedule=file))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"command": ()}, "no command: give the pipeline's command after --"),
        ({"command": ("x", "{bootstap}")}, r"unknown placeholder \{bootstap\}"),
        ({"outputs": ()}, "no output"),
        ({"identity": "id"}, "expected json"),
        ({"effects": "many"}, "invalid number of effects"),
        ({"claims": ("once",)}, "invalid claim 'once': expected exactly-once"),
        ({"faults": ("kill-everything",)}, "unknown fault 'kill-everything'"),
        (
            {"faults": ("kill program --at soon",)},
            "invalid window 'soon': expected before-commit or after-commit",
        ),
        (
            {"records": 50},
            r"50 records are too few for \d+ faults; expected \d+",
        ),
        ({"accepted": ("evictde",)}, "--accept-untested evictde: no such hazard; expected all, or"),
        ({"data_key": "key"}, "need --data"),
        ({"outputs": ("a", "parquet:{work}/a")}, "two outputs are named 'a'"),
        ({"dead_letters": "enriched"}, "two outputs are named 'enriched'"),
        ({"outputs": ("orders",)}, "orders is the input topic; expected a different name"),
        ({"claims": ("atomic",)}, "--claim atomic compares outputs .* two or more --output"),
        ({"outputs": ("queue:orders",), "command": ("x", "{queues}")}, "orders is the input"),
        ({"outputs": ("queue:q",)}, r"lacks the address of queue q; expected \{queues\} in it"),
        ({"command": ("x", "{queues}")}, r"\{queues\} needs a queue"),
        (
            {"outputs": ("queue:q",), "command": ("x", "{queues}"), "topics": ("q",)},
            "q is both a topic and a queue",
        ),
        ({"dead_letters": "orders"}, "orders is the input"),
        ({"dead_letters": "mysql:x"}, "invalid output"),
        ({"effects": "0..1"}, "--effects 0..1 cannot reveal a loss"),
        ({"topics": ("a", "b/c")}, "invalid topic name in --topic 'b/c'"),
        (
            {"dead_letters": "csv:x", "dead_letter_identity": "key"},
            "does not apply to a row of csv:x",
        ),
        ({"dead_letter_identity": "key"}, "--dead-letter-identity needs --dead-letters"),
        ({"upserts": "customer"}, "expected json"),
        (
            {"upserts": "key", "outputs": ("postgres:x",)},
            "--upserts key does not apply to a row of x",
        ),
        ({"upserts": "key", "dead_letters": "x"}, "--upserts cannot be used with --dead-letters"),
        ({"upserts": "key", "claims": ("at-least-once",)}, "expected only --claim exactly-once"),
        ({"upserts": "key", "effects": "0..1"}, "expected 1 with --upserts, or a function"),
        ({"upserts": "key", "effect_key": "key"}, "each key has one value"),
    ],
)
def test_invalid_options_are_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(BadTrial, match=message):
        trial_of(replace(OPTIONS, **change))  # type: ignore[arg-type]


def test_data_file_is_validated_before_the_trial(tmp_path: Path) -> None:
    file = tmp_path / "records.jsonl"
    file.write_text("".join(f'{{"order_id": {n}}}\n' for n in range(1500)))
    assert trial_of(replace(OPTIONS, data=file)).workload.records == 1500
    assert trial_of(replace(OPTIONS, data=file, records=1200)).workload.records == 1200
    file.write_text(file.read_text() + '{"order_id": 7}\n')
    with pytest.raises(
        BadTrial, match=r"line 1501 has the same identity as records\.jsonl line 8: '7'"
    ):
        trial_of(replace(OPTIONS, data=file))


def test_dead_letters_apply_to_every_output() -> None:
    scenario = trial_of(
        replace(
            OPTIONS,
            outputs=("enriched", "postgres:ledger"),
            dead_letters="rejected",
            dead_letter_identity="header:order",
        )
    )
    assert {claim.scope.dead_letters for claim in scenario.claims} == {"rejected"}
    assert [topic.name for topic in scenario.all_topics] == ["orders", "enriched", "rejected"]
    assert scenario.subject.sinks == ("enriched", "ledger")
    for claim in scenario.claims:
        assert "A dead letter in rejected replaces all effects" in claim.fine_print.promise
        assert "Whether a dead letter was justified." in claim.fine_print.not_tested


def test_atomic_claim_covers_all_outputs() -> None:
    options = replace(
        OPTIONS,
        outputs=("enriched", "postgres:ledger", "csv:x"),
        claims=("at-most-once", "atomic"),
        dead_letters="rejected",
        effects="0..1",
    )
    scenario = trial_of(options)
    *each, atomic = scenario.claims
    assert [claim.name for claim in each] == [
        f"at-most-once orders → {sink}" for sink in ("enriched", "ledger", "x")
    ]
    assert atomic.name == "atomic orders → enriched + ledger + x"
    assert [view for _, view in atomic.scope.others] == ["table", "listing"]
    assert "A dead letter in rejected is not an effect." in atomic.fine_print.promise
    assert "The number and content of effects" in atomic.fine_print.not_tested
    assert "the folder was listed" in atomic.fine_print.not_tested
    with pytest.raises(BadTrial, match=r"cannot reveal a loss; .*at-most-once or atomic"):
        trial_of(replace(options, claims=("atomic", "exactly-once")))
    late = {"event_time": "json:$.at", "allowed_lateness": "5s", "effects": "1"}
    with pytest.raises(BadTrial, match="--claim atomic cannot be used with --event-time"):
        trial_of(replace(options, **late))  # type: ignore[arg-type]


def test_upserts_need_last_values_that_can_reveal_a_loss(tmp_path: Path) -> None:
    file = tmp_path / "records.jsonl"

    def with_keys(keys: int) -> VerifyOptions:
        file.write_text("".join(f'{{"order_id": {n}, "who": {n % keys}}}\n' for n in range(1200)))
        return replace(OPTIONS, data=file, data_key="json:$.who", upserts="key")

    assert trial_of(with_keys(1200)).subject.orders.upserts
    with pytest.raises(BadTrial, match=r"records 1 to 1190 are all followed by a later record"):
        trial_of(with_keys(10))
    rules = tmp_path / "rules.py"
    rules.write_text("def two(order): return 2\n")
    with pytest.raises(BadTrial, match=r"0 has 2 effects; expected at most one with --upserts"):
        trial_of(replace(with_keys(1200), effects=f"{rules}:two"))


@pytest.mark.parametrize(
    ("change", "present", "absent"),
    [
        ({}, "keeps outside Kafka and the stage's database", "the folder was listed"),
        ({"outputs": ("csv:x",)}, "the folder was listed", "prints every effect"),
        ({"outputs": ("command:x",)}, "prints every effect exactly once", "the folder was listed"),
        ({"faults": ("kill program",)}, "caused network partitions or requests", "crashes or"),
        ({"command": SPARK.command}, "outside its checkpoint", "outside Kafka and"),
        ({"upserts": "key"}, "values before the last one", "only their number"),
    ],
)
def test_fine_print_says_what_was_not_tested(
    change: dict[str, object], present: str, absent: str
) -> None:
    (claim,) = trial_of(replace(OPTIONS, **change)).claims  # type: ignore[arg-type]
    assert present in claim.fine_print.not_tested
    assert absent not in claim.fine_print.not_tested
    assert "Loss of the checkpoint" in claim.fine_print.not_tested
    assert ("older values may reappear" in claim.fine_print.guarantee) is ("upserts" in change)


def test_kill_of_a_program_needs_gates_only_at_a_commit() -> None:
    anytime, before_commit = by_name(["kill program", "kill program --at before-commit"])
    assert (anytime.gated, anytime.needs) == ((), ("program",))
    assert (before_commit.gated, before_commit.needs) == (("pipeline",), ("program", "gates"))


def test_dry_run_has_no_faults_and_requires_no_hazards() -> None:
    scenario = dry_run_of(draft(SPARK))
    assert scenario.schedule == ()
    assert scenario.workload.records == 300
    assert scenario.claims
    assert not any(claim.hazards for claim in scenario.claims)


def test_claims_require_every_hazard_of_the_plan() -> None:
    options = replace(OPTIONS, outputs=("enriched", "postgres:ledger"), claims=("at-least-once",))
    for profile in PROFILES.values():
        scenario = trial_of(options, profile)
        scheduled = {at.hazard for at in scenario.schedule}
        assert None not in scheduled
        assert {claim.hazards for claim in scenario.claims} == {frozenset(scheduled)}


def test_accepted_hazard_is_scheduled_but_not_required() -> None:
    scenario = trial_of(replace(OPTIONS, accepted=("evicted", "database-slow")))
    assert "evicted" in {at.hazard for at in scenario.schedule}
    (claim,) = scenario.claims
    assert "evicted" not in claim.hazards
    assert scenario.title.endswith("(evicted accepted untested)"), "it has no database"
    assert "Accepted untested: evicted (it loses its partitions" in claim.fine_print.not_tested
    (other,) = trial_of(OPTIONS).claims
    assert other.hazards == claim.hazards | {"evicted"}


def test_fine_print_names_hazards_that_do_not_apply() -> None:
    (claim,) = trial_of(OPTIONS).claims
    not_tested = claim.fine_print.not_tested
    assert "producer-fenced: it has no transactions" in not_tested
    assert "produce-refused: only --preset brutal tests it" in not_tested


def test_named_faults_require_every_hazard_unless_all_are_accepted() -> None:
    (planned,) = trial_of(OPTIONS).claims
    options = replace(OPTIONS, faults=("kill program",))
    scenario = trial_of(options)
    assert [at.do for at in scenario.schedule] == [Kill(Program())]
    assert scenario.claims[0].hazards == planned.hazards
    scenario = trial_of(replace(options, accepted=("all",)))
    assert not scenario.claims[0].hazards, "any hazard will do"
    assert scenario.title.endswith("(all hazards accepted untested)")
    assert "Accepted untested: " in scenario.claims[0].fine_print.not_tested


def test_workload_has_enough_records_for_every_fault() -> None:
    for preset in ("gentle", "standard", "brutal"):
        scenario = trial_of(replace(OPTIONS, preset=preset, rate=400))
        assert scenario.workload.records >= 600 * len(scenario.schedule)
        seconds = scenario.workload.records / scenario.workload.rate
        assert seconds >= 5 * len(scenario.schedule), "the input goes on to the last fault"
        assert scenario.workload.rate <= 400


def test_a_slow_program_gets_fewer_inputs_at_a_rate_that_it_bears() -> None:
    slow = trial_of(OPTIONS, replace(COPY, speed=30.0))
    faults = len(slow.schedule)
    assert (slow.workload.rate, slow.workload.records) == (21, 126 * faults)
    crawling = trial_of(OPTIONS, replace(COPY, speed=0.5))
    assert (crawling.workload.rate, crawling.workload.records) == (1, 20 * faults)
    assert trial_of(OPTIONS, replace(COPY, speed=9_000.0)).workload == trial_of(OPTIONS).workload
    asked = trial_of(replace(OPTIONS, records=9_000), replace(COPY, speed=30.0))
    assert (asked.workload.rate, asked.workload.records) == (21, 9_000)


def test_last_records_are_sentinels() -> None:
    assert trial_of(OPTIONS).workload.sentinels == SENTINELS
    few = trial_of(replace(OPTIONS, records=500, faults=("kill program",)))
    assert few.workload.sentinels == 50
    assert dry_run_of(draft(OPTIONS)).workload.sentinels


def test_profile_and_settle_determine_the_quiet_time() -> None:
    slow = replace(COPY, rest=42.0, pause=20.0)
    subject = trial_of(OPTIONS, slow).subject
    assert (subject.rest, subject.pause) == (42.0, 20.0)
    assert trial_of(replace(OPTIONS, settle=100.0), slow).subject.rest == 100.0
    assert trial_of(replace(OPTIONS, settle=1.0), slow).subject.rest == 42.0, (
        "--settle only raises it"
    )
    assert draft(OPTIONS).subject.rest == QUIET
    described = trial_of(OPTIONS, slow).subject.configuration()["pipeline"]["profile"]
    assert described == slow.sentences()


def test_spark_job_gets_faults_of_the_driver() -> None:
    def target_types(schedule: tuple[ScheduledFault, ...]) -> set[object]:
        return {type(getattr(at.do, "target", None)) for at in schedule}

    assert SparkDriver in target_types(trial_of(SPARK, SPARK_JOB).schedule)
    assert SparkDriver not in target_types(trial_of(OPTIONS).schedule)


def test_expected_contents_become_rows_of_the_history(tmp_path: Path) -> None:
    file = tmp_path / "rules.py"
    file.write_text(
        "def double(order): return {'id': order['order_id'], 'cents': order['amount_cents'] * 2}\n"
        "def big(order): return double(order) if order['amount_cents'] > 50_000 else None\n"
    )
    expects = (f"enriched={file}:double", f"ledger={file}:big")
    options = replace(
        OPTIONS, outputs=("enriched", "postgres:ledger"), records=400, expects=expects
    )
    scenario = draft(replace(options, faults=("kill program",)))
    workload, subject = scenario.workload, scenario.subject
    rows = list(workload.expected(subject, producer=0, seed=1))
    in_ledger = {row["record"] for row in rows if row["sink"] == "ledger"}
    everywhere = {row["record"] for row in rows if row["sink"] == "enriched"}
    assert len(everywhere) == 200
    assert 0 < len(in_ledger) < len(everywhere)
    assert json.loads(rows[0]["digest"]).keys() == {"id", "cents"}
    assert not any(row["optional"] for row in rows)
    assert everywhere < workload.required(seed=1)
    assert workload.elsewhere("enriched", seed=1) == frozenset()
    assert everywhere & workload.elsewhere("ledger", seed=1) == everywhere - in_ledger
    (claim, _) = scenario.claims
    assert "with the right content" in claim.fine_print.promise
    assert "content of effects" not in claim.fine_print.not_tested


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"effects": "2"}, "--expect cannot be used with --effects"),
        ({"expects": (), "ignored": ("json:$.at",)}, "--ignore needs --expect"),
        ({"states": ("x.py:f",)}, "--expect-state cannot be used with --expect or --effects"),
        ({"expects": (), "states": ("x.py:f",)}, "--expect-state needs --upserts RULE"),
        ({"expects": ("nix.py:f",)}, "nix.py"),
    ],
)
def test_conflicting_content_options_are_refused(
    change: dict[str, object], message: str, tmp_path: Path
) -> None:
    (tmp_path / "rules.py").write_text("def f(order): return order\n")
    options = replace(OPTIONS, expects=(f"{tmp_path}/rules.py:f",))
    with pytest.raises(BadTrial, match=message):
        draft(replace(options, **change))  # type: ignore[arg-type]


def test_instances_need_a_partition_each_and_no_spark_job() -> None:
    scenario = draft(replace(OPTIONS, instances=3))
    assert scenario.subject.configuration()["pipeline"]["instances"] == "3"
    with pytest.raises(BadTrial, match="4 instances cannot share 3 partitions; expected --part"):
        draft(replace(OPTIONS, instances=4))
    with pytest.raises(BadTrial, match="--instances cannot be used with a Spark job"):
        draft(replace(SPARK, instances=2))


TIMED = replace(OPTIONS, event_time="json:$.at", allowed_lateness="10s")


def test_event_times_are_generated_and_sentinels_advance_the_watermark() -> None:
    orders = trial_of(TIMED).workload
    assert isinstance(orders, Orders)
    assert orders.times == EventTime(path="$.at", format="iso", lateness=10_000_000)
    assert orders.sentinels == SENTINELS
    few = trial_of(replace(TIMED, records=290, preset="gentle", faults=("kill program",))).workload
    assert few.sentinels == 24, "three rounds of two producers"
    assert set(orders.odd) <= {KEYS, OVERSIZE}, "an empty partition holds a watermark back"
    (claim,) = trial_of(TIMED).claims
    assert "($.at) is 10 s or more before" in claim.fine_print.promise
    assert "event time" not in trial_of(OPTIONS).claims[0].fine_print.promise


def test_dry_run_with_event_times_sends_enough_to_close_windows() -> None:
    plain, timed = (dry_run_of(draft(options)).workload for options in (OPTIONS, TIMED))
    assert (timed.records, timed.rate) == (4 * plain.records, 4 * plain.rate)


def test_trial_with_event_times_sends_more_records_per_fault() -> None:
    plain, timed = trial_of(OPTIONS), trial_of(TIMED)
    assert timed.workload.records / len(timed.schedule) == pytest.approx(
        4 * plain.workload.records / len(plain.schedule)
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (replace(OPTIONS, event_time="json:$.at"), "must be given together"),
        (replace(OPTIONS, allowed_lateness="10s"), "must be given together"),
        (replace(TIMED, upserts="key"), "cannot be used with --upserts"),
        (replace(TIMED, allowed_lateness="ten"), "invalid --allowed-lateness 'ten'"),
        (replace(TIMED, event_time_format="ns"), "invalid --event-time-format 'ns'"),
        (
            replace(OPTIONS, identity="json:$.ids[*]", upserts="key"),
            "cannot be used with --expect or",
        ),
        (replace(OPTIONS, identity="regex:a[*]"), r"expected \[\*\] only in json:"),
    ],
)
def test_invalid_event_time_options_are_refused(options: VerifyOptions, message: str) -> None:
    with pytest.raises(BadTrial, match=message):
        draft(options)
