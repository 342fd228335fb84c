"""Runs on brokers that require credentials, which must not leak."""

from __future__ import annotations

import re
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end_to_end.catalogue import LATER
from tests.end_to_end.command import Finished, onceproof
from tests.unit.docs.pages import blocks

pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.timeout(900)]

PROGRAM = Path(__file__).with_name("own_secured_program.py")
PAGE = "docs/how-to/use-your-own-cluster.md"


class Watch:
    """Collects the secrets of runs and searches command lines for them.

    Attributes:
        temporary: the temporary folder of these runs.
    """

    def __init__(self, temporary: Path) -> None:
        self.temporary = temporary
        self.secrets: set[str] = set()
        self.leaks: list[str] = []
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._search, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._stopped.set()
        self._thread.join()

    def _search(self) -> None:
        while not self._stopped.wait(0.2):
            for folder in self.temporary.glob("onceproof-*-security"):
                self._learn(folder)
            for process in Path("/proc").glob("[0-9]*/cmdline"):
                if command := _text(process):
                    self.leaks += [command for secret in self.secrets if secret in command]

    def _learn(self, folder: Path) -> None:
        assert folder.stat().st_mode & 0o077 == 0
        properties = _text(folder / "client/librdkafka.properties")
        self.secrets.update(re.findall(r"^sasl\.password=(.+)$", properties, re.MULTILINE))
        for key in folder.glob("*.key"):
            self.secrets.update(_text(key).splitlines()[1:2])


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode(errors="replace")
    except OSError:
        return ""


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Iterator[Watch]:
    with tempfile.TemporaryDirectory() as temporary:  # a short path, because of the sockets in it
        Path(temporary).chmod(0o711)  # as root, PostgreSQL runs as another user
        monkeypatch.setenv("TMPDIR", temporary)
        found = Watch(Path(temporary))
        yield found
        found.close()


def assert_nothing_leaked(watch: Watch, done: Finished, runs: Path) -> None:
    """No secret is in the output, the run folder or a command line."""
    watch.close()
    assert len(watch.secrets) >= 3, "a password, the authority's key and the brokers'"
    assert watch.leaks == []
    for secret in watch.secrets:
        assert secret not in done.out + done.err
    files = [file for file in runs.rglob("*") if file.is_file()]
    assert len(files) > 10
    for file in files:
        content = file.read_bytes()
        assert not [s for s in watch.secrets if s.encode() in content], file
    assert not [f for f in watch.temporary.glob("onceproof-*-security") if _text(f / "users")]


def test_page_shows_the_actual_program() -> None:
    (shown,) = (b.text for b in blocks() if (b.page, b.language) == (PAGE, "python"))
    assert shown in PROGRAM.read_text()


@LATER
def test_user_pipeline_connects_with_its_placeholders(watch: Watch, runs: Path) -> None:
    command = [sys.executable, str(PROGRAM), "{bootstrap}", "{input}", "{librdkafka_properties}"]
    command += ["copies", "{client_properties}"]
    done = onceproof(
        "verify", "--dry-run", "--secured", "--output", "copies", "--seed", "1", "--out", runs,
        "--", *command, timeout=800,
    )  # fmt: skip
    assert_nothing_leaked(watch, done, runs)
    assert done.code == 0, done.out + done.err
    assert "The dry run succeeded" in done.out


@LATER
@pytest.mark.parametrize("scenario", ["consume-transform-produce-quiet", "spark-kafka-sink"])
def test_built_in_pipelines_connect_with_credentials(
    watch: Watch, runs: Path, scenario: str
) -> None:
    done = onceproof("run", scenario, "--secured", "--seed", "1", "--out", runs, timeout=800)
    assert_nothing_leaked(watch, done, runs)
    assert done.code == (1 if scenario == "spark-kafka-sink" else 0), done.out + done.err


def test_scenario_that_needs_plain_text_is_refused(runs: Path) -> None:
    done = onceproof("run", "kafka-connect-file-source-quiet", "--secured", "--out", runs)
    assert done.code == 3
    assert "needs plain text, which this stage does not offer" in done.err
