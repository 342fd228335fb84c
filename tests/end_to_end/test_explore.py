"""`onceproof explore`: interrupted, killed and continued, shards merged, one trial repeated.

The commands of docs/how-to/explore-a-client.md, with smaller loads.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import signal
import sys
from pathlib import Path

import pytest

from onceproof.harness.wait import wait_until
from tests.end_to_end.catalogue import LATER
from tests.end_to_end.command import Started, onceproof

pytestmark = [pytest.mark.integration, pytest.mark.slow]
SUBJECT = "librdkafka-idempotent"
SMALL = ("--transactions", "3", "--records", "1", "--no-pairs")


def figures(folder: Path) -> dict:
    return json.loads((folder / "explore.json").read_text())


def trials(folder: Path) -> list[str]:
    lines = (folder / "journal.jsonl").read_text().splitlines()
    return [row["faults"] for row in map(json.loads, lines) if row["t"] == "trial"]


def test_subjects_are_listed() -> None:
    done = onceproof("explore")
    assert done.code == 0
    names = [line.split()[0] for line in done.out.splitlines()]
    assert {"librdkafka-transactional", "java-transactional", SUBJECT} <= set(names)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["no-such"], "unknown subject no-such: expected one of librdkafka-transactional"),
        ([SUBJECT, "--shard", "3/2"], "expected I/N with 1 ≤ I ≤ N, found 3/2"),
        ([SUBJECT, "--only", "burned"], "invalid point"),
        ([SUBJECT, "--cases", "x", "--only", "y"], "give either --only or --cases"),
        (["--cases", "x"], "give a subject with --cases"),
        ([SUBJECT, "--cases", "no-such.json"], "no-such.json is not a file of cases"),
    ],
)
def test_invalid_use_is_told(arguments: list[str], why: str) -> None:
    done = onceproof("explore", *arguments)
    assert done.code == 2
    assert why in done.err


@LATER
def test_interrupted_exploration_is_continued(tmp_path: Path) -> None:
    begun, elsewhere = tmp_path / "begun", tmp_path / "elsewhere"
    command = ("explore", SUBJECT, *SMALL, "--trials", "60", "--out")
    for sig, code in ((signal.SIGINT, 130), (signal.SIGKILL, -9)):
        before = len(trials(begun)) if (begun / "journal.jsonl").exists() else 0
        run = Started(*command, begun)
        run.wait_for(r"progress \d+ trials")
        run.send(sig)
        run.popen.communicate(timeout=60)
        assert run.popen.returncode == code
        wait_until(lambda run=run: not run.processes(), what="its processes to end", seconds=60)
        assert len(trials(begun)) > before
    # As on another machine, which has the journal only.
    elsewhere.mkdir()
    shutil.copy(begun / "journal.jsonl", elsewhere)
    done = onceproof(*command, elsewhere)
    assert done.code in (0, 5)
    made = figures(elsewhere)
    assert made["trials"] == len(trials(elsewhere)) <= 60
    assert trials(elsewhere)[: len(trials(begun))] == trials(begun)
    assert set(made["hit"]) <= {"holds", "unknown"}, "a client may give up before it has written"
    assert made["hit"]["holds"] > 40
    hit = [key for key in trials(elsewhere) if key not in made["missed"]]
    assert len(set(hit)) >= sum(made["hit"].values())
    assert "holds" in (elsewhere / "explore.html").read_text()
    assert not list(elsewhere.glob("stage-*"))


@LATER
def test_shards_are_merged(tmp_path: Path) -> None:
    parts = [tmp_path / "one", tmp_path / "two"]
    for number, folder in enumerate(parts, start=1):
        shard = ("--shard", f"{number}/2", "--trials", "6")
        done = onceproof("explore", SUBJECT, *SMALL, "--out", folder, *shard)
        assert done.code == 5, done.err
        assert figures(folder)["trials"] == 6
    assert set(trials(parts[0])).isdisjoint(trials(parts[1]))
    whole = tmp_path / "whole"
    done = onceproof("explore", "--merge", parts[0], "--merge", parts[1], "--out", whole)
    assert done.code == 5
    assert figures(whole)["trials"] == 12


@LATER
def test_trial_is_repeated(tmp_path: Path) -> None:
    lost = "response lost @ producer/response/Produce/work/first/leader"
    done = onceproof("explore", SUBJECT, *SMALL, "--out", tmp_path, "--only", lost)
    assert done.code == 0, done.err
    assert done.out.splitlines() == ["holds"] * 5


PROGRAM = Path(__file__).parent / "own_transactional_program.py"
PLACES = ("{bootstrap}", "{input}", "{output}", "{group}", "{client_id}")
REMOVED = (
    "refused UNKNOWN_MEMBER_ID @ pipeline/request/TxnOffsetCommit/work/first/group-coordinator"
)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (PLACES[1:], "--explore needs {bootstrap} in the command or in --env"),
        ((*PLACES, "{checkpoint}"), "--explore does not support a Spark checkpoint"),
    ],
)
def test_program_that_cannot_be_explored(words: tuple[str, ...], why: str) -> None:
    done = onceproof("verify", "--output", "out", "--explore", "--", sys.executable, "x", *words)
    assert done.code == 2
    assert why in done.err


@LATER
@pytest.mark.parametrize(
    ("how", "code", "verdict"),
    [((), 0, "holds"), (("forgets",), 1, "violated: lost-output")],
)
def test_own_program_is_explored(
    tmp_path: Path, how: tuple[str, ...], code: int, verdict: str
) -> None:
    """A fault that aborts its transaction: whether it rewinds then is what its claim depends on."""
    done = onceproof(
        "verify", "--output", "copied", "--out", tmp_path, "--explore", "--only", REMOVED, "--",
        sys.executable, PROGRAM, *PLACES, *how,
    )  # fmt: skip
    assert done.code == code, done.out + done.err
    found = [re.split(", offset|; ", line)[0] for line in done.out.splitlines()]
    assert found == [verdict] * 5
    if code:
        told = done.out.splitlines()[0].partition("; onceproof ")[2]
        check = shlex.split(told.replace("FOLDER", str(tmp_path / "explore-verify")))
        assert check[0] == "check"
        assert "lost-output" in onceproof(*check).out


@LATER
def test_program_with_names_of_its_own_is_explored(tmp_path: Path) -> None:
    """Each trial has a stage of its own, and the group is learned from the program's messages."""
    done = onceproof(
        "verify", "--input", "orders", "--output", "copied", "--out", tmp_path, "--explore",
        "--only", REMOVED, "--", sys.executable, PROGRAM, "{bootstrap}", "orders", "copied",
        "my-group", "my-client", "forgets",
    )  # fmt: skip
    assert done.code == 1, done.out + done.err
    found = [re.split(", offset|; ", line)[0] for line in done.out.splitlines()]
    assert found == ["violated: lost-output"] * 5
