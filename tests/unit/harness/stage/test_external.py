"""The file of an external cluster, and the commands that it defines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from onceproof.harness.links.disturbances import CUT, lose
from onceproof.harness.links.topology import Link
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.stage import external
from onceproof.harness.stage.backends import PLAIN_TEXT, SECURED, is_backend, offers, prepare
from onceproof.harness.stage.cluster_file import Cluster
from onceproof.harness.stage.external import ExternalStage
from onceproof.harness.tools.error import SetupError
from onceproof.harness.wait import Stop


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "cluster.toml"


def test_only_bootstrap_is_required(file: Path) -> None:
    file.write_text('bootstrap = "kafka-1:9092,kafka-2:9092"')
    cluster = Cluster.load(file)
    assert (cluster.bootstrap, cluster.database) == ("kafka-1:9092,kafka-2:9092", "")
    assert offers(f"external:{file}") == {PLAIN_TEXT}


def test_faults_are_offered_only_with_their_undo_command(file: Path) -> None:
    file.write_text(
        'bootstrap = "k:1"\n[commands]\nkill = "a"\nrestart = "b"\ncut = "c {node} {source}"'
    )
    assert Cluster.load(file).offers == {"kill"}
    file.write_text(
        'bootstrap = "k:1"\n[commands]\nstop = "a"\nrestart = "b"\npause = "c"\nresume = "d"'
    )
    assert Cluster.load(file).offers == {"stop", "pause"}


def test_secured_stage_requires_openssl(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(SetupError, match="no openssl on the PATH"):
        prepare(SECURED)


def test_credentials_come_from_file_properties_file_or_environment(
    file: Path, tmp_path: Path
) -> None:
    credentials = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": "trial",
        "sasl.password": "open-sesame",
    }
    lines = [f"{name} = '{value}'" for name, value in credentials.items()]
    file.write_text("\n".join(["bootstrap = 'k:1'", "[kafka]", *lines]))
    file.chmod(0o600)
    cluster = Cluster.load(file, {})
    assert cluster.properties == credentials
    assert "open-sesame" not in repr(cluster)
    assert offers(f"external:{file}") == frozenset()

    properties = tmp_path / "kafka.properties"
    properties.write_text("".join(f"{name}={value}\n" for name, value in credentials.items()))
    properties.chmod(0o600)
    file.write_text("bootstrap = 'k:1'\nkafka-properties = 'kafka.properties'")
    assert Cluster.load(file, {}).properties == credentials
    again = Cluster.load(file, {"ONCEPROOF_KAFKA_SASL_PASSWORD": "abracadabra"})
    assert again.properties == {**credentials, "sasl.password": "abracadabra"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kafka = 1", "expected kafka-properties = .FILE., or a table"),
        ("kafka-properties = 'nowhere'", "nowhere cannot be read"),
        (
            "kafka-properties = 'a'\n[kafka]\nsecurity.protocol = 'SSL'",
            "either kafka-properties or",
        ),
        ("[kafka]\ngroup.id = 'g'", "group.id: not a connection property"),
        ("[kafka]\nsasl.password = 'open-sesame'", "chmod 600"),
    ],
)
def test_rejects_unusable_credentials(file: Path, text: str, message: str) -> None:
    file.write_text(f"bootstrap = 'k:1'\n{text}")
    file.chmod(0o644)
    with pytest.raises(SetupError, match=message) as error:
        Cluster.load(file, {})
    assert str(error.value).startswith(str(file))
    assert "open-sesame" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("bootstrap =", "is not TOML"),
        ("", 'bootstrap: expected a string, such as bootstrap = "…"'),
        ("bootstrap = 9092", "bootstrap: expected a string"),
        ('bootstrap = ""', "bootstrap: expected a string"),
        ('bootstrap = "k:1"\nhosts = "k"', "hosts: expected only bootstrap, database, kafka"),
        ('bootstrap = "k:1"\ncommands = "kill"', "commands: expected only bootstrap, database"),
        ('bootstrap = "k:1"\n[commands]\nmelt = "x"', "melt: expected only bootstrap, database"),
        ('bootstrap = "k:1"\n[commands]\nkill = 9', "kill: expected a string"),
        ('bootstrap = "k:1"\n[values]\nid = "9"', "values: expected a table of strings without id"),
        ('bootstrap = "k:1"\n[values]\npod = 9', "pod: expected a string"),
        ('bootstrap = "k:1"\ndatabase = 1', "database: expected a string"),
    ],
)
def test_rejects_invalid_cluster_file(file: Path, text: str, message: str) -> None:
    file.write_text(text)
    with pytest.raises(SetupError, match=message):
        Cluster.load(file)


def test_missing_cluster_file_is_reported(file: Path) -> None:
    with pytest.raises(SetupError, match="cannot be read: No such file"):
        Cluster.load(file)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For the log of commands."""
    monkeypatch.chdir(tmp_path)


class StageWithBrokers(ExternalStage):
    """An external stage with these brokers; `silent` says which do not answer."""

    def __init__(self, commands: dict[str, str], *nodes: str, stop: Stop | None = None) -> None:
        cluster = Cluster(bootstrap="127.0.0.1:1", database="", commands=commands)
        super().__init__(cluster, marker="0", stop=stop or Stop(), logs=Path.cwd())
        self._addresses = dict.fromkeys(nodes, "127.0.0.1:1")
        self.silent: Callable[[str], bool] = set[str]().__contains__

    def _answers(self, node: str) -> bool:
        return not self.silent(node)


def stage(*nodes: str, **commands: str) -> StageWithBrokers:
    return StageWithBrokers(commands, *nodes)


def test_commands_get_node_and_source(tmp_path: Path) -> None:
    log = tmp_path / "said"
    cut = stage(cut=f"echo cut {{source}} from {{node}} >> '{log}'", mend=f"echo mend >> '{log}'")
    link = Link("pipeline", "broker-7")
    cut.disturb(link, CUT)
    assert cut.disturbed() == {"pipeline→broker-7": "cut"}
    cut.stop()
    assert log.read_text() == "cut pipeline from broker-7\nmend\n"
    assert cut.disturbed() == {}


def test_values_are_filled_into_commands(file: Path) -> None:
    file.write_text(
        'bootstrap = "k:1"\n[values]\npod = "{cluster}-{id}"\ncluster = "mine"\n'
        '[commands]\nkill = "delete {pod} of {node}"\n'
    )
    cluster = Cluster.load(file)
    run = StageWithBrokers(
        {"kill": cluster.commands["kill"].replace("delete", "echo >&2")}, "broker-7"
    )
    run._cluster = replace(run._cluster, values=cluster.values)
    run.silent = {"broker-7"}.__contains__
    run.kill("broker-7", "by a test")
    assert Path("commands.log").read_text().startswith("$ echo >&2 {pod} of broker-7")


def test_commands_are_logged_as_they_were_run(tmp_path: Path) -> None:
    failing = stage("broker-7", kill="echo gone {id}; echo why >&2; exit 3", restart="true")
    with pytest.raises(StageTrouble, match="exited with code 3"):
        failing.kill("broker-7", "by a test")
    command, how, _ = (tmp_path / "commands.log").read_text().splitlines()
    assert command == "$ echo gone 7; echo why >&2; exit 3"
    assert how.startswith("# exited with code 3 after ")


def test_command_that_cannot_be_logged_is_undone(tmp_path: Path) -> None:
    (tmp_path / "commands.log").mkdir()
    there = tmp_path / "there"
    ending = stage("broker-7", kill="true", restart=f"touch {there}")
    ending.silent = lambda _: not there.exists()
    ending.kill("broker-7", "by a test")
    ending.stop()
    assert there.exists()


def test_cut_that_failed_half_way_is_mended(tmp_path: Path) -> None:
    """As where an object was created, and waiting for its effect failed."""
    rule = tmp_path / "rule"
    cut = stage(cut=f"touch {rule}; exit 1", mend=f"rm {rule}")
    with pytest.raises(StageTrouble, match="exited with code 1"):
        cut.disturb(Link("pipeline", "broker-7"), CUT)
    assert not rule.exists()
    assert cut.disturbed() == {}


def test_link_cut_twice_is_mended_after_both_releases(tmp_path: Path) -> None:
    log = tmp_path / "said"
    cut = stage(cut=f"echo cut >> '{log}'", mend=f"echo mend >> '{log}'")
    link = Link("pipeline", "broker-7")
    first, second = cut.disturb(link, CUT), cut.disturb(link, CUT)
    first.release()
    assert cut.disturbed() == {"pipeline→broker-7": "cut"}
    first.release()
    assert cut.disturbed() == {"pipeline→broker-7": "cut"}
    second.release()
    assert cut.disturbed() == {}
    assert log.read_text() == "cut\nmend\n"


def test_failed_cut_leaves_no_disturbance(tmp_path: Path) -> None:
    works = tmp_path / "there"
    cut = stage(cut=f"test -e '{works}'", mend="true")
    link = Link("pipeline", "broker-7")
    with pytest.raises(StageTrouble):
        cut.disturb(link, CUT)
    works.touch()
    cut.disturb(link, CUT).release()
    assert cut.disturbed() == {}


def test_paused_broker_is_alive_but_does_not_answer(tmp_path: Path) -> None:
    log = tmp_path / "said"
    paused = stage("broker-7", pause=f"echo pause {{node}} >> '{log}'", resume=f"rm '{log}'")
    paused.silent = lambda node: log.exists()
    evidence = paused.pause("broker-7")
    assert evidence == "broker-7 was paused by the cluster's `pause` command and does not answer"
    assert log.read_text() == "pause broker-7\n"
    assert paused.paused("broker-7")
    assert paused.alive("broker-7")
    assert paused.disturbed() == {"broker-7": "paused"}
    paused.stop()
    assert not log.exists()
    assert paused.disturbed() == {}


def test_interrupted_run_still_restores_brokers(tmp_path: Path) -> None:
    """Ctrl-C while brokers are down or paused: each is restored once."""
    log, stop = tmp_path / "said", Stop()
    commands = {
        word: f"echo {word} {{node}} >> '{log}'" for word in ("kill", "restart", "pause", "resume")
    }
    broken = StageWithBrokers(commands, "broker-1", "broker-2", "broker-3", stop=stop)
    broken.silent = lambda node: True
    broken.kill("broker-1", "by a test")
    broken.kill("broker-2", "by a test")
    broken.pause("broker-3")
    broken.silent = lambda node: False
    log.unlink()
    stop.set("Ctrl-C")
    broken.stop()
    assert sorted(log.read_text().splitlines()) == [
        "restart broker-1", "restart broker-2", "resume broker-3"
    ]  # fmt: skip
    assert broken.disturbed() == {}
    with pytest.raises(StageTrouble, match="the run has ended"):
        broken.kill("broker-1", "by a fault that is late")


def test_stop_reports_what_was_not_restored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "said"
    commands = {"kill": "true", "restart": "echo no route >&2; exit 9", "pause": "true"}
    broken = stage("broker-1", "broker-2", resume=f"touch '{log}'", **commands)
    broken.silent = lambda node: True
    broken.kill("broker-1", "by a test")
    broken.pause("broker-2")
    broken.silent = lambda node: node == "broker-1"
    broken.created(["payments"])

    def unreachable(*_: object) -> None:
        raise RuntimeError("no broker answers")

    monkeypatch.setattr(external, "delete_topics", unreachable)
    message = (
        r"not fully restored.*broker-1: .*code 9: no route.*topics payments: no broker answers"
    )
    with pytest.raises(StageTrouble, match=message):
        broken.stop()
    assert log.exists()
    broken.stop()  # a second tear-down reports nothing


def test_failed_kill_is_undone_only_if_it_ended_the_broker(tmp_path: Path) -> None:
    nodes = ("broker-1", "broker-2", "broker-3")
    broken = stage(*nodes, kill=f"touch '{tmp_path}'/{{node}}; exit 1", restart="true")
    # The second survives its kill, and the third did not answer even before.
    killed = tmp_path / "broker-1"
    broken.silent = lambda node: node != "broker-2" and (node == "broker-3" or killed.exists())
    for node in nodes:
        with pytest.raises(StageTrouble):
            broken.kill(node, "by a test")
    assert broken._ended == {"broker-1"}


def test_failed_command_error_shows_its_output() -> None:
    with pytest.raises(StageTrouble, match=r"exited with code 3: no such host"):
        stage(cut="echo no such host >&2; exit 3").disturb(Link("pipeline", "broker-1"), CUT)


def test_missing_command_error_names_it() -> None:
    with pytest.raises(StageTrouble, match="has no command `kill`; add it under"):
        stage().kill("broker-1", "by a test")
    with pytest.raises(StageTrouble, match="has no command `stop`; add it under"):
        stage().shut_down("broker-1", "by a test")
    with pytest.raises(StageTrouble, match="has no command `pause`; add it under"):
        stage().pause("broker-1")
    with pytest.raises(StageTrouble, match="of an external cluster can only be cut"):
        stage().disturb(Link("producer", "broker-1"), lose("responses"))


@pytest.mark.parametrize(
    ("name", "expected"),
    [("local", True), ("docker", True), ("external:a.toml", True), ("external:", False),
     ("external", False), ("k8s", False), ("", False)],
)  # fmt: skip
def test_is_backend_recognises_names(name: str, expected: bool) -> None:
    assert is_backend(name) is expected
