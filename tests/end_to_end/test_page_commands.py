"""Commands of the pages that need no brokers, typed as they are there.

The folder has what their words stand for: runs, judgements, a history that
somebody else recorded.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest

from tests.end_to_end.catalogue import LATER
from tests.end_to_end.command import onceproof
from tests.unit.docs.carried_out import FOREIGN, is_typed, lines
from tests.unit.docs.pages import JEPSEN, blocks
from tests.unit.onceproof.run_folders import finished

pytestmark = pytest.mark.integration

RUN, OTHER = "20260101T000000Z-spark-kafka-sink-42", "20260102T000000Z-spark-kafka-sink-42"
STANDS_FOR = {
    r"runs/(<folder>|<one>)": f"runs/{RUN}",
    r"runs/(<other>|2\S+Z-stored-offsets-…-1)": f"runs/{OTHER}",
    "A": f"runs/{RUN}",
    "B": f"runs/{OTHER}",
    "/elsewhere/runs": "elsewhere/runs",
}
"""Words of the pages, and what they are here."""
VIOLATED = {"check": 1}
"""What every history here comes to; other commands only tell of it."""
CLAIM = "exactly-once:payments->ledger@table"
ON_SPARK = "--engine spark"
LINES = [(page, line) for page, line in lines() if is_typed(line)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    here = tmp_path_factory.mktemp("pages")
    for name in (RUN, OTHER):
        run = finished(here / "runs", name, scenario="spark-kafka-sink", seed=42)
        assert onceproof("check", run).code == 1
    for copy, source in (("elsewhere/runs", "runs"), ("baseline", f"runs/{RUN}")):
        shutil.copytree(here / source, here / copy)
    history = here / "runs" / RUN / "history"
    for name in ("before.json", "after.json"):
        assert onceproof("check", history, "--json", here / name, "--claim", CLAIM).code == 1
    (foreign,) = (b for b in blocks() if (b.page, b.language) == (FOREIGN, "json"))
    (here / "history.jsonl").write_text(foreign.text, encoding="utf-8")
    (here / "history.edn").write_text(JEPSEN, encoding="utf-8")
    (here / "store/latest").mkdir(parents=True)
    shutil.copy(here / "history.edn", here / "store/latest/history.edn")
    shutil.copytree(history, here / "tables")
    return here


def test_there_are_many() -> None:
    assert len(LINES) > 20


@pytest.mark.parametrize(
    ("page", "line"),
    [pytest.param(*pair, marks=LATER if ON_SPARK in pair[1] else ()) for pair in LINES],
    ids=[f"{p} {line}" for p, line in LINES],
)
def test_it_does_what_the_page_says(page: str, line: str, folder: Path) -> None:
    words = [stands_for(word) for word in shlex.split(line)[1:]]
    done = onceproof(*words, folder=folder)
    said = done.out + done.err
    assert "Traceback" not in said
    assert done.code == expected(words), said


def stands_for(word: str) -> str:
    for pattern, here in STANDS_FOR.items():
        word = re.sub(rf"^{pattern}(?=$|/)", here, word)
    return word


def expected(words: list[str]) -> int:
    jepsen = any(word.endswith(".edn") for word in words)
    return 5 if jepsen else VIOLATED.get(words[0], 0)


def test_what_json_is_asked_for_is_json(folder: Path) -> None:
    done = onceproof("shell", f"runs/{RUN}", "-c", "from claims", "--format", "json", folder=folder)
    assert [claim["verdict"] for claim in json.loads(done.out)] == ["violated"]
