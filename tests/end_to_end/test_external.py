"""A cluster that is not ours: our workload, our judgement, its own commands."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from onceproof.harness.kafka.metadata import ClusterView
from onceproof.harness.links.topology import AUDITOR
from onceproof.harness.tools.setup import StageTools, ensure
from tests.end_to_end.catalogue import LATER
from tests.end_to_end.command import Finished, onceproof
from tests.integration.staging import Staged, staged

pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def tools() -> StageTools:
    found = ensure().stage
    assert found is not None
    return found


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory, tools: StageTools) -> Iterator[Staged]:
    """Somebody's cluster: three brokers that this test started and onceproof did not."""
    with staged(tmp_path_factory.mktemp("theirs") / "stage", tools) as cluster:
        yield cluster


@pytest.fixture
def described(theirs: Staged, tmp_path: Path) -> Iterator[Path]:
    """Its file. A command writes its wish into a pipe and waits for the answer."""
    wishes, answers = tmp_path / "wishes", tmp_path / "answers"
    for pipe in (wishes, answers):
        os.mkfifo(pipe)
    done = threading.Event()

    def operator() -> None:
        while not done.is_set():
            what, _, node = wishes.read_text().strip().partition(" ")
            if what == "kill":
                theirs.stage.kill(node, "killed by its operator")
            elif what == "restart":
                theirs.stage.restart(node)
            answers.write_text("done\n")

    thread = threading.Thread(target=operator, daemon=True)
    thread.start()
    file = tmp_path / "cluster.toml"
    file.write_text(
        f'bootstrap = "{theirs.stage.bootstrap(AUDITOR)}"\n'
        f'database = "{theirs.stage.database(AUDITOR)}"\n[commands]\n'
        f"kill = '''echo kill {{node}} > '{wishes}'; cat '{answers}' '''\n"
        f"restart = '''echo restart {{node}} > '{wishes}'; cat '{answers}' '''\n"
    )
    yield file
    done.set()
    wishes.write_text("stop\n")
    answers.read_text()
    thread.join(10)


def topics(cluster: Staged) -> set[str]:
    addresses = {
        n: cluster.stage.bootstrap(AUDITOR, f"broker-{n}") for n in cluster.stage.topology.nodes
    }
    with ClusterView(addresses) as view:
        return {p.topic for p in view.partitions() if not p.topic.startswith("__")}


@LATER
def test_the_twin_is_caught_there_too(theirs: Staged, described: Path, tmp_path: Path) -> None:
    done = onceproof(
        "run", "spark-kafka-sink", "--seed", "5", "--out", tmp_path, "--backend",
        f"external:{described}", timeout=500,
    )  # fmt: skip
    # Without a proxy no response is lost, so nothing puts the producers' claim to the test.
    assert done.code == 5, done.out + done.err
    for name in ("responses lost", "broker isolated", "pipeline cut"):
        assert f"left out: «{name}»" in done.err
    assert done.verdicts() == {
        "exactly-once producers → payments": "unexercised",
        "at-most-once payments → payments-with-fees": "violated",
        "at-least-once payments → payments-with-fees": "holds",
        "exactly-once payments → payments-with-fees": "violated",
    }
    assert "was killed by the cluster's `kill` command" in done.err
    assert topics(theirs) == set()
    assert theirs.stage.disturbed() == {}


@LATER
def test_what_the_group_of_a_run_before_committed_is_not_of_this_one(
    described: Path, runs: Path
) -> None:
    for seed in (1, 2):
        done = onceproof(
            "run", "consume-transform-produce-quiet", "--seed", str(seed), "--out", runs,
            "--backend", f"external:{described}",
        )  # fmt: skip
        assert done.code == 0, done.out + done.err
        assert set(done.verdicts().values()) == {"unexercised"}


@LATER
def test_a_database_with_the_tables_of_a_run_before_is_refused(
    theirs: Staged, described: Path, runs: Path
) -> None:
    def run() -> Finished:
        return onceproof(
            "run", "stored-offsets-postgres-quiet", "--out", runs, "--backend",
            f"external:{described}",
        )  # fmt: skip

    first = run()
    assert first.code == 0, first.out + first.err
    assert set(first.verdicts().values()) == {"unexercised"}
    again = run()
    assert again.code == 3
    assert set(again.verdicts().values()) == {"invalid"}
    assert "drop the tables of the " in again.out
    assert topics(theirs) == set()


def test_without_a_database_it_says_what_to_do(theirs: Staged, tmp_path: Path) -> None:
    described = tmp_path / "cluster.toml"
    described.write_text(f'bootstrap = "{theirs.stage.bootstrap(AUDITOR)}"\n')
    done = onceproof(
        "run",
        "spark-foreachbatch-postgres",
        "--out",
        tmp_path,
        "--backend",
        f"external:{described}",
    )
    assert done.code == 3
    assert "add `database = " in done.out + done.err


def test_a_cluster_that_does_not_answer(tmp_path: Path) -> None:
    file = tmp_path / "cluster.toml"
    file.write_text('bootstrap = "127.0.0.1:1"\n')
    done = onceproof("run", "spark-kafka-sink", "--out", tmp_path, "--backend", f"external:{file}")
    assert done.code == 3
    assert "127.0.0.1:1 to answer; check that it is running" in " ".join(done.out.split())
