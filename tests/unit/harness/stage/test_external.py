"""The file of an external cluster, and the commands that it gives."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from onceproof.harness.links.disturbances import CUT, lose
from onceproof.harness.links.topology import Link
from onceproof.harness.processes.trouble import StageTrouble
from onceproof.harness.stage import external
from onceproof.harness.stage.backends import PLAIN_TEXT, SECURED, is_backend, offers, prepare
from onceproof.harness.stage.external import Cluster, ExternalStage
from onceproof.harness.tools.error import SetupError
from onceproof.harness.wait import Stop


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "cluster.toml"


def test_only_an_address_is_needed(file: Path) -> None:
    file.write_text('bootstrap = "kafka-1:9092,kafka-2:9092"')
    cluster = Cluster.load(file)
    assert (cluster.bootstrap, cluster.database) == ("kafka-1:9092,kafka-2:9092", "")
    assert offers(f"external:{file}") == {PLAIN_TEXT}


def test_what_is_done_must_have_something_that_undoes_it(file: Path) -> None:
    file.write_text(
        'bootstrap = "k:1"\n[commands]\nkill = "a"\nrestart = "b"\ncut = "c {node} {source}"'
    )
    assert Cluster.load(file).offers == {"kill"}
    file.write_text(
        'bootstrap = "k:1"\n[commands]\nstop = "a"\nrestart = "b"\npause = "c"\nresume = "d"'
    )
    assert Cluster.load(file).offers == {"stop", "pause"}


def test_a_secured_stage_needs_openssl(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(SetupError, match="no openssl on the PATH"):
        prepare(SECURED)


def test_credentials_are_in_its_file_in_another_or_in_the_environment(
    file: Path, tmp_path: Path
) -> None:
    there = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": "trial",
        "sasl.password": "open-sesame",
    }
    lines = [f"{name} = '{value}'" for name, value in there.items()]
    file.write_text("\n".join(["bootstrap = 'k:1'", "[kafka]", *lines]))
    file.chmod(0o600)
    cluster = Cluster.load(file, {})
    assert cluster.properties == there
    assert "open-sesame" not in repr(cluster)
    assert offers(f"external:{file}") == frozenset()

    other = tmp_path / "kafka.properties"
    other.write_text("".join(f"{name}={value}\n" for name, value in there.items()))
    other.chmod(0o600)
    file.write_text("bootstrap = 'k:1'\nkafka-properties = 'kafka.properties'")
    assert Cluster.load(file, {}).properties == there
    again = Cluster.load(file, {"ONCEPROOF_KAFKA_SASL_PASSWORD": "abracadabra"})
    assert again.properties == {**there, "sasl.password": "abracadabra"}


@pytest.mark.parametrize(
    ("text", "said"),
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
def test_credentials_that_cannot_be_used(file: Path, text: str, said: str) -> None:
    file.write_text(f"bootstrap = 'k:1'\n{text}")
    file.chmod(0o644)
    with pytest.raises(SetupError, match=said) as error:
        Cluster.load(file, {})
    assert str(error.value).startswith(str(file))
    assert "open-sesame" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("bootstrap =", "is not TOML"),
        ("", 'bootstrap: expected a string, such as bootstrap = "…"'),
        ("bootstrap = 9092", "bootstrap: expected a string"),
        ('bootstrap = ""', "bootstrap: expected a string"),
        ('bootstrap = "k:1"\nhosts = "k"', "hosts: expected only bootstrap, database, kafka"),
        ('bootstrap = "k:1"\ncommands = "kill"', "commands: expected only bootstrap, database"),
        ('bootstrap = "k:1"\n[commands]\nmelt = "x"', "melt: expected only bootstrap, database"),
        ('bootstrap = "k:1"\n[commands]\nkill = 9', "kill: expected a string"),
        ('bootstrap = "k:1"\ndatabase = 1', "database: expected a string"),
    ],
)
def test_what_is_no_cluster(file: Path, text: str, said: str) -> None:
    file.write_text(text)
    with pytest.raises(SetupError, match=said):
        Cluster.load(file)


def test_a_file_that_is_not_there(file: Path) -> None:
    with pytest.raises(SetupError, match="cannot be read: No such file"):
        Cluster.load(file)


class Known(ExternalStage):
    """Its brokers are known, and those that do not answer are in `silent`."""

    def __init__(self, commands: dict[str, str], *nodes: str, stop: Stop | None = None) -> None:
        cluster = Cluster(bootstrap="127.0.0.1:1", database="", commands=commands)
        super().__init__(cluster, marker="0", stop=stop or Stop())
        self._addresses = dict.fromkeys(nodes, "127.0.0.1:1")
        self.silent: Callable[[str], bool] = set[str]().__contains__

    def _answers(self, node: str) -> bool:
        return not self.silent(node)


def stage(*nodes: str, **commands: str) -> Known:
    return Known(commands, *nodes)


def test_commands_get_the_names(tmp_path: Path) -> None:
    said = tmp_path / "said"
    cut = stage(cut=f"echo cut {{source}} from {{node}} >> '{said}'", mend=f"echo mend >> '{said}'")
    link = Link("pipeline", "broker-7")
    cut.disturb(link, CUT)
    assert cut.disturbed() == {"pipeline→broker-7": "cut"}
    cut.stop()
    assert said.read_text() == "cut pipeline from broker-7\nmend\n"
    assert cut.disturbed() == {}


def test_a_link_that_two_cut_is_mended_when_both_let_go(tmp_path: Path) -> None:
    said = tmp_path / "said"
    cut = stage(cut=f"echo cut >> '{said}'", mend=f"echo mend >> '{said}'")
    link = Link("pipeline", "broker-7")
    one, other = cut.disturb(link, CUT), cut.disturb(link, CUT)
    one.release()
    assert cut.disturbed() == {"pipeline→broker-7": "cut"}
    one.release()
    assert cut.disturbed() == {"pipeline→broker-7": "cut"}
    other.release()
    assert cut.disturbed() == {}
    assert said.read_text() == "cut\nmend\n"


def test_a_cut_that_failed_is_held_by_nobody(tmp_path: Path) -> None:
    there = tmp_path / "there"
    cut = stage(cut=f"test -e '{there}'", mend="true")
    link = Link("pipeline", "broker-7")
    with pytest.raises(StageTrouble):
        cut.disturb(link, CUT)
    there.touch()
    cut.disturb(link, CUT).release()
    assert cut.disturbed() == {}


def test_a_paused_broker_is_up_and_does_not_answer(tmp_path: Path) -> None:
    said = tmp_path / "said"
    paused = stage("broker-7", pause=f"echo pause {{node}} >> '{said}'", resume=f"rm '{said}'")
    paused.silent = lambda node: said.exists()
    told = paused.pause("broker-7")
    assert told == "broker-7 was paused by the cluster's `pause` command and does not answer"
    assert said.read_text() == "pause broker-7\n"
    assert paused.paused("broker-7")
    assert paused.alive("broker-7")
    assert paused.disturbed() == {"broker-7": "paused"}
    paused.stop()
    assert not said.exists()
    assert paused.disturbed() == {}


def test_who_asked_the_run_to_stop_does_not_stop_the_mending(tmp_path: Path) -> None:
    """Ctrl-C while brokers are down and paused: everything is undone, once, and in its order."""
    said, stop = tmp_path / "said", Stop()
    commands = {
        word: f"echo {word} {{node}} >> '{said}'" for word in ("kill", "restart", "pause", "resume")
    }
    broken = Known(commands, "broker-1", "broker-2", "broker-3", stop=stop)
    broken.silent = lambda node: True
    broken.kill("broker-1", "by a test")
    broken.kill("broker-2", "by a test")
    broken.pause("broker-3")
    broken.silent = lambda node: False
    said.unlink()
    stop.set("Ctrl-C")
    broken.stop()
    assert sorted(said.read_text().splitlines()) == [
        "restart broker-1", "restart broker-2", "resume broker-3"
    ]  # fmt: skip
    assert broken.disturbed() == {}
    with pytest.raises(StageTrouble, match="the run has ended"):
        broken.kill("broker-1", "by a fault that is late")


def test_what_is_not_undone_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = tmp_path / "said"
    commands = {"kill": "true", "restart": "echo no route >&2; exit 9", "pause": "true"}
    broken = stage("broker-1", "broker-2", resume=f"touch '{said}'", **commands)
    broken.silent = lambda node: True
    broken.kill("broker-1", "by a test")
    broken.pause("broker-2")
    broken.silent = lambda node: node == "broker-1"
    broken.created(["payments"])

    def away(*_: object) -> None:
        raise RuntimeError("no broker answers")

    monkeypatch.setattr(external, "delete_topics", away)
    told = r"not fully restored.*broker-1: .*code 9: no route.*topics payments: no broker answers"
    with pytest.raises(StageTrouble, match=told):
        broken.stop()
    assert said.exists()
    broken.stop()  # a second tear-down has nothing to add


def test_a_kill_that_fails_and_kills_has_to_be_undone(tmp_path: Path) -> None:
    nodes = ("broker-1", "broker-2", "broker-3")
    broken = stage(*nodes, kill=f"touch '{tmp_path}'/{{node}}; exit 1", restart="true")
    # The second outlives its kill, and the third was paused before.
    killed = tmp_path / "broker-1"
    broken.silent = lambda node: node != "broker-2" and (node == "broker-3" or killed.exists())
    for node in nodes:
        with pytest.raises(StageTrouble):
            broken.kill(node, "by a test")
    assert broken._ended == {"broker-1"}


def test_a_command_that_fails_is_told_with_its_words() -> None:
    with pytest.raises(StageTrouble, match=r"exited with code 3: no such host"):
        stage(cut="echo no such host >&2; exit 3").disturb(Link("pipeline", "broker-1"), CUT)


def test_a_command_that_is_not_given() -> None:
    with pytest.raises(StageTrouble, match="has no command `kill`; add it under"):
        stage().kill("broker-1", "by a test")
    with pytest.raises(StageTrouble, match="has no command `stop`; add it under"):
        stage().shut_down("broker-1", "by a test")
    with pytest.raises(StageTrouble, match="has no command `pause`; add it under"):
        stage().pause("broker-1")
    with pytest.raises(StageTrouble, match="of an external cluster can only be cut"):
        stage().disturb(Link("producer", "broker-1"), lose("responses"))


@pytest.mark.parametrize(
    ("word", "known"),
    [("local", True), ("docker", True), ("external:a.toml", True), ("external:", False),
     ("external", False), ("k8s", False), ("", False)],
)  # fmt: skip
def test_names_of_backends(word: str, known: bool) -> None:
    assert is_backend(word) is known
