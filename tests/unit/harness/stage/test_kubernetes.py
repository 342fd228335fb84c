"""The cluster files for Kubernetes, with a `kubectl` that records what it is asked."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from signal import SIGSTOP
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from onceproof.harness.links.disturbances import CUT
from onceproof.harness.links.topology import Link
from onceproof.harness.stage.cluster_file import Cluster
from onceproof.harness.stage.external import ExternalStage
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
def test_broker_is_stopped_and_starts(name: str, asked: Any, tmp_path: Path) -> None:
    stage, pod = Answering(FILES / f"{name}.toml", tmp_path), PODS[name]
    in_kafka = ["--namespace", "kafka"]
    stage.shut_down("broker-1", "by a test")
    assert asked() == [([*in_kafka, "delete", "pod", pod, "--wait=false"], "")]
    stage.restart("broker-1")
    waits = [*in_kafka, "wait", "pod", pod, "--for=condition=Ready", "--timeout=5s"]
    assert asked() == [(waits, "")]


def test_what_cannot_be_done_is_not_offered() -> None:
    assert Cluster.load(FILES / "strimzi.toml").offers == {"kill", "stop", "pause", "cut"}
    assert Cluster.load(FILES / "statefulset.toml").offers == {"stop", "cut"}


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
            "duration": "10m",
        },
    }


def test_java_is_signalled_below_tini(asked: Any, tmp_path: Path) -> None:
    stage = Answering(FILES / "strimzi.toml", tmp_path)
    stage.pause("broker-1")
    stage.resume("broker-1")
    stage.kill("broker-1", "by a test")
    start = [
        "--namespace",
        "kafka",
        "exec",
        PODS["strimzi"],
        "--container",
        "kafka",
        "--",
        "sh",
        "-c",
    ]
    scripts = [words[-1] for words, _ in asked() if words[:-1] == start]
    assert ["-STOP" in scripts[0], "-CONT" in scripts[1], "-KILL" in scripts[2]] == [True] * 3


def test_scripts_signal_java_alone(tmp_path: Path) -> None:
    """They only name the processes here, because there are others with Java."""
    commands = Cluster.load(FILES / "strimzi.toml").commands
    java = shutil.copy(shutil.which("sleep") or "", tmp_path / "java")

    def named(command: str, signal: str) -> list[str]:
        script = commands[command].partition("sh -c '")[2].partition("'")[0]
        naming = script.replace(f"kill {signal}", "echo").replace("exit 1", "echo none")
        assert naming != script
        said = subprocess.run(["sh", "-c", naming], capture_output=True, text=True, check=True)
        return said.stdout.split()

    with subprocess.Popen([java, "60"]) as process:
        pid = str(process.pid)
        for command, signal in (("kill", "-KILL"), ("pause", "-STOP")):
            assert pid in (found := named(command, signal))
            assert str(os.getpid()) not in found
        assert pid not in named("resume", "-CONT"), "it is not stopped"
        process.send_signal(SIGSTOP)
        os.waitpid(process.pid, os.WUNTRACED)
        assert pid in named("resume", "-CONT")
        process.kill()


def test_every_command_is_logged(asked: Any, tmp_path: Path) -> None:
    stage = Answering(FILES / "statefulset.toml", tmp_path)
    stage.shut_down("broker-1", "by a test")
    log = (tmp_path / "commands.log").read_text()
    assert log.startswith("$ kubectl --namespace {namespace} delete pod {pod}")
