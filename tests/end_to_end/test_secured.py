"""Runs on brokers that require credentials, and a search for these in all that a run leaves."""

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
    """Learns the secrets of runs from where they are kept, and looks for them in argument lists.

    Attributes:
        kept: the temporary folder of these runs, and of no others.
    """

    def __init__(self, kept: Path) -> None:
        self.kept = kept
        self.secrets: set[str] = set()
        self.shown: list[str] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(0.2):
            for folder in self.kept.glob("onceproof-*-security"):
                self._learn(folder)
            for process in Path("/proc").glob("[0-9]*/cmdline"):
                if words := _text(process):
                    self.shown += [words for secret in self.secrets if secret in words]

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
    with tempfile.TemporaryDirectory() as kept:  # a short path, since sockets lie there too
        Path(kept).chmod(0o711)  # PostgreSQL runs as somebody else where we are root
        monkeypatch.setenv("TMPDIR", kept)
        found = Watch(Path(kept))
        yield found
        found.close()


def nothing_is_left(watch: Watch, done: Finished, runs: Path) -> None:
    """No secret is in what was printed, in the run folder or in an argument list."""
    watch.close()
    assert len(watch.secrets) >= 3, "a password, the authority's key and the brokers'"
    assert watch.shown == []
    for secret in watch.secrets:
        assert secret not in done.out + done.err
    files = [file for file in runs.rglob("*") if file.is_file()]
    assert len(files) > 10
    for file in files:
        content = file.read_bytes()
        assert not [s for s in watch.secrets if s.encode() in content], file
    assert not [f for f in watch.kept.glob("onceproof-*-security") if _text(f / "users")]


def test_the_page_shows_how_the_program_connects() -> None:
    (shown,) = (b.text for b in blocks() if (b.page, b.language) == (PAGE, "python"))
    assert shown in PROGRAM.read_text()


def test_a_pipeline_of_ones_own_connects_by_its_placeholders(watch: Watch, runs: Path) -> None:
    words = [sys.executable, str(PROGRAM), "{bootstrap}", "{input}", "{librdkafka_properties}"]
    words += ["copies", "{client_properties}"]
    done = onceproof(
        "verify", "--dry-run", "--secured", "--output", "copies", "--seed", "1", "--out", runs,
        "--", *words, timeout=800,
    )  # fmt: skip
    nothing_is_left(watch, done, runs)
    assert done.code == 0, done.out + done.err
    assert "The dry run succeeded" in done.out


@LATER
@pytest.mark.parametrize("scenario", ["consume-transform-produce-quiet", "spark-kafka-sink"])
def test_built_in_pipelines_connect_too(watch: Watch, runs: Path, scenario: str) -> None:
    done = onceproof("run", scenario, "--secured", "--seed", "1", "--out", runs, timeout=800)
    nothing_is_left(watch, done, runs)
    assert done.code == (1 if scenario == "spark-kafka-sink" else 0), done.out + done.err


def test_a_scenario_that_needs_plain_text_is_refused(runs: Path) -> None:
    done = onceproof("run", "kafka-connect-file-source-quiet", "--secured", "--out", runs)
    assert done.code == 3
    assert "needs plain text, which this stage does not offer" in done.err
