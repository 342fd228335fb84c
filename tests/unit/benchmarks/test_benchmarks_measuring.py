"""The measuring itself: what a command cost, and what is told of it."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import checking
from benchmarks.measure import Cost, run
from benchmarks.telling import table
from benchmarks.trial import Limit, Line, NotAsExpected, measure

BUSY = "import time; t = time.process_time()\nwhile time.process_time() - t < 0.3: pass"
GREEDY = "data = b'x' * 200_000_000; import time; time.sleep(0.5)"


def test_time_and_memory_of_a_command() -> None:
    ran = run([sys.executable, "-c", f"{BUSY}\ndata = b'x' * 200_000_000; print('done')"])
    assert (ran.exit_code, ran.output) == (0, "done\n")
    assert ran.cost.cpu >= 0.3
    assert ran.cost.wall >= 0.3
    assert ran.cost.peak > 200e6


def test_the_peak_is_the_commands_own() -> None:
    # Measured from a small process, as the benchmarks are: the kernel's mark of a process begins
    # with what the one that started it holds, and this one may hold any amount.
    measuring = (
        "import sys; from benchmarks.measure import run; "
        "print(run([sys.executable, '-c', 'data = bytearray(200_000_000)']).cost.peak)"
    )
    ran = run([sys.executable, "-c", measuring])
    assert 200e6 < int(ran.output) < 300e6


def test_what_a_command_starts_counts_as_well() -> None:
    parent = (
        "import subprocess, sys; data = b'x' * 200_000_000; "
        "subprocess.run([sys.executable, '-c', sys.argv[1]], check=True)"
    )
    ran = run([sys.executable, "-c", parent, GREEDY])
    assert ran.exit_code == 0
    assert ran.cost.peak > 400e6


def test_what_a_command_leaves_behind_is_ended(tmp_path: Path) -> None:
    late = tmp_path / "late"
    child = f"import time; time.sleep(0.4); open({str(late)!r}, 'w')"
    parent = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', sys.argv[1]])"
    ran = run([sys.executable, "-c", parent, child])
    assert ran.exit_code == 0
    run([sys.executable, "-c", "import time; time.sleep(0.8)"])
    assert not late.exists()


def _line(*walls: float, limit: Limit | None = None) -> Line:
    return Line(
        section="size",
        what="one to one",
        records=1_000,
        judged=[Cost(wall=wall, cpu=wall, peak=10**9) for wall in walls],
        against=[Cost(wall=0.5, cpu=0.5, peak=1)],
        limit=limit,
    )


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        (Limit(seconds=3), "3 s: met"),
        (Limit(seconds=3, peak=2 * 10**9), "3 s, 2 GB: met"),
        (Limit(seconds=3, peak=10**9 - 1), "3 s, 1 GB: missed"),
        (Limit(seconds=2.5), "2.5 s: missed"),
    ],
)
def test_the_median_and_the_peak_must_be_within_the_limit(limit: Limit, said: str) -> None:
    told = table([_line(2, 3, 9, limit=limit)], fixed=1)
    assert said in told
    assert " 1,000  2.00 s  3.00 s" in told  # records, best, median
    assert " 1,000   0.50 s    4.0" in told  # records a second, against, ratio


def test_where_little_but_the_fixed_cost_is_there_no_speed_is_told() -> None:
    (_, told) = table([_line(1.1)], fixed=1).splitlines()
    assert told.split() == [
        *("size:", "one", "to", "one", "1,000", "1.10", "s", "1.10", "s", "1.10", "s"),
        *("1,000", "MB", "0.50", "s", "2.2"),
    ]


@pytest.mark.parametrize(
    ("verdict", "found", "expected"),
    [
        ("violated", {"lost-output": 1}, {}),
        ("holds", {}, {"lost-output": 1}),
        ("violated", {"lost-output": 2}, {"lost-output": 1}),
        ("unknown", {}, {}),
    ],
)
def test_a_wrong_answer_does_not_count(
    verdict: str, found: dict[str, int], expected: dict[str, int]
) -> None:
    answer = json.dumps({"verdict": verdict, "reason": "So it is.", "found": found})
    line = replace(_line(), judged=[], expected=expected)
    with pytest.raises(NotAsExpected, match=f"found {verdict} with .* So it is."):
        measure(
            line,
            judge=[sys.executable, "-c", f"print({answer!r})"],
            against=[sys.executable, "-c", ""],
            times=1,
            told=print,
        )
    assert line.judged == []


def test_a_command_that_fails_is_told_with_its_last_words() -> None:
    with pytest.raises(NotAsExpected, match=r"ended with 1 after .*no such folder"):
        measure(
            _line(),
            judge=[sys.executable, "-c", "raise SystemExit('no such folder')"],
            against=[sys.executable, "-c", ""],
            times=1,
            told=print,
        )


def test_the_whole_suite_on_next_to_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = tmp_path / "out" / "checking.json"
    code = checking.main(
        ["--only", "offsets", "--times", "1", "--cache", str(tmp_path), "--json", str(told)]
    )
    assert code == 0
    assert "offsets: 50,000,000 against 0" in capsys.readouterr().out
    lines = json.loads(told.read_text())["lines"]
    assert [line["section"] for line in lines] == ["fixed cost", "offsets"]
