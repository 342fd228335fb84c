"""The cluster files for Kubernetes, with a `kubectl` that records what it is asked."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from onceproof.harness.links.disturbances import CUT
from onceproof.harness.links.topology import Link
from onceproof.harness.stage.external import Cluster, ExternalStage
from onceproof.harness.wait import Stop

FILES = Path(__file__).parents[4] / "docs" / "how-to" / "examples" / "kubernetes"
KUBECTL = """#!{python} -I
import json, sys
with open({log!r}, "a") as log:
    asked = sys.argv[1:]
    print(json.dumps([asked, sys.stdin.read() if "-" in asked else ""]), file=log)
if "get" in asked:
    print(*("pod/my-cluster-brokers-" + id for id in ("10", "1", "11")), sep="\\n")
"""
PODS = {"strimzi": "my-cluster-brokers-1", "statefulset": "kafka-1"}


class Answering(ExternalStage):
    """A stage whose broker 1 answers or not, as its commands have it."""

    def __init__(self, file: Path, folder: Path) -> None:
        super().__init__(Cluster.load(file), marker="0", stop=Stop(), logs=folder)
        self._addresses = {"broker-1": "127.0.0.1:1"}
        self._up = True

    def _command(self, name: str, **words: str) -> None:
        super()._command(name, **words)
        self._up = name in ("restart", "resume", "cut", "mend")

    def _answers(self, node: str) -> bool:
        return self._up


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return what `kubectl` was asked, without the questions for a pod's name."""
    log = tmp_path / "asked"
    program = tmp_path / "bin" / "kubectl"
    program.parent.mkdir()
    program.write_text(KUBECTL.format(python=sys.executable, log=str(log)))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")

    def read() -> list[tuple[list[str], str]]:
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        log.write_text("")
        return [(words, text) for words, text in lines if "get" not in words]

    return read


@pytest.mark.parametrize("name", PODS)
def test_brokers_end_and_start(name: str, asked: Any, tmp_path: Path) -> None:
    stage, pod = Answering(FILES / f"{name}.toml", tmp_path), PODS[name]
    in_kafka = ["--namespace", "kafka"]
    waits = [*in_kafka, "wait", "pod", pod, "--for=condition=Ready", "--timeout=5s"]
    stage.kill("broker-1", "by a test")
    assert asked() == [
        ([*in_kafka, "delete", "pod", pod, "--grace-period=0", "--force", "--wait=false"], "")
    ]
    stage.restart("broker-1")
    assert asked() == [(waits, "")]
    stage.shut_down("broker-1", "by a test")
    stage.restart("broker-1")
    assert asked() == [([*in_kafka, "delete", "pod", pod, "--wait=false"], ""), (waits, "")]


@pytest.mark.parametrize("name", PODS)
def test_link_is_cut_by_chaos_mesh(name: str, asked: Any, tmp_path: Path) -> None:
    stage, pod = Answering(FILES / f"{name}.toml", tmp_path), PODS[name]
    stage.disturb(Link("pipeline", "broker-1"), CUT).release()
    (apply, text), (wait, _), (delete, _) = asked()
    assert apply == ["apply", "--filename", "-"]
    assert wait[2:5] == ["wait", "networkchaos", "onceproof-pipeline-1"]
    assert delete[2:5] == ["delete", "networkchaos", "onceproof-pipeline-1"]
    assert yaml.safe_load(text) == {
        "apiVersion": "chaos-mesh.org/v1alpha1",
        "kind": "NetworkChaos",
        "metadata": {"name": "onceproof-pipeline-1", "namespace": "kafka"},
        "spec": {
            "action": "partition",
            "mode": "all",
            "selector": {"pods": {"kafka": [pod]}},
            "direction": "both",
            "externalTargets": ["10.0.0.7"],
        },
    }


def test_java_is_paused_below_tini(asked: Any, tmp_path: Path) -> None:
    stage = Answering(FILES / "strimzi.toml", tmp_path)
    stage.pause("broker-1")
    stage.resume("broker-1")
    (pause, _), (resume, _) = asked()
    start = ["--namespace", "kafka", "exec", PODS["strimzi"], "--container", "kafka", "--"]
    assert pause[:-1] == resume[:-1] == [*start, "sh", "-c"]
    assert pause[-1].replace("-STOP", "-CONT") == resume[-1]


def test_script_finds_java_alone(tmp_path: Path) -> None:
    """The script of `pause`, which only names the processes here: there are others with Java."""
    pause = Cluster.load(FILES / "strimzi.toml").commands["pause"]
    script = pause.partition("sh -c '")[2].partition("'")[0]
    naming = script.replace("kill -STOP", "echo")
    assert naming != script
    java = shutil.copy(shutil.which("sleep") or "", tmp_path / "java")
    with subprocess.Popen([java, "60"]) as process:
        said = subprocess.run(["sh", "-c", naming], capture_output=True, text=True, check=True)
        process.kill()
    assert str(process.pid) in said.stdout.split()
    assert str(os.getpid()) not in said.stdout.split()


def test_every_command_is_logged(asked: Any, tmp_path: Path) -> None:
    stage = Answering(FILES / "statefulset.toml", tmp_path)
    stage.kill("broker-1", "by a test")
    assert (tmp_path / "commands.log").read_text().startswith("$ kubectl --namespace kafka delete")
