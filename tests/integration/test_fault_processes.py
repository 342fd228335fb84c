"""Faults of processes on a real stage, as clients and the kernel see them, and gone after."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

import psutil
import psycopg
import pytest

from onceproof.harness.context.run_context import addresses, open_reader
from onceproof.harness.faults.by_hand import asked
from onceproof.harness.kafka.metadata import ClusterView
from onceproof.harness.links.topology import AUDITOR, POSTGRES
from onceproof.harness.processes.trouble import StageTrouble
from tests.end_to_end.catalogue import LATER
from tests.integration.faults import at_work, context
from tests.integration.staging import (
    Staged,
    eventually,
    refuses,
    serves,
    told_by,
    whole_everywhere,
)
from tests.integration.test_stage_brokers import sent

pytestmark = pytest.mark.integration


@contextlib.contextmanager
def pipeline(staging: Staged) -> Iterator[psycopg.Connection]:
    """A client of the database, through the proxy."""
    with contextlib.closing(psycopg.connect(staging.stage.database("pipeline"))) as connection:
        yield connection


def backends(staging: Staged) -> list[psutil.Process]:
    """The server and everything that it forked, as the kernel tells."""
    (server,) = (p for p in staging.living if p.name == POSTGRES)
    process = psutil.Process(server.session)
    return [process, *process.children(recursive=True)]


def runs(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.NoSuchProcess):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


def left(staging: Staged) -> list[int]:
    """What the table holds that the tests write to."""
    with psycopg.connect(staging.stage.database(AUDITOR)) as directly:
        return [n for (n,) in directly.execute("SELECT n FROM written ORDER BY n").fetchall()]


@pytest.mark.parametrize(
    ("fault", "says"),
    [("kill database", "ended by signal 9"), ("stop database", "ended with status 0")],
)
def test_a_database_that_ends(staging: Staged, fault: str, says: str) -> None:
    with pipeline(staging) as client:
        client.execute("CREATE TABLE written (n int)")
        client.execute("INSERT INTO written VALUES (1)")
        client.commit()
        client.execute("INSERT INTO written VALUES (2)")
        before = backends(staging)
        assert len(before) > 2
        with at_work(context(staging.stage), fault) as (injection, proof):
            assert injection.target == POSTGRES
            assert says in proof
            assert not [process for process in before if runs(process)]
            with pytest.raises(psycopg.OperationalError):
                client.commit()
            with pytest.raises(psycopg.OperationalError, match="refused"):
                psycopg.connect(staging.stage.database("pipeline"))
            assert staging.stage.disturbed()[POSTGRES] == "not running"
            with pytest.raises(StageTrouble, match="postgres cannot be killed: it is not running"):
                asked("kill", ["database"]).inject(context(staging.stage), "again")
    assert left(staging) == [1]
    with pipeline(staging) as client:
        client.execute("DROP TABLE written")
        client.commit()
    assert staging.stage.disturbed() == {}


def test_a_database_that_stands_still(staging: Staged) -> None:
    with pipeline(staging) as client:
        client.execute("CREATE TABLE written (n int)")
        client.commit()
        client.execute("INSERT INTO written VALUES (1)")
        with at_work(context(staging.stage), "pause database") as (_, proof):
            assert "state T" in proof
            assert {process.status() for process in backends(staging)} == {psutil.STATUS_STOPPED}
            assert staging.stage.disturbed() == {POSTGRES: "paused"}
        # Its transaction was open all the time.
        client.commit()
        assert left(staging) == [1]
        client.execute("DROP TABLE written")
        client.commit()
    assert staging.stage.disturbed() == {}


@LATER
def test_every_broker_restarted_in_turn(staging: Staged, topic: Callable[..., str]) -> None:
    stage, name = staging.stage, topic(3)
    lives = [sum(p.name == node for p in staging.processes.all) for node in stage.brokers]
    with at_work(context(staging.stage, name), "rolling-restart") as (injection, proof):
        assert injection.target.count("(leads ") == 3
        assert proof.count("ended with status 143; the majority removed") == 3
        assert [stage.alive(node) for node in stage.brokers] == [True, True, False]
        assert sent(stage.bootstrap(AUDITOR), name, 0)
    assert [sum(p.name == n for p in staging.processes.all) for n in stage.brokers] == [
        life + 1 for life in lives
    ]
    eventually(lambda: whole_everywhere(stage, name), "every replica in sync")


@pytest.mark.parametrize(
    ("verb", "says"), [("kill", "ended by signal 9"), ("stop", "ended with status 143")]
)
def test_all_brokers_at_once(
    staging: Staged, topic: Callable[..., str], verb: str, says: str
) -> None:
    stage, name = staging.stage, topic(1)
    assert sent(stage.bootstrap(AUDITOR), name, 0)
    with at_work(context(stage, name), f"{verb} brokers") as (injection, proof):
        assert injection.target == "broker-1, broker-2, broker-3"
        # Without a controller one may wait for minutes, and is killed like a pod after its grace.
        late = proof.count("did not end when asked to") if verb == "stop" else 0
        assert proof.count(says) + late == 3
        assert proof.endswith("; no broker answers")
        assert all(refuses(stage.bootstrap(AUDITOR, node)) for node in stage.brokers)
        with pytest.raises(StageTrouble, match="not running, or paused: broker-1, broker-2"):
            asked(verb, ["brokers"]).inject(context(stage), "again")
    eventually(lambda: whole_everywhere(stage, name), "every replica in sync")
    with ClusterView(addresses(stage)) as view, open_reader(stage, view) as reader:
        assert reader.ends(name)[0][1] == 1, "what was acknowledged is still there"
    assert stage.disturbed() == {}


def test_all_brokers_stand_still(staging: Staged, topic: Callable[..., str]) -> None:
    stage, name = staging.stage, topic(1)
    lives = len(staging.processes.all)
    with at_work(context(stage, name), "pause brokers") as (injection, proof):
        assert injection.target == "broker-1, broker-2, broker-3"
        assert proof.count("state T") == 3
        assert proof.endswith("; no broker answers")
        assert stage.disturbed() == dict.fromkeys(stage.brokers, "paused")
        with pytest.raises(StageTrouble, match="or paused: broker-1, broker-2, broker-3; expected"):
            asked("stop", ["brokers"]).inject(context(stage), "again")
        stage.resume("broker-2")
        assert injection.evidence() is None, "one goes on"
    eventually(lambda: whole_everywhere(stage, name), "every replica in sync")
    assert sent(stage.bootstrap(AUDITOR), name, 0)
    assert len(staging.processes.all) == lives, "nobody was started anew"
    assert stage.disturbed() == {}


@pytest.mark.parametrize(
    "words", ["kill coordinator:txn:tx", "pause coordinator:group:g", "isolate controller",
              "stop follower:{}-0"],
)  # fmt: skip
def test_a_broker_by_its_role(staging: Staged, topic: Callable[..., str], words: str) -> None:
    stage, name = staging.stage, topic(1)
    words = words.format(name)
    with at_work(context(staging.stage, name), words) as (injection, _):
        node = injection.target.split()[0]
        others = [n for n in stage.brokers if n != node]
        for other in others:
            eventually(
                lambda other=other: (
                    int(node[-1])
                    not in {
                        told_by(stage, other, name)[0].leader,
                        *told_by(stage, other, name)[0].in_sync,
                    }
                ),
                f"{other} to do without {node}",
            )
        assert sent(",".join(stage.bootstrap(AUDITOR, other) for other in others), name, 0)
        views = context(staging.stage, name).views()
        assert views[int(others[0][-1])].controller() != int(node[-1])
    assert serves(stage.bootstrap("producer", node))
    eventually(lambda: whole_everywhere(stage, name), "every replica in sync")
    assert stage.disturbed() == {}
