"""The cluster files for Kubernetes, on real brokers: a stand-in for `kubectl` acts on them."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]

from onceproof.harness.links.disturbances import CUT, Hold
from onceproof.harness.links.topology import AUDIENCES, Link
from onceproof.harness.stage.cluster_file import Cluster
from onceproof.harness.stage.external import ExternalStage
from onceproof.harness.tools.setup import StageTools
from onceproof.harness.wait import Stop
from tests.end_to_end.catalogue import LATER
from tests.integration.staging import Staged, eventually, staged

pytestmark = pytest.mark.integration
FILE = Path(__file__).parents[2] / "docs" / "how-to" / "examples" / "kubernetes" / "strimzi.toml"
KUBECTL = """#!{python} -I
import json, sys
question = [sys.argv[1:], sys.stdin.read() if "-" in sys.argv else ""]
with open({questions!r}, "w") as pipe:
    print(json.dumps(question), file=pipe)
with open({answers!r}) as pipe:
    print(pipe.read(), end="")
"""


class Kubernetes:
    """Carries out what the file's commands ask of a cluster whose pods are local brokers."""

    def __init__(self, cluster: Staged) -> None:
        self._stage = cluster.stage
        self._cuts: dict[str, list[Hold]] = {}
        self.asked: list[str] = []

    def do(self, words: list[str], text: str) -> str:
        line = " ".join(words)
        self.asked.append(line)
        broker = next((n for n in self._stage.brokers if f"brokers-{n[-1]}" in line), "")
        if "get pods" in line:
            return "".join(f"pod/my-cluster-brokers-{n[-1]}\n" for n in self._stage.brokers)
        if "delete pod" in line or "-KILL" in line:
            self._stage.kill(broker, line)
        elif "wait pod" in line and not self._stage.alive(broker):
            self._stage.restart(broker)  # Kubernetes starts a pod anew by itself
        elif "-STOP" in line:
            self._stage.pause(broker)
        elif "-CONT" in line:
            self._stage.resume(broker)
        elif "apply" in line:
            made = yaml.safe_load(text)
            (pod,) = made["spec"]["selector"]["pods"]["kafka"]
            links = [Link(audience, f"broker-{pod[-1]}") for audience in AUDIENCES]
            holds = [self._stage.disturb(link, CUT) for link in links]
            self._cuts[made["metadata"]["name"]] = holds
        elif "delete networkchaos" in line:
            name = words[words.index("networkchaos") + 1]
            for hold in self._cuts.pop(name):
                hold.release()
        return ""


@pytest.fixture(scope="module")
def kubernetes(
    tools: StageTools, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Staged, Kubernetes]]:
    folder = tmp_path_factory.mktemp("kubernetes")
    questions, answers = folder / "questions", folder / "answers"
    for pipe in (questions, answers):
        os.mkfifo(pipe)
    program = folder / "bin" / "kubectl"
    program.parent.mkdir()
    program.write_text(
        KUBECTL.format(python=sys.executable, questions=str(questions), answers=str(answers))
    )
    program.chmod(0o755)
    with staged(folder / "stage", tools) as cluster:
        there = Kubernetes(cluster)

        def serve() -> None:
            while text := questions.read_text():
                answers.write_text(there.do(*json.loads(text)))

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        path = os.environ["PATH"]
        os.environ["PATH"] = f"{program.parent}{os.pathsep}{path}"
        try:
            yield cluster, there
        finally:
            os.environ["PATH"] = path
            questions.write_text("")
            thread.join(10)


@pytest.fixture
def stage(kubernetes: tuple[Staged, Kubernetes], tmp_path: Path) -> Iterator[ExternalStage]:
    cluster, _ = kubernetes
    file = tmp_path / "cluster.toml"
    bootstrap = cluster.stage.bootstrap("producer")
    file.write_text(FILE.read_text().replace("my-cluster-kafka-bootstrap.kafka:9092", bootstrap))
    stage = ExternalStage(Cluster.load(file), marker="kubernetes", stop=Stop(), logs=tmp_path)
    stage.start()
    yield stage
    stage.stop()
    assert stage.disturbed() == {}


@pytest.mark.parametrize("end", ["kill", pytest.param("shut_down", marks=LATER)])
def test_broker_ends_and_starts(stage: ExternalStage, end: str) -> None:
    assert "does not answer" in getattr(stage, end)("broker-2", "by a test")
    assert stage.disturbed() == {"broker-2": "does not answer"}
    stage.restart("broker-2")
    assert stage.alive("broker-2")


def test_broker_is_paused(stage: ExternalStage) -> None:
    stage.pause("broker-3")
    assert stage.paused("broker-3")
    stage.resume("broker-3")
    assert stage.disturbed() == {}


def test_link_is_cut_and_mended(
    stage: ExternalStage, kubernetes: tuple[Staged, Kubernetes]
) -> None:
    link = Link("pipeline", "broker-1")
    hold = stage.disturb(link, CUT)
    assert not stage.alive("broker-1")
    assert stage.connections(link) == 0
    hold.release()
    eventually(lambda: stage.alive("broker-1"), "broker 1 to answer again")
    assert "wait networkchaos onceproof-pipeline-1" in " ".join(kubernetes[1].asked)


def test_stop_undoes_what_is_left(
    stage: ExternalStage, kubernetes: tuple[Staged, Kubernetes]
) -> None:
    stage.kill("broker-1", "by a test")
    stage.disturb(Link("producer", "broker-2"), CUT)
    stage.stop()
    eventually(lambda: stage.alive("broker-1"), "broker 1 to answer")
    assert stage.alive("broker-2")
    assert kubernetes[0].stage.disturbed() == {}
