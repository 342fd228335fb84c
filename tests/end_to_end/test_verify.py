"""The tutorial, command by command: a dry run, a pipeline that is caught, and its fix.

The commands are taken from the page, so that they are what users type.
"""

from __future__ import annotations

import re
import shlex
import shutil
import socket
import sys
from pathlib import Path

import pytest

from onceproof.commands.setup import prepared
from onceproof.harness.tools import cache
from tests.end_to_end.catalogue import MINUTES
from tests.end_to_end.command import Finished, onceproof

TUTORIAL = Path(__file__).parents[2] / "docs/tutorial"
PAGE = (TUTORIAL / "test-your-pipeline.md").read_text("utf-8")
DRY_RUN, BROKEN, MENDED = re.findall(r"^\$ onceproof (verify .*)$", PAGE, re.MULTILINE)


def typed(command: str, runs: Path, folder: Path, **change: str) -> Finished:
    """Type a command of the page where a copy of its files is."""
    shutil.copytree(TUTORIAL / "verify", folder / "verify")
    for path, text in change.items():
        (folder / "verify" / f"{path}.py").write_text(text)
    name, *words = shlex.split(command.replace(" python ", f" {shlex.quote(sys.executable)} "))
    return onceproof(name, "--out", runs, "--seed", "3", *words, folder=folder)


def tried(runs: Path, program: str, *words: str, **options: str) -> Finished:
    """Put a program beside this file on trial, by the mildest preset."""
    said = [word for name, value in options.items() for word in (f"--{name}", value)]
    return onceproof(
        "verify", "--out", runs, "--seed", "3", "--preset", "gentle", *said, "--",
        sys.executable, Path(__file__).parent / program, *words,
    )  # fmt: skip


def test_the_page_shows_the_program_as_it_is() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert code in (TUTORIAL / "verify/enrich.py").read_text()


@pytest.mark.integration
def test_a_dry_run_finds_every_record(runs: Path, tmp_path: Path) -> None:
    done = typed(DRY_RUN, runs, tmp_path)
    assert done.code == 0, done.out + done.err
    (said,) = re.findall(r"```text\n(The dry run .*?)\n```", PAGE, re.DOTALL)
    assert done.out.startswith(said)
    assert "SIGKILL the pipeline before its commit arrives" in done.err


@pytest.mark.integration
def test_a_dry_run_says_that_no_identity_comes_back(runs: Path, tmp_path: Path) -> None:
    program = (TUTORIAL / "verify/enrich.py").read_text()
    changed = program.replace("json.dumps(order)", '"no identity"')
    assert changed != program
    done = typed(DRY_RUN, runs, tmp_path, enrich=changed)
    assert done.code == 3, done.out + done.err
    assert "none has the identity of an input" in done.out
    assert "The dry run failed, although no fault" in done.out


@pytest.mark.integration
def test_a_dry_run_says_which_field_of_a_content_is_wrong(runs: Path, tmp_path: Path) -> None:
    (tmp_path / "rules.py").write_text(
        "def enriched(order):\n"
        "    return {**order, 'grams': order['quantity'] * 400, 'priority': 'high'}\n"
    )
    expecting = DRY_RUN.replace("--output", "--expect rules.py:enriched --instances 2 --output")
    done = typed(expecting, runs, tmp_path)
    assert done.code == 1, done.out + done.err
    assert "wrong-output" in done.out
    assert 'priority: expected "high", found no such field' in done.out
    assert "The dry run failed, although no fault" in done.out


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("verify --output out", "no command; give the pipeline"),
        ("verify -- true", "Missing option '--output'"),
        ("verify --output out -- true {bootstap}", "unknown placeholder {bootstap}"),
        ("verify --output mysql:x -- true", "invalid output 'mysql:x': expected TOPIC"),
        ("verify --output out --preset cruel -- true", "expected gentle, standard or brutal"),
        ("verify --output out --data none.jsonl -- true", "none.jsonl"),
    ],
)
def test_what_cannot_be_tried_is_usage(command: str, says: str, tmp_path: Path) -> None:
    done = onceproof(*shlex.split(command), folder=tmp_path)
    assert done.code == 2, done.out + done.err
    assert says in re.sub(r"[│\s]+", " ", done.err)
    assert "Traceback" not in done.err
    assert not (tmp_path / "runs").exists()


class TestTheTrial:
    pytestmark = MINUTES

    def test_the_bug_is_found(self, runs: Path, tmp_path: Path) -> None:
        done = typed(BROKEN, runs, tmp_path)
        assert done.code == 1, done.out + done.err
        (group,) = done.report["findings"]
        assert group["anomaly"] == "duplicate-output"
        row = "exactly-once orders → enriched  violated  NO (holds)    Found duplicate-output ("
        assert row in PAGE
        assert row in done.out
        assert done.verdicts() == {"exactly-once orders → enriched": "violated"}

    def test_who_commits_first_is_caught_losing(self, runs: Path, tmp_path: Path) -> None:
        commit = "        consumer.commit(asynchronous=False)\n"
        program = (TUTORIAL / "verify/enrich.py").read_text()
        assert program.count(commit) == 1
        first = program.replace(commit, "").replace(
            "    for message in messages:\n",
            f"    if messages:\n{commit}    for message in messages:\n",
        )
        done = typed(BROKEN, runs, tmp_path, enrich=first)
        assert done.code == 1, done.out + done.err
        (group,) = done.report["findings"]
        assert group["anomaly"] == "lost-output"

    def test_it_holds_when_it_is_mended(self, runs: Path, tmp_path: Path) -> None:
        done = typed(MENDED, runs, tmp_path)
        assert done.code == 0, done.out + done.err
        assert done.verdicts() == {"exactly-once orders → enriched": "holds"}
        assert re.search(r"Exactly once held through \d\d faults", done.out)

    def test_all_records_show_what_was_aborted(self, runs: Path, tmp_path: Path) -> None:
        command = MENDED.replace("--output enriched", "--output enriched@read_uncommitted")
        done = typed(command, runs, tmp_path)
        assert done.code == 1, done.out + done.err
        assert done.verdicts() == {"exactly-once orders → enriched": "violated"}

    @pytest.mark.parametrize(("mode", "verdict"), [("append", "violated"), ("overwrite", "holds")])
    def test_a_spark_job_is_killed_behind_its_write(
        self, runs: Path, mode: str, verdict: str
    ) -> None:
        done = tried(
            runs, "own_spark_job.py",
            "{bootstrap}", "{checkpoint}", "{spark_jars}", "{work}/out", mode,
            output="parquet:{work}/out",
            effects=f"{Path(__file__).parent / 'own_spark_job.py'}:pieces",
        )  # fmt: skip
        assert done.verdicts() == {"exactly-once orders → out": verdict}, done.out + done.err
        assert any(
            "and the batch had no commit" in (f["evidence"] or "") for f in done.report["faults"]
        )
        assert list(cache.location().glob("drivers/*/classes.jsa")), "its classes were kept"


class TestATable:
    """A program that writes into PostgreSQL, and one value for each key."""

    pytestmark = MINUTES

    @pytest.mark.parametrize(
        ("mode", "verdict", "anomalies"),
        [
            ("guarded", "holds", set()),
            ("plain", "violated", {"duplicate-output"}),
            ("latest", "holds", set()),
            ("stale", "violated", {"state-mismatch"}),
        ],
    )
    def test_what_it_comes_to(
        self, runs: Path, mode: str, verdict: str, anomalies: set[str]
    ) -> None:
        upserts = {"upserts": "json:$.customer"} if mode in ("latest", "stale") else {}
        done = tried(
            runs, "own_table_program.py",
            "{bootstrap}", "{input}", "{database}", "shipped", "{work}/cache", mode,
            output="postgres:shipped", **upserts,
        )  # fmt: skip
        assert done.verdicts() == {"exactly-once orders → shipped": verdict}, done.out + done.err
        assert {group["anomaly"] for group in done.report["findings"]} == anomalies
        assert done.code == (verdict == "violated")


class TestDeadLetters:
    """A program that puts aside what it cannot process."""

    pytestmark = MINUTES

    @pytest.mark.parametrize(
        ("mode", "verdict", "anomalies"),
        [
            ("one", "holds", set()),
            ("both", "violated", {"duplicate-output"}),
            ("lost", "violated", {"lost-output"}),
        ],
    )
    def test_what_it_comes_to(
        self, runs: Path, mode: str, verdict: str, anomalies: set[str]
    ) -> None:
        done = tried(
            runs, "own_letters_program.py",
            "{bootstrap}", "{input}", "sorted", "rejected", "{work}/note", mode,
            **{"output": "sorted", "dead-letters": "rejected"},
        )  # fmt: skip
        assert done.verdicts() == {"exactly-once orders → sorted": verdict}, done.out + done.err
        # What is neither sent nor waited for with the others may also be sent once too often.
        assert {group["anomaly"] for group in done.report["findings"]} >= anomalies
        assert done.code == (verdict == "violated")


class TestAnHttpService:
    """A program that posts to a service, and tells at a URL that it is up."""

    pytestmark = MINUTES

    def done(self, runs: Path, mode: str, *more: str) -> Finished:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = str(free.getsockname()[1])
        return onceproof(
            "verify", "--out", runs, "--seed", "3", "--preset", "gentle", "--records", "6000",
            "--output", "http:shipments", "--idempotency-key", "Idempotency-Key",
            "--healthy", f"http://127.0.0.1:{port}/up", *more, "--",
            sys.executable, Path(__file__).with_name("own_http_program.py"),
            "{bootstrap}", "{input}", "{http}/shipments", port, mode,
        )  # fmt: skip

    @pytest.mark.parametrize(
        ("mode", "verdict", "anomalies"),
        [
            ("keyed", "holds", set()),
            ("plain", "violated", {"duplicate-output"}),
            ("early", "violated", {"lost-output"}),
        ],
    )
    def test_what_it_comes_to(
        self, runs: Path, mode: str, verdict: str, anomalies: set[str]
    ) -> None:
        done = self.done(runs, mode)
        assert done.verdicts() == {"exactly-once orders → shipments": verdict}, done.out + done.err
        assert {group["anomaly"] for group in done.report["findings"]} == anomalies
        assert done.code == (verdict == "violated")

    @pytest.mark.parametrize(
        ("mode", "verdict", "anomalies"),
        [("keyed", "holds", set()), ("plain", "violated", {"duplicate-output"})],
    )
    def test_a_service_that_only_commands_reach(
        self, runs: Path, tmp_path: Path, mode: str, verdict: str, anomalies: set[str]
    ) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = str(free.getsockname()[1])
        service = [sys.executable, str(Path(__file__).with_name("own_service.py"))]
        by = {do: shlex.join([*service, do, str(tmp_path / "pid")]) for do in ("stop", "kill")}
        done = onceproof(
            "verify", "--out", runs, "--seed", "3", "--records", "2000",
            "--output", "http:shipments", "--idempotency-key", "Idempotency-Key",
            "--healthy", f"http://127.0.0.1:{port}/up",
            "--stop-command", by["stop"], "--kill-command", by["kill"],
            "--fault", "kill program", "--fault", "stop program",
            "--fault", "strike-http kill-landed", "--accept-untested", "all", "--",
            *service, "start", tmp_path / "pid",
            sys.executable, Path(__file__).with_name("own_http_program.py"),
            "{bootstrap}", "{input}", "{http}/shipments", port, mode,
        )  # fmt: skip
        assert done.verdicts() == {"exactly-once orders → shipments": verdict}, done.out + done.err
        assert {group["anomaly"] for group in done.report["findings"]} == anomalies
        assert "it is controlled by commands, and none of them pauses it" in done.out
        killed = [each["evidence"] for each in done.report["faults"] if "kill" in each["fault"]]
        assert killed
        assert all("did not answer: " in (evidence or "") for evidence in killed)
        assert Path("/proc", (tmp_path / "pid").read_text()).exists() is False

    def test_one_that_is_never_up_is_told_of(self, runs: Path) -> None:
        done = self.done(runs, "never-up", "--dry-run")
        assert done.code in (3, 4), done.out + done.err
        assert re.search(r"it is not healthy: http://127.0.0.1:\d+/up answered 503", done.out)


class TestAnIcebergTable:
    """A PySpark job whose table is read by its metadata, without Spark."""

    pytestmark = MINUTES

    @pytest.mark.parametrize(
        ("mode", "verdict"), [("stream", "holds"), ("merge", "holds"), ("append", "violated")]
    )
    def test_what_it_comes_to(self, runs: Path, mode: str, verdict: str) -> None:
        upserts = {"upserts": "json:$.customer"} if mode == "merge" else {}
        done = tried(
            runs, "own_iceberg_job.py",
            "{bootstrap}", "{checkpoint}", "{spark_jars}", "{work}/lake", mode,
            output="iceberg:{work}/lake/orders", **upserts,
        )  # fmt: skip
        assert done.verdicts() == {"exactly-once orders → lake/orders": verdict}, (
            done.out + done.err
        )


class TestADeltaTable:
    """A PySpark job whose table is read by its log, without Spark."""

    pytestmark = MINUTES

    @pytest.mark.parametrize(
        ("mode", "verdict"), [("idempotent", "holds"), ("merge", "holds"), ("append", "violated")]
    )
    def test_what_it_comes_to(self, runs: Path, mode: str, verdict: str) -> None:
        done = tried(
            runs, "own_delta_job.py",
            "{bootstrap}", "{checkpoint}", "{spark_jars}", "{work}/orders", mode,
            output="delta:{work}/orders",
        )  # fmt: skip
        assert done.verdicts() == {"exactly-once orders → orders": verdict}, done.out + done.err


class TestWhatACommandPrints:
    """The tutorial's programs, judged by what a command says that it found."""

    pytestmark = MINUTES

    @pytest.mark.parametrize(
        ("name", "verdict"), [("enrich_mended", "holds"), ("enrich", "violated")]
    )
    def test_what_it_comes_to(self, runs: Path, name: str, verdict: str) -> None:
        printing = Path(__file__).parent / "own_printing_program.py"
        done = tried(
            runs, str(TUTORIAL / f"verify/{name}.py"), "{bootstrap}", "{input}", "enriched",
            output=shlex.join(
                [f"command:{sys.executable}", str(printing), "{bootstrap}", "enriched"]
            ),
            topic="enriched",
        )  # fmt: skip
        assert set(done.verdicts().values()) == {verdict}, done.out + done.err


class TestAnotherLanguage:
    """A program in Java, started from its source, whose identities are in headers alone."""

    pytestmark = MINUTES

    @pytest.mark.parametrize(("mode", "verdict"), [("together", "holds"), ("apart", "violated")])
    def test_what_it_comes_to(self, runs: Path, mode: str, verdict: str) -> None:
        stage = prepared().stage
        assert stage is not None
        done = onceproof(
            "verify", "--out", runs, "--seed", "3", "--preset", "gentle", "--output", "copied",
            "--identity", "header:order", "--",
            stage.java, "-Xmx160m", "-cp", f"{stage.kafka_libs}/*",
            Path(__file__).parent / "OwnCopy.java",
            "{bootstrap}", "{input}", "copied", mode,
        )  # fmt: skip
        assert done.verdicts() == {"exactly-once orders → copied": verdict}, done.out + done.err
