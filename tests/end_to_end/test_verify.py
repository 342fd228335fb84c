"""The tutorial's commands: a dry run, a violated claim and its fix; and other user programs.

The commands are taken from the page, as users type them.
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
from tests.end_to_end.catalogue import LATER, MINUTES
from tests.end_to_end.command import Finished, onceproof

TUTORIAL = Path(__file__).parents[2] / "docs/tutorial"
PAGE = (TUTORIAL / "test-your-pipeline.md").read_text("utf-8")
DRY_RUN, BROKEN, FIXED = re.findall(r"^\$ onceproof (verify .*)$", PAGE, re.MULTILINE)


def run_page_command(command: str, runs: Path, folder: Path, **changed_files: str) -> Finished:
    """Run a command of the page in a copy of its files."""
    shutil.copytree(TUTORIAL / "verify", folder / "verify")
    for path, text in changed_files.items():
        (folder / "verify" / f"{path}.py").write_text(text)
    name, *words = shlex.split(command.replace(" python ", f" {shlex.quote(sys.executable)} "))
    return onceproof(name, "--out", runs, "--seed", "3", *words, folder=folder)


def verify_program(runs: Path, program: str, *words: str, **options: str) -> Finished:
    """Verify a program of this folder with the gentle preset."""
    option_words = [word for name, value in options.items() for word in (f"--{name}", value)]
    return onceproof(
        "verify", "--out", runs, "--seed", "3", "--preset", "gentle", *option_words, "--",
        sys.executable, Path(__file__).parent / program, *words,
    )  # fmt: skip


def test_page_shows_the_actual_program() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert code in (TUTORIAL / "verify/enrich.py").read_text()


@pytest.mark.integration
def test_dry_run_succeeds_as_shown(runs: Path, tmp_path: Path) -> None:
    done = run_page_command(DRY_RUN, runs, tmp_path)
    assert done.code == 0, done.out + done.err
    (shown,) = re.findall(r"```text\n(The dry run .*?)\n```", PAGE, re.DOTALL)
    assert done.out.startswith(shown)
    assert "SIGKILL the pipeline before its commit arrives" in done.err


@LATER
@pytest.mark.integration
def test_dry_run_reports_outputs_without_identity(runs: Path, tmp_path: Path) -> None:
    program = (TUTORIAL / "verify/enrich.py").read_text()
    changed = program.replace("json.dumps(order)", '"no identity"')
    assert changed != program
    done = run_page_command(DRY_RUN, runs, tmp_path, enrich=changed)
    assert done.code == 3, done.out + done.err
    assert "none has the identity of an input" in done.out
    assert "The dry run failed, although no fault" in done.out


@LATER
@pytest.mark.integration
def test_dry_run_reports_a_wrong_field(runs: Path, tmp_path: Path) -> None:
    (tmp_path / "rules.py").write_text(
        "def enriched(order):\n"
        "    return {**order, 'grams': order['quantity'] * 400, 'priority': 'high'}\n"
    )
    expecting = DRY_RUN.replace("--output", "--expect rules.py:enriched --instances 2 --output")
    done = run_page_command(expecting, runs, tmp_path)
    assert done.code == 1, done.out + done.err
    assert "wrong-output" in done.out
    assert 'priority: expected "high", found no such field' in done.out
    assert "The dry run failed, although no fault" in done.out


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("verify --output out", "no command; give the pipeline"),
        ("verify -- true", "Missing option '--output'"),
        ("verify --output out -- true {bootstap}", "unknown placeholder {bootstap}"),
        ("verify --output mysql:x -- true", "invalid output 'mysql:x': expected TOPIC"),
        ("verify --output out --preset cruel -- true", "expected gentle, standard or brutal"),
        ("verify --output out --data none.jsonl -- true", "none.jsonl"),
    ],
)
def test_invalid_options_are_a_usage_error(command: str, message: str, tmp_path: Path) -> None:
    done = onceproof(*shlex.split(command), folder=tmp_path)
    assert done.code == 2, done.out + done.err
    assert message in re.sub(r"[│\s]+", " ", done.err)
    assert "Traceback" not in done.err
    assert not (tmp_path / "runs").exists()


class TestTrial:
    pytestmark = MINUTES

    def test_original_program_duplicates_output(self, runs: Path, tmp_path: Path) -> None:
        done = run_page_command(BROKEN, runs, tmp_path)
        assert done.code == 1, done.out + done.err
        (group,) = done.report["findings"]
        assert group["anomaly"] == "duplicate-output"
        row = "exactly-once orders → enriched  violated  NO (holds)    Found duplicate-output ("
        assert row in PAGE
        assert row in done.out
        assert done.verdicts() == {"exactly-once orders → enriched": "violated"}

    def test_committing_before_processing_loses_output(self, runs: Path, tmp_path: Path) -> None:
        commit = "        consumer.commit(asynchronous=False)\n"
        program = (TUTORIAL / "verify/enrich.py").read_text()
        assert program.count(commit) == 1
        committing_first = program.replace(commit, "").replace(
            "    for message in messages:\n",
            f"    if messages:\n{commit}    for message in messages:\n",
        )
        done = run_page_command(BROKEN, runs, tmp_path, enrich=committing_first)
        assert done.code == 1, done.out + done.err
        (group,) = done.report["findings"]
        assert group["anomaly"] == "lost-output"

    def test_fixed_program_holds(self, runs: Path, tmp_path: Path) -> None:
        done = run_page_command(FIXED, runs, tmp_path)
        assert done.code == 0, done.out + done.err
        assert done.verdicts() == {"exactly-once orders → enriched": "holds"}
        assert re.search(r"Exactly once held through \d\d faults", done.out)

    def test_read_uncommitted_output_is_violated(self, runs: Path, tmp_path: Path) -> None:
        command = FIXED.replace("--output enriched", "--output enriched@read_uncommitted")
        done = run_page_command(command, runs, tmp_path)
        assert done.code == 1, done.out + done.err
        assert done.verdicts() == {"exactly-once orders → enriched": "violated"}

    @pytest.mark.parametrize(("mode", "verdict"), [("append", "violated"), ("overwrite", "holds")])
    def test_spark_job_is_killed_between_write_and_commit(
        self, runs: Path, mode: str, verdict: str
    ) -> None:
        done = verify_program(
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


class TestPostgresTable:
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
    def test_verdict_depends_on_mode(
        self, runs: Path, mode: str, verdict: str, anomalies: set[str]
    ) -> None:
        upserts = {"upserts": "json:$.customer"} if mode in ("latest", "stale") else {}
        done = verify_program(
            runs, "own_table_program.py",
            "{bootstrap}", "{input}", "{database}", "shipped", "{work}/cache", mode,
            output="postgres:shipped", **upserts,
        )  # fmt: skip
        assert done.verdicts() == {"exactly-once orders → shipped": verdict}, done.out + done.err
        assert {group["anomaly"] for group in done.report["findings"]} == anomalies
        assert done.code == (verdict == "violated")


class TestDeadLetters:
    pytestmark = MINUTES

    @pytest.mark.parametrize(
        ("mode", "verdict", "anomalies"),
        [
            ("one", "holds", set()),
            ("both", "violated", {"duplicate-output"}),
            ("lost", "violated", {"lost-output"}),
        ],
    )
    def test_verdict_depends_on_mode(
        self, runs: Path, mode: str, verdict: str, anomalies: set[str]
    ) -> None:
        done = verify_program(
            runs, "own_letters_program.py",
            "{bootstrap}", "{input}", "sorted", "rejected", "{work}/note", mode,
            **{"output": "sorted", "dead-letters": "rejected"},
        )  # fmt: skip
        assert done.verdicts() == {"exactly-once orders → sorted": verdict}, done.out + done.err
        # Without waiting for acknowledgements, orders may also be sent twice.
        assert {group["anomaly"] for group in done.report["findings"]} >= anomalies
        assert done.code == (verdict == "violated")


class TestHttpService:
    pytestmark = MINUTES

    def verify_http(self, runs: Path, mode: str, *more: str) -> Finished:
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
    def test_verdict_depends_on_mode(
        self, runs: Path, mode: str, verdict: str, anomalies: set[str]
    ) -> None:
        done = self.verify_http(runs, mode)
        assert done.verdicts() == {"exactly-once orders → shipments": verdict}, done.out + done.err
        assert {group["anomaly"] for group in done.report["findings"]} == anomalies
        assert done.code == (verdict == "violated")

    @pytest.mark.parametrize(
        ("mode", "verdict", "anomalies"),
        [("keyed", "holds", set()), ("plain", "violated", {"duplicate-output"})],
    )
    def test_service_is_stopped_and_killed_by_commands(
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

    def test_unhealthy_program_is_reported(self, runs: Path) -> None:
        done = self.verify_http(runs, "never-up", "--dry-run")
        assert done.code in (3, 4), done.out + done.err
        assert re.search(r"it is not healthy: http://127.0.0.1:\d+/up answered 503", done.out)


class TestIcebergTable:
    """The table is read by its metadata, without Spark."""

    pytestmark = MINUTES

    @pytest.mark.parametrize(
        ("mode", "verdict"), [("stream", "holds"), ("merge", "holds"), ("append", "violated")]
    )
    def test_verdict_depends_on_mode(self, runs: Path, mode: str, verdict: str) -> None:
        upserts = {"upserts": "json:$.customer"} if mode == "merge" else {}
        done = verify_program(
            runs, "own_iceberg_job.py",
            "{bootstrap}", "{checkpoint}", "{spark_jars}", "{work}/lake", mode,
            output="iceberg:{work}/lake/orders", **upserts,
        )  # fmt: skip
        assert done.verdicts() == {"exactly-once orders → lake/orders": verdict}, (
            done.out + done.err
        )


class TestDeltaTable:
    """The table is read by its log, without Spark."""

    pytestmark = MINUTES

    @pytest.mark.parametrize(
        ("mode", "verdict"), [("idempotent", "holds"), ("merge", "holds"), ("append", "violated")]
    )
    def test_verdict_depends_on_mode(self, runs: Path, mode: str, verdict: str) -> None:
        done = verify_program(
            runs, "own_delta_job.py",
            "{bootstrap}", "{checkpoint}", "{spark_jars}", "{work}/orders", mode,
            output="delta:{work}/orders",
        )  # fmt: skip
        assert done.verdicts() == {"exactly-once orders → orders": verdict}, done.out + done.err


class TestCommandOutput:
    """The output is read by a command that prints the records."""

    pytestmark = MINUTES

    @pytest.mark.parametrize(
        ("name", "verdict"), [("enrich_mended", "holds"), ("enrich", "violated")]
    )
    def test_verdict_depends_on_mode(self, runs: Path, name: str, verdict: str) -> None:
        printing = Path(__file__).parent / "own_printing_program.py"
        done = verify_program(
            runs, str(TUTORIAL / f"verify/{name}.py"), "{bootstrap}", "{input}", "enriched",
            output=shlex.join(
                [f"command:{sys.executable}", str(printing), "{bootstrap}", "enriched"]
            ),
            topic="enriched",
        )  # fmt: skip
        assert set(done.verdicts().values()) == {verdict}, done.out + done.err


class TestJavaProgram:
    """A Java program started from source, with identities only in headers."""

    pytestmark = MINUTES

    @pytest.mark.parametrize(("mode", "verdict"), [("together", "holds"), ("apart", "violated")])
    def test_verdict_depends_on_mode(self, runs: Path, mode: str, verdict: str) -> None:
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
