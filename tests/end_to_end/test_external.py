"""Runs on an external cluster, with its own commands for kill and restart."""

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
def cluster(tmp_path_factory: pytest.TempPathFactory, tools: StageTools) -> Iterator[Staged]:
    """Three brokers that this test started and onceproof did not."""
    with staged(tmp_path_factory.mktemp("theirs") / "stage", tools) as cluster:
        yield cluster


@pytest.fixture
def cluster_file(cluster: Staged, tmp_path: Path) -> Iterator[Path]:
    """The cluster's file. Its commands write a request into a pipe and wait for the answer."""
    requests, answers = tmp_path / "wishes", tmp_path / "answers"
    for pipe in (requests, answers):
        os.mkfifo(pipe)
    done = threading.Event()

    def operator() -> None:
        while not done.is_set():
            action, _, node = requests.read_text().strip().partition(" ")
            if action == "kill":
                cluster.stage.kill(node, "killed by its operator")
            elif action == "restart":
                cluster.stage.restart(node)
            answers.write_text("done\n")

    thread = threading.Thread(target=operator, daemon=True)
    thread.start()
    file = tmp_path / "cluster.toml"
    file.write_text(
        f'bootstrap = "{cluster.stage.bootstrap(AUDITOR)}"\n'
        f'database = "{cluster.stage.database(AUDITOR)}"\n[commands]\n'
        f"kill = '''echo kill {{node}} > '{requests}'; cat '{answers}' '''\n"
        f"restart = '''echo restart {{node}} > '{requests}'; cat '{answers}' '''\n"
    )
    yield file
    done.set()
    requests.write_text("stop\n")
    answers.read_text()
    thread.join(10)


def topics(staged_cluster: Staged) -> set[str]:
    addresses = {
        n: staged_cluster.stage.bootstrap(AUDITOR, f"broker-{n}")
        for n in staged_cluster.stage.topology.nodes
    }
    with ClusterView(addresses) as view:
        return {p.topic for p in view.partitions() if not p.topic.startswith("__")}


@LATER
def test_at_least_once_sink_is_caught_on_external_cluster(
    cluster: Staged, cluster_file: Path, tmp_path: Path
) -> None:
    done = onceproof(
        "run", "spark-kafka-sink", "--seed", "5", "--out", tmp_path, "--backend",
        f"external:{cluster_file}", timeout=500,
    )  # fmt: skip
    # Without a proxy no response is lost, so that the producers' claim is unexercised.
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
    assert topics(cluster) == set()
    assert cluster.stage.disturbed() == {}


@LATER
def test_offsets_of_an_earlier_run_are_ignored(cluster_file: Path, runs: Path) -> None:
    for seed in (1, 2):
        done = onceproof(
            "run", "consume-transform-produce-quiet", "--seed", str(seed), "--out", runs,
            "--backend", f"external:{cluster_file}",
        )  # fmt: skip
        assert done.code == 0, done.out + done.err
        assert set(done.verdicts().values()) == {"unexercised"}


@LATER
def test_database_with_tables_of_an_earlier_run_is_refused(
    cluster: Staged, cluster_file: Path, runs: Path
) -> None:
    def run() -> Finished:
        return onceproof(
            "run", "stored-offsets-postgres-quiet", "--out", runs, "--backend",
            f"external:{cluster_file}",
        )  # fmt: skip

    first = run()
    assert first.code == 0, first.out + first.err
    assert set(first.verdicts().values()) == {"unexercised"}
    second = run()
    assert second.code == 3
    assert set(second.verdicts().values()) == {"invalid"}
    assert "drop the tables of the " in second.out
    assert topics(cluster) == set()


def test_missing_database_is_reported_with_a_remedy(cluster: Staged, tmp_path: Path) -> None:
    cluster_file = tmp_path / "cluster.toml"
    cluster_file.write_text(f'bootstrap = "{cluster.stage.bootstrap(AUDITOR)}"\n')
    done = onceproof(
        "run",
        "spark-foreachbatch-postgres",
        "--out",
        tmp_path,
        "--backend",
        f"external:{cluster_file}",
    )
    assert done.code == 3
    assert "add `database = " in done.out + done.err


@LATER
def test_unreachable_cluster_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "cluster.toml"
    file.write_text('bootstrap = "127.0.0.1:1"\n')
    done = onceproof("run", "spark-kafka-sink", "--out", tmp_path, "--backend", f"external:{file}")
    assert done.code == 3
    assert "127.0.0.1:1 to answer; check that it is running" in " ".join(done.out.split())
