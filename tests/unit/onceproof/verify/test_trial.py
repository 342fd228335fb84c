"""From what a user says of a pipeline to what is done to it."""

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
from onceproof.harness.links.topology import ARTEMIS
from onceproof.harness.schedule.as_json import schedule_to_json
from onceproof.harness.schedule.scenario import ScheduledFault
from onceproof.harness.schedule.supported_faults import with_supported_faults
from onceproof.harness.stage.backends import EVERYTHING, offers
from onceproof.harness.tools.error import SetupError
from onceproof.harness.user_pipeline.event_time import EventTime
from onceproof.harness.user_pipeline.look import QUIET
from onceproof.harness.user_pipeline.orders import Orders
from onceproof.harness.user_pipeline.profile import KEYS, OVERSIZE
from onceproof.harness.user_pipeline.subject import OwnPipeline
from onceproof.verify.named_faults import by_name
from onceproof.verify.options import BadTrial, VerifyOptions
from onceproof.verify.trial import draft, dry_run_of
from onceproof.verify.workload import SENTINELS
from tests.unit.onceproof.verify.profiles_made_up import (
    COPY,
    PROFILES,
    SPARK_JOB,
    TO_SERVICE,
    tried,
)

SAID = VerifyOptions(
    command=("python", "job.py", "{bootstrap}"), folder=Path("/somewhere"), outputs=("enriched",)
)
SPARK = replace(SAID, command=("spark-submit", "job.py", "--checkpoint={checkpoint}"))


def test_what_is_said_is_what_is_tried() -> None:
    scenario = tried(
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
    assert "The content of effects" in scenario.claims[0].fine_print.not_tested
    assert [(t.name, t.partitions) for t in scenario.all_topics] == [("orders", 4), ("enriched", 4)]
    assert scenario.workload.records == 5000


def test_other_topics_are_made_once() -> None:
    said = replace(SAID, topics=("enriched", "state", "orders", "state"))
    assert [topic.name for topic in tried(said).all_topics] == ["orders", "enriched", "state"]


def test_a_queue_among_outputs_has_its_broker_killed_too() -> None:
    said = replace(SAID, outputs=("queue:q", "enriched"), command=("x", "{queues}"))
    scenario = tried(said)
    assert scenario.queues == ("q",)
    assert [topic.name for topic in scenario.all_topics] == ["orders", "enriched"]
    assert scenario.needs == {"queues"}
    assert Kill(QueueBroker()) in {at.do for at in scenario.schedule}
    assert with_supported_faults(scenario, EVERYTHING) == (scenario, ())
    assert not tried(SAID).needs
    assert Kill(QueueBroker()) not in {at.do for at in tried(SAID).schedule}
    brutal = tried(replace(said, preset="brutal"))
    assert CutLink(source="pipeline", target=Node(name=ARTEMIS)) in {
        at.do for at in brutal.schedule
    }
    (claim, _) = scenario.claims
    assert (claim.scope.sink, claim.scope.view) == ("q", "queue")
    assert "queue-broker-lost" in claim.hazards
    assert "read as a log" in claim.fine_print.not_tested


def test_requests_are_effects_and_their_service_is_hit_too() -> None:
    said = replace(
        SAID,
        outputs=("http:v1/shipments", "http:returns"),
        command=("x", "{http}/v1/shipments"),
        idempotency_key="Idempotency-Key",
    )
    scenario = tried(said, TO_SERVICE)
    assert scenario.http == HttpSettings(paths=("v1/shipments", "returns"), key="Idempotency-Key")
    assert scenario.needs == {"http"}
    assert [topic.name for topic in scenario.all_topics] == ["orders"]
    assert Kill(HttpService()) in {at.do for at in scenario.schedule}
    assert with_supported_faults(scenario, EVERYTHING) == (scenario, ())
    with pytest.raises(SetupError, match="needs http"):
        with_supported_faults(scenario, offers("docker"))
    (claim, _) = scenario.claims
    assert (claim.scope.sink, claim.scope.view) == ("v1/shipments", "requests")
    assert "never forgets an idempotency key" in claim.fine_print.not_tested
    assert tried(SAID).http is None


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"command": ("x", "{http}")}, "add --output http:PATH"),
        ({"idempotency_key": "K"}, "--idempotency-key needs the HTTP service"),
        ({"outputs": ("http:a",)}, r"expected {http} in it, such as {http}/a"),
        ({"outputs": ("http:/a",), "command": ("x", "{http}")}, "invalid path '/a'"),
        ({"outputs": ("http://x/a",), "command": ("x", "{http}")}, "invalid path '//x/a'"),
    ],
)
def test_the_http_service_is_asked_for_where_there_is_one(
    change: dict[str, Any], says: str
) -> None:
    with pytest.raises(BadTrial, match=says):
        draft(replace(SAID, **change))


_SERVICE = {
    "stop_command": "systemctl stop app",
    "kill_command": "systemctl kill -s KILL 'my app'",
    "healthy": "http://127.0.0.1:80/up",
}


def test_a_service_that_only_commands_reach_is_not_paused() -> None:
    said = replace(SAID, **_SERVICE)
    scenario = tried(said)
    subject = scenario.subject
    assert isinstance(subject, OwnPipeline)
    assert subject.kill_command == ("systemctl", "kill", "-s", "KILL", "my app")
    hazards = {at.hazard for at in scenario.schedule}
    assert {at.hazard for at in tried(SAID).schedule} - hazards == {"evicted"}
    (claim,) = scenario.claims
    assert (
        "evicted, instance-paused, paused: it is controlled by commands"
        in claim.fine_print.not_tested
    )


@pytest.mark.parametrize(
    ("change", "says"),
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
def test_a_service_needs_all_that_ends_it(change: dict[str, Any], says: str) -> None:
    with pytest.raises(BadTrial, match=says):
        draft(replace(SAID, **{**_SERVICE, **change}))


def test_a_container_gets_variables_and_is_paused() -> None:
    said = replace(SAID, command=(), image="app:1", variables=("BROKERS={bootstrap}", "A=b=c"))
    scenario = tried(said)
    subject = scenario.subject
    assert isinstance(subject, OwnPipeline)
    assert subject.variables == (("BROKERS", "{bootstrap}"), ("A", "b=c"))
    assert subject.asked == {"bootstrap"}
    assert "docker run '--env=BROKERS={bootstrap}' --env=A=b=c app:1" in subject.says
    assert {at.hazard for at in scenario.schedule} == {at.hazard for at in tried(SAID).schedule}


@pytest.mark.parametrize(
    ("change", "says"),
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
def test_a_container_is_asked_for_what_it_can_have(change: dict[str, Any], says: str) -> None:
    with pytest.raises(BadTrial, match=says):
        draft(replace(SAID, image="app:1", **change))


RELAY = {"command": ("x", "{bootstrap}", "{database}"), "feed": "python feed.py {database}"}


def test_a_pipeline_that_reads_a_table_meets_no_hazard_of_a_topic() -> None:
    scenario = tried(replace(SAID, **RELAY))
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
    ("change", "says"),
    [
        ({"feed": " "}, "--feed is empty"),
        ({"feed": "feed {table}"}, "unknown placeholder"),
        ({"command": ("x", "{input}")}, r"expected no \{input\} in its command"),
        ({"command": ("x", "{checkpoint}")}, "cannot be used with several inputs"),
    ],
)
def test_a_feed_is_for_a_pipeline_that_reads_no_topic(change: dict[str, Any], says: str) -> None:
    with pytest.raises(BadTrial, match=says):
        draft(replace(SAID, **{**RELAY, **change}))


@pytest.mark.parametrize(
    ("words", "lasts"),
    [
        ("pause program", True),
        ("pause driver", True),
        ("cut pipeline broker-2", True),
        ("pause broker-2", False),
        ("kill program", False),
    ],
)
def test_what_acts_by_how_long_it_lasts_does_not_end_as_soon_as_it_is_seen(
    words: str, lasts: bool
) -> None:
    (at,) = by_name([words])
    assert isinstance(at.until, Acknowledged) is lasts


def test_faults_by_name_and_by_file(tmp_path: Path) -> None:
    schedule = by_name(["kill driver --at after-commit", "isolate broker-2"])
    assert schedule[0].do == Kill(SparkDriver(), at="after-commit")
    assert schedule[1].after == (schedule[0].name,)
    named = tried(replace(SPARK, faults=("kill driver --at after-commit", "isolate broker-2")))
    assert named.schedule == schedule
    planned = tried(SPARK)
    assert [claim.hazards for claim in named.claims] == [c.hazards for c in planned.claims]
    file = tmp_path / "schedule.json"
    file.write_text(json.dumps(schedule_to_json(schedule)))
    assert tried(replace(SPARK, schedule=file)).schedule == schedule
    file.write_text("no")
    with pytest.raises(BadTrial, match=r"schedule\.json: "):
        tried(replace(SPARK, schedule=file))


@pytest.mark.parametrize(
    ("change", "says"),
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
def test_what_cannot_be_tried_is_said_before_anything_starts(
    change: dict[str, object], says: str
) -> None:
    with pytest.raises(BadTrial, match=says):
        tried(replace(SAID, **change))  # type: ignore[arg-type]


def test_a_file_is_looked_through_before_anything_starts(tmp_path: Path) -> None:
    file = tmp_path / "records.jsonl"
    file.write_text("".join(f'{{"order_id": {n}}}\n' for n in range(1500)))
    assert tried(replace(SAID, data=file)).workload.records == 1500
    assert tried(replace(SAID, data=file, records=1200)).workload.records == 1200
    file.write_text(file.read_text() + '{"order_id": 7}\n')
    with pytest.raises(
        BadTrial, match=r"line 1501 has the same identity as records\.jsonl line 8: '7'"
    ):
        tried(replace(SAID, data=file))


def test_dead_letters_stand_beside_every_output() -> None:
    scenario = tried(
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
        assert "A dead letter in rejected replaces all effects" in claim.fine_print.promise
        assert "Whether a dead letter was justified." in claim.fine_print.not_tested


def test_outputs_are_atomic_in_one_claim() -> None:
    said = replace(
        SAID,
        outputs=("enriched", "postgres:ledger", "csv:x"),
        claims=("at-most-once", "atomic"),
        dead_letters="rejected",
        effects="0..1",
    )
    scenario = tried(said)
    *each, together = scenario.claims
    assert [claim.name for claim in each] == [
        f"at-most-once orders → {sink}" for sink in ("enriched", "ledger", "x")
    ]
    assert together.name == "atomic orders → enriched + ledger + x"
    assert [view for _, view in together.scope.others] == ["table", "listing"]
    assert "A dead letter in rejected is not an effect." in together.fine_print.promise
    assert "The number and content of effects" in together.fine_print.not_tested
    assert "the folder was listed" in together.fine_print.not_tested
    with pytest.raises(BadTrial, match=r"cannot reveal a loss; .*at-most-once or atomic"):
        tried(replace(said, claims=("atomic", "exactly-once")))
    late = {"event_time": "json:$.at", "allowed_lateness": "5s", "effects": "1"}
    with pytest.raises(BadTrial, match="--claim atomic cannot be used with --event-time"):
        tried(replace(said, **late))  # type: ignore[arg-type]


def test_values_are_lost_only_where_somebody_looks(tmp_path: Path) -> None:
    file = tmp_path / "records.jsonl"

    def of_keys(keys: int) -> VerifyOptions:
        file.write_text("".join(f'{{"order_id": {n}, "who": {n % keys}}}\n' for n in range(1200)))
        return replace(SAID, data=file, data_key="json:$.who", upserts="key")

    assert tried(of_keys(1200)).subject.orders.upserts
    with pytest.raises(BadTrial, match=r"records 1 to 1190 are all followed by a later record"):
        tried(of_keys(10))
    rules = tmp_path / "rules.py"
    rules.write_text("def two(order): return 2\n")
    with pytest.raises(BadTrial, match=r"0 has 2 effects; expected at most one with --upserts"):
        tried(replace(of_keys(1200), effects=f"{rules}:two"))


@pytest.mark.parametrize(
    ("change", "says", "not_said"),
    [
        ({}, "keeps outside Kafka and the stage's database", "the folder was listed"),
        ({"outputs": ("csv:x",)}, "the folder was listed", "prints every effect"),
        ({"outputs": ("command:x",)}, "prints every effect exactly once", "the folder was listed"),
        ({"faults": ("kill program",)}, "caused network partitions or requests", "crashes or"),
        ({"command": SPARK.command}, "outside its checkpoint", "outside Kafka and"),
        ({"upserts": "key"}, "values before the last one", "only their number"),
    ],
)
def test_the_report_says_what_was_not_tested(
    change: dict[str, object], says: str, not_said: str
) -> None:
    (claim,) = tried(replace(SAID, **change)).claims  # type: ignore[arg-type]
    assert says in claim.fine_print.not_tested
    assert not_said not in claim.fine_print.not_tested
    assert "Loss of the checkpoint" in claim.fine_print.not_tested
    assert ("older values may reappear" in claim.fine_print.guarantee) is ("upserts" in change)


def test_a_program_needs_gates_only_where_its_commit_is_met() -> None:
    now, before = by_name(["kill program", "kill program --at before-commit"])
    assert (now.gated, now.needs) == ((), ("program",))
    assert (before.gated, before.needs) == (("pipeline",), ("program", "gates"))


def test_a_dry_run_breaks_nothing_and_asks_for_no_hazard() -> None:
    scenario = dry_run_of(draft(SPARK))
    assert scenario.schedule == ()
    assert scenario.workload.records == 300
    assert scenario.claims
    assert not any(claim.hazards for claim in scenario.claims)


def test_a_claim_is_put_to_every_hazard_of_the_plan() -> None:
    said = replace(SAID, outputs=("enriched", "postgres:ledger"), claims=("at-least-once",))
    for profile in PROFILES.values():
        scenario = tried(said, profile)
        brought = {at.hazard for at in scenario.schedule}
        assert None not in brought
        assert {claim.hazards for claim in scenario.claims} == {frozenset(brought)}


def test_an_accepted_hazard_is_brought_and_not_asked_for() -> None:
    scenario = tried(replace(SAID, accepted=("evicted", "database-slow")))
    assert "evicted" in {at.hazard for at in scenario.schedule}
    (claim,) = scenario.claims
    assert "evicted" not in claim.hazards
    assert scenario.title.endswith("(evicted accepted untested)"), "it has no database"
    assert "Accepted untested: evicted (it loses its partitions" in claim.fine_print.not_tested
    (other,) = tried(SAID).claims
    assert other.hazards == claim.hazards | {"evicted"}


def test_the_fine_print_names_hazards_that_the_pipeline_does_not_have() -> None:
    (claim,) = tried(SAID).claims
    said = claim.fine_print.not_tested
    assert "producer-fenced: it has no transactions" in said
    assert "produce-refused: only --preset brutal tests it" in said


def test_faults_by_name_must_bring_every_hazard_unless_all_are_accepted() -> None:
    (planned,) = tried(SAID).claims
    said = replace(SAID, faults=("kill program",))
    scenario = tried(said)
    assert [at.do for at in scenario.schedule] == [Kill(Program())]
    assert scenario.claims[0].hazards == planned.hazards
    scenario = tried(replace(said, accepted=("all",)))
    assert not scenario.claims[0].hazards, "any hazard will do"
    assert scenario.title.endswith("(all hazards accepted untested)")
    assert "Accepted untested: " in scenario.claims[0].fine_print.not_tested


def test_there_are_records_for_every_fault() -> None:
    for preset in ("gentle", "standard", "brutal"):
        scenario = tried(replace(SAID, preset=preset, rate=400))
        assert scenario.workload.records >= 600 * len(scenario.schedule)
        seconds = scenario.workload.records / scenario.workload.rate
        assert seconds >= 5 * len(scenario.schedule), "the input goes on to the last fault"
        assert scenario.workload.rate <= 400


def test_a_slow_program_gets_fewer_inputs_at_a_rate_that_it_bears() -> None:
    slow = tried(SAID, replace(COPY, speed=30.0))
    faults = len(slow.schedule)
    assert (slow.workload.rate, slow.workload.records) == (21, 126 * faults)
    crawling = tried(SAID, replace(COPY, speed=0.5))
    assert (crawling.workload.rate, crawling.workload.records) == (1, 20 * faults)
    assert tried(SAID, replace(COPY, speed=9_000.0)).workload == tried(SAID).workload
    asked = tried(replace(SAID, records=9_000), replace(COPY, speed=30.0))
    assert (asked.workload.rate, asked.workload.records) == (21, 9_000)


def test_the_last_records_are_kept_as_sentinels() -> None:
    assert tried(SAID).workload.sentinels == SENTINELS
    few = tried(replace(SAID, records=500, faults=("kill program",)))
    assert few.workload.sentinels == 50
    assert dry_run_of(draft(SAID)).workload.sentinels


def test_the_profile_says_how_long_outputs_may_stand_still() -> None:
    slow = replace(COPY, rest=42.0, pause=20.0)
    subject = tried(SAID, slow).subject
    assert (subject.rest, subject.pause) == (42.0, 20.0)
    assert tried(replace(SAID, settle=100.0), slow).subject.rest == 100.0
    assert tried(replace(SAID, settle=1.0), slow).subject.rest == 42.0, "--settle only raises it"
    assert draft(SAID).subject.rest == QUIET
    told = tried(SAID, slow).subject.configuration()["pipeline"]["profile"]
    assert told == slow.sentences()


def test_a_job_with_a_checkpoint_gets_the_hazards_of_spark() -> None:
    def strikes(schedule: tuple[ScheduledFault, ...]) -> set[object]:
        return {type(getattr(at.do, "target", None)) for at in schedule}

    assert SparkDriver in strikes(tried(SPARK, SPARK_JOB).schedule)
    assert SparkDriver not in strikes(tried(SAID).schedule)


def test_contents_that_are_expected_are_rows_of_the_history(tmp_path: Path) -> None:
    file = tmp_path / "rules.py"
    file.write_text(
        "def double(order): return {'id': order['order_id'], 'cents': order['amount_cents'] * 2}\n"
        "def big(order): return double(order) if order['amount_cents'] > 50_000 else None\n"
    )
    expects = (f"enriched={file}:double", f"ledger={file}:big")
    options = replace(SAID, outputs=("enriched", "postgres:ledger"), records=400, expects=expects)
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
    ("change", "says"),
    [
        ({"effects": "2"}, "--expect cannot be used with --effects"),
        ({"expects": (), "ignored": ("json:$.at",)}, "--ignore needs --expect"),
        ({"states": ("x.py:f",)}, "--expect-state cannot be used with --expect or --effects"),
        ({"expects": (), "states": ("x.py:f",)}, "--expect-state needs --upserts RULE"),
        ({"expects": ("nix.py:f",)}, "nix.py"),
    ],
)
def test_what_cannot_go_with_contents(change: dict[str, object], says: str, tmp_path: Path) -> None:
    (tmp_path / "rules.py").write_text("def f(order): return order\n")
    options = replace(SAID, expects=(f"{tmp_path}/rules.py:f",))
    with pytest.raises(BadTrial, match=says):
        draft(replace(options, **change))  # type: ignore[arg-type]


def test_instances_need_a_partition_each_and_are_no_drivers() -> None:
    scenario = draft(replace(SAID, instances=3))
    assert scenario.subject.configuration()["pipeline"]["instances"] == "3"
    with pytest.raises(BadTrial, match="4 instances cannot share 3 partitions; expected --part"):
        draft(replace(SAID, instances=4))
    with pytest.raises(BadTrial, match="--instances cannot be used with a Spark job"):
        draft(replace(SPARK, instances=2))


TIMED = replace(SAID, event_time="json:$.at", allowed_lateness="10s")


def test_event_times_are_made_up_and_the_last_rounds_push_the_watermark_on() -> None:
    orders = tried(TIMED).workload
    assert isinstance(orders, Orders)
    assert orders.times == EventTime(path="$.at", format="iso", lateness=10_000_000)
    assert orders.sentinels == SENTINELS
    few = tried(replace(TIMED, records=290, preset="gentle", faults=("kill program",))).workload
    assert few.sentinels == 24, "three rounds of two producers"
    assert set(orders.odd) <= {KEYS, OVERSIZE}, "an empty partition holds a watermark back"
    (claim,) = tried(TIMED).claims
    assert "($.at) is 10 s or more before" in claim.fine_print.promise
    assert "event time" not in tried(SAID).claims[0].fine_print.promise


def test_a_dry_run_with_event_times_sends_enough_to_close_windows() -> None:
    plain, timed = (dry_run_of(draft(said)).workload for said in (SAID, TIMED))
    assert (timed.records, timed.rate) == (4 * plain.records, 4 * plain.rate)


def test_a_trial_with_event_times_sends_enough_to_close_windows_while_inputs_come_slowly() -> None:
    plain, timed = tried(SAID), tried(TIMED)
    assert timed.workload.records / len(timed.schedule) == pytest.approx(
        4 * plain.workload.records / len(plain.schedule)
    )


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (replace(SAID, event_time="json:$.at"), "must be given together"),
        (replace(SAID, allowed_lateness="10s"), "must be given together"),
        (replace(TIMED, upserts="key"), "cannot be used with --upserts"),
        (replace(TIMED, allowed_lateness="ten"), "invalid --allowed-lateness 'ten'"),
        (replace(TIMED, event_time_format="ns"), "invalid --event-time-format 'ns'"),
        (replace(SAID, identity="json:$.ids[*]", upserts="key"), "cannot be used with --expect or"),
        (replace(SAID, identity="regex:a[*]"), r"expected \[\*\] only in json:"),
    ],
)
def test_what_cannot_be_judged_of_windows_is_refused(said: VerifyOptions, why: str) -> None:
    with pytest.raises(BadTrial, match=why):
        draft(said)
