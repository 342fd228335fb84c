"""Commands of the pages that need no brokers, executed as shown.

The folder contains what they refer to: runs, judgements, measurements, and a foreign history.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest

from onceproof.reports.cost.model import RESULT
from tests.end_to_end.catalogue import LATER
from tests.end_to_end.command import onceproof
from tests.unit.docs.carried_out import FOREIGN, is_typed, lines
from tests.unit.docs.pages import JEPSEN, blocks
from tests.unit.onceproof.run_folders import finished
from tests.unit.reports.cost.test_page import report

pytestmark = pytest.mark.integration

RUN, OTHER = "20260101T000000Z-spark-kafka-sink-42", "20260102T000000Z-spark-kafka-sink-42"
PLACEHOLDERS = {
    r"runs/(<folder>|<one>)": f"runs/{RUN}",
    "runs/<earlier>": "runs/earlier-cost",
    "runs/<later>": "runs/later-cost",
    r"runs/(<other>|2\S+Z-stored-offsets-…-1)": f"runs/{OTHER}",
    "A": f"runs/{RUN}",
    "B": f"runs/{OTHER}",
    "/elsewhere/runs": "elsewhere/runs",
}
"""Placeholders on the pages and their values in the test folder."""
EXIT_CODES = {"check": 1}
"""Exit codes of commands that judge the violated histories; others return 0."""
CLAIM = "exactly-once:payments->ledger@table"
ON_SPARK = "--engine spark"
LINES = [(page, line) for page, line in lines() if is_typed(line)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("pages")
    for name in (RUN, OTHER):
        run = finished(root / "runs", name, scenario="spark-kafka-sink", seed=42)
        assert onceproof("check", run).code == 1
    for copy, source in (("elsewhere/runs", "runs"), ("baseline", f"runs/{RUN}")):
        shutil.copytree(root / source, root / copy)
    for name in ("runs/earlier-cost", "runs/later-cost"):
        (root / name).mkdir()
        (root / name / RESULT).write_text(report("java").model_dump_json(), encoding="utf-8")
    history = root / "runs" / RUN / "history"
    for name in ("before.json", "after.json"):
        assert onceproof("check", history, "--json", root / name, "--claim", CLAIM).code == 1
    (foreign,) = (b for b in blocks() if (b.page, b.language) == (FOREIGN, "json"))
    (root / "history.jsonl").write_text(foreign.text, encoding="utf-8")
    (root / "history.edn").write_text(JEPSEN, encoding="utf-8")
    (root / "store/latest").mkdir(parents=True)
    shutil.copy(root / "history.edn", root / "store/latest/history.edn")
    shutil.copytree(history, root / "tables")
    return root


def test_pages_have_many_commands() -> None:
    assert len(LINES) > 20


@pytest.mark.parametrize(
    ("page", "line"),
    [pytest.param(*pair, marks=LATER if ON_SPARK in pair[1] else ()) for pair in LINES],
    ids=[f"{p} {line}" for p, line in LINES],
)
def test_page_command_has_expected_exit_code(page: str, line: str, folder: Path) -> None:
    words = [filled_in(word) for word in shlex.split(line)[1:]]
    done = onceproof(*words, folder=folder)
    output = done.out + done.err
    assert "Traceback" not in output
    assert done.code == expected_code(words), output


def filled_in(word: str) -> str:
    for pattern, value in PLACEHOLDERS.items():
        word = re.sub(rf"^{pattern}(?=$|/)", value, word)
    return word


def expected_code(words: list[str]) -> int:
    jepsen = any(word.endswith(".edn") for word in words)
    return 5 if jepsen else EXIT_CODES.get(words[0], 0)


def test_shell_format_json_prints_json(folder: Path) -> None:
    done = onceproof("shell", f"runs/{RUN}", "-c", "from claims", "--format", "json", folder=folder)
    assert [claim["verdict"] for claim in json.loads(done.out)] == ["violated"]
