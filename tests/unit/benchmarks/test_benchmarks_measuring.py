"""Measuring what commands cost, and reporting it."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from benchmarks import checking
from benchmarks.growing import growth
from benchmarks.measure import Cost, run
from benchmarks.telling import table
from benchmarks.trial import Limit, Line, NotAsExpected, measure
from onceproof.harness.wait import wait_until

BUSY = "import time; t = time.process_time()\nwhile time.process_time() - t < 0.3: pass"
GREEDY = "data = b'x' * 200_000_000; import time; time.sleep(3)"


def test_run_measures_time_and_memory() -> None:
    ran = run([sys.executable, "-c", f"{BUSY}\ndata = b'x' * 200_000_000; print('done')"])
    assert (ran.exit_code, ran.output) == (0, "done\n")
    assert ran.cost.cpu >= 0.3
    assert ran.cost.wall >= 0.3
    assert ran.cost.peak > 200e6


def test_peak_excludes_the_measuring_process() -> None:
    # Measured from a small process, as in the benchmarks: a child's high-water mark starts with the
    # size of its parent, and this process may have any size.
    measuring = (
        "import sys; from benchmarks.measure import run; "
        "print(run([sys.executable, '-c', 'data = bytearray(200_000_000)']).cost.peak)"
    )
    ran = run([sys.executable, "-c", measuring])
    assert 200e6 < int(ran.output) < 300e6


def test_peak_includes_child_processes() -> None:
    parent = (
        "import subprocess, sys; data = b'x' * 200_000_000; "
        "subprocess.run([sys.executable, '-c', sys.argv[1]], check=True)"
    )
    ran = run([sys.executable, "-c", parent, GREEDY])
    assert ran.exit_code == 0
    assert ran.cost.peak > 400e6


def test_left_over_child_is_ended() -> None:
    parent = (
        "import subprocess, sys; "
        "print(subprocess.Popen([sys.executable, '-c', 'import signal; signal.pause()']).pid)"
    )
    ran = run([sys.executable, "-c", parent])
    assert ran.exit_code == 0
    child = int(ran.output)
    wait_until(lambda: not _runs(child), what="what the command left behind to be gone", seconds=10)


def _runs(process: int) -> bool:
    try:
        return psutil.Process(process).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


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
    ("limit", "expected"),
    [
        (Limit(seconds=3), "3 s: met"),
        (Limit(seconds=3, peak=2 * 10**9), "3 s, 2 GB: met"),
        (Limit(seconds=3, peak=10**9 - 1), "3 s, 1 GB: missed"),
        (Limit(seconds=2.5), "2.5 s: missed"),
    ],
)
def test_limit_applies_to_median_and_peak(limit: Limit, expected: str) -> None:
    text = table([_line(2, 3, 9, limit=limit)], fixed=1)
    assert expected in text
    assert " 1,000  2.00 s  3.00 s" in text  # records, best, median
    assert " 1,000   0.50 s    4.0" in text  # records a second, against, ratio


def test_speed_is_left_out_near_the_fixed_cost() -> None:
    (_, row) = table([_line(1.1)], fixed=1).splitlines()
    assert row.split() == [
        *("size:", "one", "to", "one", "1,000", "1.10", "s", "1.10", "s", "1.10", "s"),
        *("1,000", "MB", "0.50", "s", "2.2"),
    ]


def _spark(master: str, records: int, wall: float) -> Line:
    judged = [Cost(wall=wall, cpu=wall, peak=1)]
    return Line(section="spark", what=master, records=records, judged=judged)


def test_growth_is_reported_with_and_without_the_fixed_cost() -> None:
    lines = [
        _spark("local[1]", 100, 10), _spark("local[2]", 100, 10),
        _spark("local[1]", 10_000, 30), _spark("local[2]", 10_000, 20),
        _spark("local[1]", 100_000, 110), _spark("local[2]", 100_000, 60),
    ]  # fmt: skip
    sentences = list(growth(lines))
    assert sentences == [
        "spark, 10,000 records: local[2] is 1.5 (without the fixed cost 2.0) times as fast as "
        "local[1]",
        "spark, 100,000 records: local[2] is 1.8 (without the fixed cost 2.0) times as fast as "
        "local[1]",
        "spark, local[1]: 10 times the records (10,000 → 100,000) take 3.7 (without the fixed "
        "cost 5.0) times as long",
        "spark, local[2]: 10 times the records (10,000 → 100,000) take 3.0 (without the fixed "
        "cost 5.0) times as long",
    ]
    assert list(growth(lines[:1])) == []
    # Records per second, without the start of Spark.
    assert " 10,000   30.00 s   30.00 s   30.00 s  0 MB        500" in table(lines, fixed=1)


@pytest.mark.parametrize(
    ("verdict", "found", "expected"),
    [
        ("violated", {"lost-output": 1}, {}),
        ("holds", {}, {"lost-output": 1}),
        ("violated", {"lost-output": 2}, {"lost-output": 1}),
        ("unknown", {}, {}),
    ],
)
def test_wrong_answer_is_refused(
    tmp_path: Path, verdict: str, found: dict[str, int], expected: dict[str, int]
) -> None:
    line = replace(_line(), judged=[], expected=expected)
    with pytest.raises(NotAsExpected, match=f"found {verdict} with .* So it is."):
        measure(
            line,
            judge=_judging(tmp_path, verdict, found, code=int(verdict == "violated")),
            against=[sys.executable, "-c", ""],
            times=1,
            told=print,
        )
    assert line.judged == []


def _judging(folder: Path, verdict: str, found: dict[str, int], code: int) -> list[str]:
    """A command that writes an answer to its `--json` file, and exits with a code."""
    answer: dict[str, Any] = {
        "claims": [{"verdict": verdict, "reason": "So it is."}],
        "findings": [{"anomaly": name, "count": n} for name, n in found.items()],
    }
    write = f"open(sys.argv[2], 'w').write({json.dumps(answer)!r})"
    program = f"import sys; {write}; raise SystemExit({code})"
    return [sys.executable, "-c", program, "--json", str(folder / "answer.json")]


@pytest.mark.parametrize(
    ("verdict", "found", "code"), [("holds", {}, 0), ("violated", {"lost-output": 2}, 1)]
)
def test_right_answer_counts_and_its_file_is_removed(
    tmp_path: Path, verdict: str, found: dict[str, int], code: int
) -> None:
    line = replace(_line(), judged=[], expected=found)
    judge = _judging(tmp_path, verdict, found, code)
    measure(line, judge=judge, against=[sys.executable, "-c", ""], times=2, told=print)
    assert len(line.judged) == 2
    assert not (tmp_path / "answer.json").exists()


@pytest.mark.parametrize(
    ("code", "written"), [(1, "nowhere.json"), (3, "answer.json"), (0, "nowhere.json")]
)
def test_failed_judging_is_refused(tmp_path: Path, code: int, written: str) -> None:
    judge = _judging(tmp_path, "holds", {}, code)
    judge[-1] = str(tmp_path / written)
    judge[2] = judge[2].replace("sys.argv[2]", repr(str(tmp_path / "answer.json")))
    with pytest.raises(NotAsExpected, match=f"ended with {code} after"):
        measure(_line(), judge=judge, against=[sys.executable, "-c", ""], times=1, told=print)


def test_failed_command_is_reported_with_its_output(tmp_path: Path) -> None:
    fails = [sys.executable, "-c", "raise SystemExit('no such folder')"]
    with pytest.raises(NotAsExpected, match=r"ended with 1 after .*no such folder"):
        measure(
            _line(),
            judge=[*fails, "--json", str(tmp_path / "answer.json")],
            against=[sys.executable, "-c", ""],
            times=1,
            told=print,
        )


def test_checking_runs_one_section(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "out" / "checking.json"
    code = checking.main(
        ["--only", "offsets", "--times", "1", "--cache", str(tmp_path), "--json", str(file)]
    )
    assert code == 0
    assert "offsets: 50,000,000 against 0" in capsys.readouterr().out
    lines = json.loads(file.read_text())["lines"]
    assert [line["section"] for line in lines] == ["fixed cost", "offsets"]
