"""Process faults on a real stage, observed by clients and the kernel."""

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
from tests.integration.faults import active_fault, context
from tests.integration.staging import (
    Staged,
    eventually,
    refuses,
    serves,
    told_by,
    whole_everywhere,
)
from tests.integration.test_stage_brokers import is_acknowledged

pytestmark = pytest.mark.integration


@contextlib.contextmanager
def pipeline(staging: Staged) -> Iterator[psycopg.Connection]:
    """A database client that connects through the proxy."""
    with contextlib.closing(psycopg.connect(staging.stage.database("pipeline"))) as connection:
        yield connection


def server_processes(staging: Staged) -> list[psutil.Process]:
    """The database server and its child processes, according to the kernel."""
    (server,) = (p for p in staging.living if p.name == POSTGRES)
    process = psutil.Process(server.session)
    return [process, *process.children(recursive=True)]


def is_running(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.NoSuchProcess):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


def written_rows(staging: Staged) -> list[int]:
    """The rows of the table `written`."""
    with psycopg.connect(staging.stage.database(AUDITOR)) as directly:
        return [n for (n,) in directly.execute("SELECT n FROM written ORDER BY n").fetchall()]


@pytest.mark.parametrize(
    ("fault", "evidence"),
    [("kill database", "ended by signal 9"), ("stop database", "ended with status 0")],
)
def test_ended_database_drops_open_transaction_and_keeps_commits(
    staging: Staged, fault: str, evidence: str
) -> None:
    with pipeline(staging) as client:
        client.execute("CREATE TABLE written (n int)")
        client.execute("INSERT INTO written VALUES (1)")
        client.commit()
        client.execute("INSERT INTO written VALUES (2)")
        processes = server_processes(staging)
        assert len(processes) > 2
        with active_fault(context(staging.stage), fault) as (injection, proof):
            assert injection.target == POSTGRES
            assert evidence in proof
            assert not [process for process in processes if is_running(process)]
            with pytest.raises(psycopg.OperationalError):
                client.commit()
            with pytest.raises(psycopg.OperationalError, match="refused"):
                psycopg.connect(staging.stage.database("pipeline"))
            assert staging.stage.disturbed()[POSTGRES] == "not running"
            with pytest.raises(StageTrouble, match="postgres cannot be killed: it is not running"):
                asked("kill", ["database"]).inject(context(staging.stage), "again")
    assert written_rows(staging) == [1]
    with pipeline(staging) as client:
        client.execute("DROP TABLE written")
        client.commit()
    assert staging.stage.disturbed() == {}


def test_paused_database_keeps_open_transaction(staging: Staged) -> None:
    with pipeline(staging) as client:
        client.execute("CREATE TABLE written (n int)")
        client.commit()
        client.execute("INSERT INTO written VALUES (1)")
        with active_fault(context(staging.stage), "pause database") as (_, proof):
            assert "state T" in proof
            assert {process.status() for process in server_processes(staging)} == {
                psutil.STATUS_STOPPED
            }
            assert staging.stage.disturbed() == {POSTGRES: "paused"}
        # The transaction stayed open during the pause.
        client.commit()
        assert written_rows(staging) == [1]
        client.execute("DROP TABLE written")
        client.commit()
    assert staging.stage.disturbed() == {}


@LATER
def test_rolling_restart_restarts_every_broker_once(
    staging: Staged, topic: Callable[..., str]
) -> None:
    stage, name = staging.stage, topic(3)
    lives = [sum(p.name == node for p in staging.processes.all) for node in stage.brokers]
    with active_fault(context(staging.stage, name), "rolling-restart") as (injection, proof):
        assert injection.target.count("(leads ") == 3
        assert proof.count("ended with status 143; the majority removed") == 3
        assert [stage.alive(node) for node in stage.brokers] == [True, True, False]
        assert is_acknowledged(stage.bootstrap(AUDITOR), name, 0)
    assert [sum(p.name == n for p in staging.processes.all) for n in stage.brokers] == [
        life + 1 for life in lives
    ]
    eventually(lambda: whole_everywhere(stage, name), "every replica in sync")


@LATER
@pytest.mark.parametrize(
    ("verb", "evidence"), [("kill", "ended by signal 9"), ("stop", "ended with status 143")]
)
def test_ending_all_brokers_keeps_acknowledged_records(
    staging: Staged, topic: Callable[..., str], verb: str, evidence: str
) -> None:
    stage, name = staging.stage, topic(1)
    assert is_acknowledged(stage.bootstrap(AUDITOR), name, 0)
    with active_fault(context(stage, name), f"{verb} brokers") as (injection, proof):
        assert injection.target == "broker-1, broker-2, broker-3"
        # Without a controller a shutdown may take minutes: it is killed after a grace period.
        killed_after_grace = proof.count("did not end when asked to") if verb == "stop" else 0
        assert proof.count(evidence) + killed_after_grace == 3
        assert proof.endswith("; no broker answers")
        assert all(refuses(stage.bootstrap(AUDITOR, node)) for node in stage.brokers)
        with pytest.raises(StageTrouble, match="not running, or paused: broker-1, broker-2"):
            asked(verb, ["brokers"]).inject(context(stage), "again")
    eventually(lambda: whole_everywhere(stage, name), "every replica in sync")
    with ClusterView(addresses(stage)) as view, open_reader(stage, view) as reader:
        assert reader.ends(name)[0][1] == 1, "what was acknowledged is still there"
    assert stage.disturbed() == {}


def test_paused_brokers_resume_without_restart(staging: Staged, topic: Callable[..., str]) -> None:
    stage, name = staging.stage, topic(1)
    lives = len(staging.processes.all)
    with active_fault(context(stage, name), "pause brokers") as (injection, proof):
        assert injection.target == "broker-1, broker-2, broker-3"
        assert proof.count("state T") == 3
        assert proof.endswith("; no broker answers")
        assert stage.disturbed() == dict.fromkeys(stage.brokers, "paused")
        with pytest.raises(StageTrouble, match="or paused: broker-1, broker-2, broker-3; expected"):
            asked("stop", ["brokers"]).inject(context(stage), "again")
        stage.resume("broker-2")
        assert injection.evidence() is None, "one goes on"
    eventually(lambda: whole_everywhere(stage, name), "every replica in sync")
    assert is_acknowledged(stage.bootstrap(AUDITOR), name, 0)
    assert len(staging.processes.all) == lives, "nobody was started anew"
    assert stage.disturbed() == {}


@pytest.mark.parametrize(
    "command", ["kill coordinator:txn:tx", "pause coordinator:group:g", "isolate controller",
              "stop follower:{}-0"],
)  # fmt: skip
def test_fault_by_role_excludes_the_broker(
    staging: Staged, topic: Callable[..., str], command: str
) -> None:
    stage, name = staging.stage, topic(1)
    command = command.format(name)
    with active_fault(context(staging.stage, name), command) as (injection, _):
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
        assert is_acknowledged(
            ",".join(stage.bootstrap(AUDITOR, other) for other in others), name, 0
        )
        views = context(staging.stage, name).views()
        assert views[int(others[0][-1])].controller() != int(node[-1])
    assert serves(stage.bootstrap("producer", node))
    eventually(lambda: whole_everywhere(stage, name), "every replica in sync")
    assert stage.disturbed() == {}
