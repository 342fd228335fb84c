"""Pipelines of the how-to guides, command by command: each is caught, mended as told, and holds.

Commands, what is mended and what is said are taken from the pages.
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
SHOWN_AVRO, MENDED_FIELD = re.findall(r"^```python\n(.*?)^```", AVRO, re.DOTALL | re.MULTILINE)
IN_MEMORY, IN_DATABASE = re.findall(r"^```python\n(.*?)^```", SEVERAL, re.DOTALL | re.MULTILINE)
BROKEN_POST, MENDED_POST = re.findall(r"^```python\n(.*?)^```", HTTP, re.DOTALL | re.MULTILINE)
BROKEN_SEND, MENDED_SEND = re.findall(r"^```java\n(.*?)^```", QUEUE, re.DOTALL | re.MULTILINE)
BROKEN_WRITE, MENDED_WRITE = re.findall(r"^```python\n(.*?)^```", SPARK, re.DOTALL | re.MULTILINE)


def commands(page: str) -> list[str]:
    return re.findall(r"^\$ onceproof (verify .*)$", page, re.MULTILINE)


def said(page: str) -> str:
    """The first line of output that a page shows, without what stands between its columns."""
    line = re.findall(r"^```text\n(.*)\n```", page, re.MULTILINE)[0]
    return re.sub(r"\s+", " ", line)


def typed(command: str, runs: Path, folder: Path) -> Finished:
    """Type a command of a page, as mildly as it can be."""
    name, *words = shlex.split(command.replace(" python ", f" {shlex.quote(sys.executable)} "))
    mild = ("--preset", "gentle", "--seed", "3", "--out", runs)
    return onceproof(name, *mild, *words, folder=folder)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(HOW_TO / "examples", tmp_path / "examples")
    return tmp_path


def test_pages_show_programs_as_they_are() -> None:
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
    assert SHOWN_AVRO in (HOW_TO / "examples/orders_avro.py").read_text()
    assert BROKEN_WRITE in (HOW_TO / "examples/to_files.py").read_text()
    assert MENDED_WRITE.startswith(BROKEN_WRITE.partition("\n")[0])


class TestTheTrials:
    pytestmark = MINUTES

    def test_a_consumer_that_commits_apart_is_caught(self, runs: Path, folder: Path) -> None:
        done = typed(commands(DATABASE)[0], runs, folder)
        assert done.code == 1, done.out + done.err
        assert said(DATABASE) in re.sub(r"\s+", " ", done.out)

    def test_a_consumer_with_its_positions_in_the_database_holds(
        self, runs: Path, folder: Path
    ) -> None:
        done = typed(commands(DATABASE)[1], runs, folder)
        assert done.code == 0, done.out + done.err
        assert done.verdicts() == {"exactly-once orders → shipped": "holds"}

    def test_a_join_in_memory_is_caught(self, runs: Path, folder: Path) -> None:
        done = typed(commands(SEVERAL)[0], runs, folder)
        assert done.code == 1, done.out + done.err
        assert said(SEVERAL) in re.sub(r"\s+", " ", done.out)
        assert set(done.verdicts().values()) == {"violated"}, "what is joined is missing for both"

    def test_a_join_with_all_it_keeps_in_the_database_holds(self, runs: Path, folder: Path) -> None:
        done = typed(commands(SEVERAL)[1], runs, folder)
        assert done.code == 0, done.out + done.err
        assert done.verdicts() == {
            "exactly-once orders → paid": "holds",
            "exactly-once payments → paid": "holds",
        }

    def test_a_job_that_appends_is_caught(self, runs: Path, folder: Path) -> None:
        (command,) = commands(SPARK)
        done = typed(command, runs, folder)
        assert done.code == 1, done.out + done.err
        assert said(SPARK) in re.sub(r"\s+", " ", done.out)

    def test_a_job_that_writes_over_its_batch_holds(self, runs: Path, folder: Path) -> None:
        job = folder / "examples" / "to_files.py"
        broken, first = job.read_text(), BROKEN_WRITE.partition("\n\n\n")[0] + "\n"
        assert broken.count(first) == 1
        job.write_text(broken.replace(first, MENDED_WRITE))
        (command,) = commands(SPARK)
        done = typed(command, runs, folder)
        assert done.code == 0, done.out + done.err
        assert done.verdicts() == {"exactly-once orders → out": "holds"}

    def test_a_sender_that_sends_again_is_caught(self, runs: Path, folder: Path) -> None:
        (command,) = commands(QUEUE)
        done = typed(command, runs, folder)
        assert done.code == 1, done.out + done.err
        assert said(QUEUE) in re.sub(r"\s+", " ", done.out)

    def test_a_sender_whose_messages_say_what_they_are_of_holds(
        self, runs: Path, folder: Path
    ) -> None:
        program = folder / "examples" / "ToQueue.java"
        broken = program.read_text()
        made = next(line for line in BROKEN_SEND.splitlines(True) if "createTextMessage" in line)
        assert broken.count(made) == 1
        program.write_text(broken.replace(made, made + MENDED_SEND))
        (command,) = commands(QUEUE)
        # The queue broker is killed too.
        harder = command.replace("verify ", "verify --preset standard ", 1)
        done = typed(harder, runs, folder)
        assert done.code == 0, done.out + done.err
        assert done.verdicts() == {"exactly-once orders → shipments": "holds"}

    def test_a_caller_that_posts_again_is_caught(self, runs: Path, folder: Path) -> None:
        (command,) = commands(HTTP)
        done = typed(command, runs, folder)
        assert done.code == 1, done.out + done.err
        assert said(HTTP) in re.sub(r"\s+", " ", done.out)

    def test_a_caller_that_sends_a_key_holds(self, runs: Path, folder: Path) -> None:
        program = folder / "examples" / "post_orders.py"
        broken = program.read_text()
        assert broken.count("    headers = {}\n") == 1
        program.write_text(broken.replace("    headers = {}\n", MENDED_POST))
        (command,) = commands(HTTP)
        done = typed(command, runs, folder)
        assert done.code == 0, done.out + done.err
        assert done.verdicts() == {"exactly-once orders → shipments": "holds"}

    def test_a_price_that_does_not_fit_its_type_is_caught(self, runs: Path, folder: Path) -> None:
        (command,) = commands(AVRO)
        done = typed(command, runs, folder)
        assert done.code == 1, done.out + done.err
        assert said(AVRO) in re.sub(r"\s+", " ", done.out + done.err)

    def test_a_program_that_speaks_avro_holds(self, runs: Path, folder: Path) -> None:
        schemas = folder / "examples" / "orders_avro.py"
        narrow = MENDED_FIELD.replace("double", "float")
        assert schemas.read_text().count(narrow) == 1
        schemas.write_text(schemas.read_text().replace(narrow, MENDED_FIELD))
        (command,) = commands(AVRO)
        done = typed(command, runs, folder)
        assert done.code == 0, done.out + done.err
        assert done.verdicts() == {"exactly-once orders → priced": "holds"}
