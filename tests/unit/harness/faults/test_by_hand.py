"""Parsing of faults on the command line."""

from __future__ import annotations

import json

import pytest

from onceproof.harness.faults.by_hand import asked, by_hand
from onceproof.harness.faults.cluster.delete_records import DeleteRecords
from onceproof.harness.faults.cluster.move_group_offsets import MoveGroupOffsets
from onceproof.harness.faults.kill import Kill
from onceproof.harness.faults.links.cut_after import CutAfter
from onceproof.harness.faults.links.cut_clients import CutClients
from onceproof.harness.faults.links.cut_link import CutLink
from onceproof.harness.faults.links.delay import Delay
from onceproof.harness.faults.links.isolate_broker import IsolateBroker
from onceproof.harness.faults.links.lose_responses import LoseResponses
from onceproof.harness.faults.links.split import Split
from onceproof.harness.faults.messages.hit_message import HitMessage
from onceproof.harness.faults.messages.message import Message
from onceproof.harness.faults.pause import Pause
from onceproof.harness.faults.stop import Stop
from onceproof.harness.faults.targets.brokers import (
    ActiveController,
    Apart,
    CoordinatorOf,
    FollowerOf,
    LeaderOf,
    Node,
)
from onceproof.harness.faults.targets.flink_job import FlinkJob
from onceproof.harness.faults.targets.spark_driver import SparkDriver
from onceproof.harness.faults.words import UnknownFault
from onceproof.harness.schedule.as_json import schedule_from_json, schedule_to_json
from onceproof.harness.schedule.scenario import ScheduledFault
from onceproof.harness.schedule.supported_faults import is_supported
from onceproof.harness.stage.backends import DOCKER, LOCAL, offers


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        ("isolate broker-2", IsolateBroker(target=Node(name="broker-2"))),
        (
            "kill leader:my-topic.v2-17",
            Kill(LeaderOf(topic="my-topic.v2", partition=17)),
        ),
        ("cut pipeline postgres", CutLink(source="pipeline", target=Node(name="postgres"))),
        ("kill follower:a-b-3", Kill(FollowerOf(topic="a-b", partition=3))),
        (
            "kill coordinator:group:my:group",
            Kill(CoordinatorOf(of="group", name="my:group")),
        ),
        (
            "pause leader:a-0/not/coordinator:txn:a/not/b",
            Pause(
                Apart(
                    leader=LeaderOf(topic="a", partition=0),
                    other=CoordinatorOf(of="transaction", name="a/not/b"),
                )
            ),
        ),
        (
            "kill coordinator:txn:a/not/coordinator:group:b",
            Kill(
                Apart(
                    leader=CoordinatorOf(of="transaction", name="a"),
                    other=CoordinatorOf(of="group", name="b"),
                )
            ),
        ),
        ("isolate controller", IsolateBroker(target=ActiveController())),
        ("lose-responses broker-1", LoseResponses(target=Node(name="broker-1"))),
        ("pause broker-3", Pause(Node(name="broker-3"))),
        ("stop broker-3", Stop(Node(name="broker-3"))),
        (
            "delay producer broker-1 responses 80 20",
            Delay(
                source="producer",
                target=Node(name="broker-1"),
                way="responses",
                milliseconds=80,
                jitter=20,
            ),
        ),
        (
            "cut-after pipeline postgres requests 7",
            CutAfter(source="pipeline", target=Node(name="postgres"), way="requests", size=7),
        ),
        (
            "message producer response Produce error:NOT_LEADER_FOR_PARTITION",
            HitMessage(
                message=Message(source="producer", direction="response", api="Produce"),
                action="error",
                error="NOT_LEADER_FOR_PARTITION",
            ),
        ),
        ("cut-clients all", CutClients()),
        ("delete-records a-b-2 all", DeleteRecords(topic="a-b", partition=2)),
        ("delete-records a-b-2 9", DeleteRecords(topic="a-b", partition=2, before=9)),
        (
            "move-group-offsets billing a-b-2 back 9",
            MoveGroupOffsets(group="billing", topic="a-b", partition=2, by=-9),
        ),
        (
            "split producer,broker-1 broker-2",
            Split(one=("broker-1", "producer"), other=("broker-2",)),
        ),
        ("kill driver", Kill(SparkDriver())),
        ("kill driver --at after-sink-write", Kill(SparkDriver(), at="after-sink-write")),
        ("kill flink-job", Kill(FlinkJob())),
        ("kill flink-job --at checkpoint-begun", Kill(FlinkJob(), at="checkpoint-begun")),
    ],
)
def test_parses_faults_that_survive_a_schedule_round_trip(words: str, fault: object) -> None:
    name, *rest = words.split()
    assert asked(name, rest) == fault
    # Replays read the fault from a schedule.
    schedule = json.dumps(schedule_to_json([ScheduledFault(name="a", do=asked(name, rest))]))
    assert schedule_from_json(json.loads(schedule)) == (
        ScheduledFault(name="a", do=asked(name, rest)),
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("melt broker-1", "unknown fault 'melt': expected one of .*cut, .*isolate, .*kill"),
        ("isolate", "expected isolate TARGET, found isolate"),
        ("cut pipeline", "expected cut AUDIENCE TARGET, found cut pipeline"),
        ("isolate broker-1 broker-2", "expected isolate TARGET, found isolate broker-1 broker-2"),
        ("isolate broker", "invalid target 'broker': expected broker-<n>, leader:"),
        ("pause postgres", "invalid target 'postgres': expected broker-<n>, leader:.*database"),
        (
            "cut pipeline db",
            "invalid target 'db': expected broker-<n>, .*, queue-broker, http-service, or",
        ),
        ("isolate leader:payments", "invalid target 'leader:payments'"),
        ("hold producer broker-1 both", "invalid direction 'both': expected requests or responses"),
        ("throttle producer broker-1 requests 0", "invalid amount '0': expected an integer ≥"),
        ("slice producer broker-1 requests 1 9", "invalid amount '1': .* ≥ 2"),
        ("delay producer broker-1 requests -5 0", "invalid amount '-5'"),
        ("kill coordinator:txn:", "invalid target 'coordinator:txn:'"),
        ("kill controller/not/broker-1", "invalid target 'controller/not/broker-1'"),
        ("kill leader:a-0/not/nobody", "invalid target 'nobody'"),
        ("split broker-1,broker-2 broker-2,broker-3", "broker-2 cannot be on both sides"),
        ("delete-records payments-0 some", "invalid amount 'some': .* ≥ 1, or all"),
        ("move-group-offsets g payments-0 up 9", "invalid direction 'up': expected back or forth"),
        ("move-group-offsets g payments back 9", "invalid partition 'payments'"),
        ("cut-offset-log mended", "invalid cut 'mended': expected deleted or torn"),
        ("strike-database commit melt", "invalid act 'melt': expected kill-undone, .* or stop"),
        ("withhold-writes out melt", "invalid ending 'melt': expected kill or stop"),
        ("one-way broker-1 up", "invalid direction 'up': expected out or in"),
        ("message broker-1 request Produce drop", "invalid audience 'broker-1'"),
        (
            "message producer up Produce drop",
            "invalid direction 'up': expected request or response",
        ),
        ("message producer request Prod drop", "Prod"),
        ("message producer request Produce report", "invalid action 'report': expected hold"),
        ("message producer response Produce duplicate", "duplicate requires a request"),
        ("message producer response Produce error", "requires the name of an error"),
        ("kill producer", "invalid target 'producer': .*producer-<n>"),
        ("cut-at-commit member lands", "invalid member 'member': expected member-0, member-1"),
        ("stop driver --at idle", "invalid window 'idle': expected none: stop driver takes no w"),
        ("kill driver --at", "expected kill TARGET .--at WINDOW., found kill driver --at"),
        ("stop flink-job --at checkpoint-begun", "invalid window .*: stop flink-job takes no w"),
        (
            "kill driver --at lunch",
            "invalid window 'lunch': expected after-offset-log or during-",
        ),
        (
            "kill flink-job --at lunch",
            "invalid window 'lunch': expected checkpoint-begun or checkp",
        ),
    ],
)
def test_rejects_invalid_faults(words: str, message: str) -> None:
    name, *rest = words.split()
    with pytest.raises(UnknownFault, match=message):
        asked(name, rest)


def test_every_fault_has_a_description() -> None:
    for name, entry in by_hand().items():
        assert entry.name == name
        assert len(entry.says.split()) > 4


@pytest.mark.parametrize("backend", [LOCAL, DOCKER])
def test_processes_and_containers_support_all_faults(backend: str) -> None:
    subject_offers = {"driver", "executors", "member", "worker", "commits", "program", "job"}
    there = offers(backend) | subject_offers | {"forwarder", "new checkpoint"}
    for name, entry in by_hand().items():
        assert is_supported(asked(name, entry.example.split()[1:]), there), name
