"""Pipelines of the how-to guides: violated at first, holding when fixed as described.

Commands, fixes and expected output are taken from the pages.
"""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from tests.end_to_end.catalogue import MINUTES
from tests.end_to_end.command import Finished, onceproof

HOW_TO = Path(__file__).parents[2] / "docs/how-to"
PAIRS = Path(__file__).parents[1] / "power/pairs"
DATABASE = (HOW_TO / "test-a-consumer-with-a-database.md").read_text("utf-8")
SEVERAL = (HOW_TO / "test-a-pipeline-with-several-inputs.md").read_text("utf-8")
SPARK = (HOW_TO / "test-a-spark-job.md").read_text("utf-8")
QUEUE = (HOW_TO / "test-a-program-that-writes-to-a-queue.md").read_text("utf-8")
HTTP = (HOW_TO / "test-a-program-that-calls-a-web-service.md").read_text("utf-8")
AVRO = (HOW_TO / "test-a-program-that-reads-avro.md").read_text("utf-8")
SCHEMA_AVRO, FIXED_FIELD = re.findall(r"^```python\n(.*?)^```", AVRO, re.DOTALL | re.MULTILINE)
IN_MEMORY, IN_DATABASE = re.findall(r"^```python\n(.*?)^```", SEVERAL, re.DOTALL | re.MULTILINE)
BROKEN_POST, FIXED_POST = re.findall(r"^```python\n(.*?)^```", HTTP, re.DOTALL | re.MULTILINE)
BROKEN_SEND, FIXED_SEND = re.findall(r"^```java\n(.*?)^```", QUEUE, re.DOTALL | re.MULTILINE)
BROKEN_WRITE, FIXED_WRITE = re.findall(r"^```python\n(.*?)^```", SPARK, re.DOTALL | re.MULTILINE)


def commands(page: str) -> list[str]:
    return re.findall(r"^\$ onceproof (verify .*)$", page, re.MULTILINE)


def shown_output(page: str) -> str:
    """The first line of output that a page shows, with collapsed whitespace."""
    line = re.findall(r"^```text\n(.*)\n```", page, re.MULTILINE)[0]
    return re.sub(r"\s+", " ", line)


def run_command(command: str, runs: Path, folder: Path) -> Finished:
    """Run a command of a page with the gentle preset."""
    name, *words = shlex.split(command.replace(" python ", f" {shlex.quote(sys.executable)} "))
    options = ("--preset", "gentle", "--seed", "3", "--out", runs)
    return onceproof(name, *options, *words, folder=folder)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(HOW_TO / "examples", tmp_path / "examples")
    return tmp_path


def test_pages_show_the_actual_programs() -> None:
    shown, sql, feed, totals = re.findall(
        r"^ *```python\n(.*?)^ *```", DATABASE, re.DOTALL | re.MULTILINE
    )
    assert feed in (PAIRS / "relay-position-first" / "feed.py").read_text()
    assert totals in (PAIRS / "total-added-again" / "rules.py").read_text()
    assert shown in (HOW_TO / "examples/to_a_table.py").read_text()
    assert sql.strip() in (HOW_TO / "examples/to_a_table_mended.py").read_text()
    assert IN_MEMORY in (HOW_TO / "examples/join_payments.py").read_text()
    assert IN_DATABASE in (HOW_TO / "examples/join_payments_mended.py").read_text()
    assert BROKEN_SEND in (HOW_TO / "examples/ToQueue.java").read_text()
    assert BROKEN_POST in (HOW_TO / "examples/post_orders.py").read_text()
    assert SCHEMA_AVRO in (HOW_TO / "examples/orders_avro.py").read_text()
    assert BROKEN_WRITE in (HOW_TO / "examples/to_files.py").read_text()
    assert FIXED_WRITE.startswith(BROKEN_WRITE.partition("\n")[0])


class TestTrials:
    pytestmark = MINUTES

    def test_consumer_with_separate_commits_is_violated(self, runs: Path, folder: Path) -> None:
        done = run_command(commands(DATABASE)[0], runs, folder)
        assert done.code == 1, done.out + done.err
        assert shown_output(DATABASE) in re.sub(r"\s+", " ", done.out)

    def test_consumer_with_offsets_in_database_holds(self, runs: Path, folder: Path) -> None:
        done = run_command(commands(DATABASE)[1], runs, folder)
        assert done.code == 0, done.out + done.err
        assert done.verdicts() == {"exactly-once orders → shipped": "holds"}

    def test_in_memory_join_is_violated(self, runs: Path, folder: Path) -> None:
        done = run_command(commands(SEVERAL)[0], runs, folder)
        assert done.code == 1, done.out + done.err
        assert shown_output(SEVERAL) in re.sub(r"\s+", " ", done.out)
        assert set(done.verdicts().values()) == {"violated"}, "what is joined is missing for both"

    def test_join_with_state_in_database_holds(self, runs: Path, folder: Path) -> None:
        done = run_command(commands(SEVERAL)[1], runs, folder)
        assert done.code == 0, done.out + done.err
        assert done.verdicts() == {
            "exactly-once orders → paid": "holds",
            "exactly-once payments → paid": "holds",
        }

    def test_appending_spark_job_is_violated(self, runs: Path, folder: Path) -> None:
        (command,) = commands(SPARK)
        done = run_command(command, runs, folder)
        assert done.code == 1, done.out + done.err
        assert shown_output(SPARK) in re.sub(r"\s+", " ", done.out)

    def test_overwriting_spark_job_holds(self, runs: Path, folder: Path) -> None:
        job = folder / "examples" / "to_files.py"
        broken, broken_part = job.read_text(), BROKEN_WRITE.partition("\n\n\n")[0] + "\n"
        assert broken.count(broken_part) == 1
        job.write_text(broken.replace(broken_part, FIXED_WRITE))
        (command,) = commands(SPARK)
        done = run_command(command, runs, folder)
        assert done.code == 0, done.out + done.err
        assert done.verdicts() == {"exactly-once orders → out": "holds"}

    def test_resending_queue_sender_is_violated(self, runs: Path, folder: Path) -> None:
        (command,) = commands(QUEUE)
        done = run_command(command, runs, folder)
        assert done.code == 1, done.out + done.err
        assert shown_output(QUEUE) in re.sub(r"\s+", " ", done.out)

    def test_queue_sender_with_duplicate_detection_holds(self, runs: Path, folder: Path) -> None:
        program = folder / "examples" / "ToQueue.java"
        broken = program.read_text()
        creation = next(
            line for line in BROKEN_SEND.splitlines(True) if "createTextMessage" in line
        )
        assert broken.count(creation) == 1
        program.write_text(broken.replace(creation, creation + FIXED_SEND))
        (command,) = commands(QUEUE)
        # The standard preset also kills the queue broker.
        standard = command.replace("verify ", "verify --preset standard ", 1)
        done = run_command(standard, runs, folder)
        assert done.code == 0, done.out + done.err
        assert done.verdicts() == {"exactly-once orders → shipments": "holds"}

    def test_reposting_http_caller_is_violated(self, runs: Path, folder: Path) -> None:
        (command,) = commands(HTTP)
        done = run_command(command, runs, folder)
        assert done.code == 1, done.out + done.err
        assert shown_output(HTTP) in re.sub(r"\s+", " ", done.out)

    def test_http_caller_with_idempotency_key_holds(self, runs: Path, folder: Path) -> None:
        program = folder / "examples" / "post_orders.py"
        broken = program.read_text()
        assert broken.count("    headers = {}\n") == 1
        program.write_text(broken.replace("    headers = {}\n", FIXED_POST))
        (command,) = commands(HTTP)
        done = run_command(command, runs, folder)
        assert done.code == 0, done.out + done.err
        assert done.verdicts() == {"exactly-once orders → shipments": "holds"}

    def test_avro_program_with_too_narrow_type_is_violated(self, runs: Path, folder: Path) -> None:
        (command,) = commands(AVRO)
        done = run_command(command, runs, folder)
        assert done.code == 1, done.out + done.err
        assert shown_output(AVRO) in re.sub(r"\s+", " ", done.out + done.err)

    def test_avro_program_with_fitting_type_holds(self, runs: Path, folder: Path) -> None:
        schemas = folder / "examples" / "orders_avro.py"
        narrow = FIXED_FIELD.replace("double", "float")
        assert schemas.read_text().count(narrow) == 1
        schemas.write_text(schemas.read_text().replace(narrow, FIXED_FIELD))
        (command,) = commands(AVRO)
        done = run_command(command, runs, folder)
        assert done.code == 0, done.out + done.err
        assert done.verdicts() == {"exactly-once orders → priced": "holds"}
