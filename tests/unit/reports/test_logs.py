"""Log lines around findings, from files of any size and content."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

from onceproof.checkers.model import Judgement
from onceproof.reports.assembly.moments import moments
from onceproof.reports.assembly.run_logs import run_logs
from onceproof.reports.build import build
from onceproof.reports.html import render
from onceproof.reports.log_files import Line, Lines, LogFiles
from onceproof.reports.model import Report
from onceproof.reports.stamps import stamp
from tests.unit.reports.test_html import Page, assert_harmless

NOON = datetime(2026, 11, 22, 12, 0, 0, tzinfo=UTC).timestamp()


def clock(seconds: float, form: str = "%Y-%m-%d %H:%M:%S") -> str:
    at = datetime.fromtimestamp(NOON + seconds, UTC)
    return at.strftime(form) + f",{at.microsecond // 1000:03d}"


@pytest.mark.parametrize(
    ("line", "at", "zoned"),
    [
        ("[2026-11-22T12:00:01,250] INFO [Broker id=1] started (kafka.server)", 1.25, False),
        ("2026-11-22 12:00:01.250 UTC [30071] LOG:  starting PostgreSQL", 1.25, True),
        ("%4|1795348801.250|GETPID|member-0#producer-2| [thrd:main]: Failed", 1.25, True),
        ("26/11/22 12:00:01 WARN NativeCodeLoader: Unable to load", 1.0, False),
        ('{"level":"warn","upstream":"x","time":"2026-11-22T12:00:01Z","message":"m"}', 1.0, True),
        ("2026-11-22T13:00:01.25+01:00 an application of somebody", 1.25, True),
        ("2026-11-22T08:30:01.25-03:30 an application of somebody", 1.25, True),
        ("2026-11-22 12:00:01,250 aiokafka.consumer Heartbeat failed", 1.25, False),
        ("WARN 2026-11-22 12:00:01 behind a word", 1.0, False),
    ],
)
def test_recognizes_timestamps_of_known_programs(line: str, at: float, zoned: bool) -> None:
    found = stamp(line.encode())
    assert found is not None
    assert (found.at - NOON, found.zoned) == (at, zoned)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "\tat org.apache.kafka.server.util.ShutdownableThread.run(ShutdownableThread.java:136)",
        "2026-13-22 12:00:01 no such month",
        "2026-11-22 25:61:61 no such time",
        "a line that speaks of what is to come, and that is on 2026-11-22 12:00:01",
        "Picked up _JAVA_OPTIONS: -Djava.io.tmpdir",
        '{"message": "no time"}',
    ],
)
def test_recognizes_no_timestamp(line: str) -> None:
    assert stamp(line.encode()) is None


def test_returns_only_lines_of_the_interval(tmp_path: Path) -> None:
    log = tmp_path / "broker-1.1.log"
    log.write_text("".join(f"[{clock(i)}] line {i}\n\tat frame {i}\n" for i in range(60)))
    (found,) = LogFiles(tmp_path).around(NOON + 30, NOON + 29, NOON + 31)
    texts = [line.text.split("] ")[-1] for line in found.lines]
    assert texts == [word for i in (29, 30, 31) for word in (f"line {i}", f"\tat frame {i}")]
    assert [line.at - NOON for line in found.lines] == [29, 29, 30, 30, 31, 31]
    assert (found.log, found.count) == ("broker-1.1.log", 6)


def test_large_log_is_not_scanned_completely(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "broker-1.1.log"
    with log.open("w") as out:
        for i in range(100_000):
            out.write(f"[{clock(i / 10)}] {'x' * 60} {i}\n")
    asked = 0

    def counted(line: bytes) -> object:
        nonlocal asked
        asked += 1
        return stamp(line)

    monkeypatch.setattr("onceproof.reports.log_files.stamp", counted)
    for middle in (0.0, 4321.0, 9999.0):
        asked = 0
        (found,) = LogFiles(tmp_path).around(NOON + middle, NOON + middle - 2, NOON + middle + 2)
        assert found.count == {0.0: 21, 4321.0: 41, 9999.0: 30}[middle]
        assert asked < 5_000


def test_keeps_the_nearest_lines_and_counts_all(tmp_path: Path) -> None:
    lines = [f"{clock(i / 100)} {i}\n" for i in range(400)]
    (tmp_path / "a.log").write_text("".join(lines))
    (found,) = LogFiles(tmp_path).around(NOON + 2, NOON, NOON + 4)
    assert found.count == 400
    assert [int(line.text.split()[-1]) for line in found.lines] == list(range(185, 215))


def test_finds_lines_that_are_out_of_order(tmp_path: Path) -> None:
    at = (0.0, 9.9, 10.6, 10.4, 10.5, 30.0)
    (tmp_path / "a.log").write_text("".join(f"{clock(t)} at {t}\n" for t in at))
    (found,) = LogFiles(tmp_path).around(NOON + 10, NOON + 9.8, NOON + 10.5)
    assert [line.text.split()[-1] for line in found.lines] == ["9.9", "10.4", "10.5"]


def test_truncates_long_lines_and_escapes_bytes(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_bytes(
        clock(0).encode() + b" \xff\xfe\x00\x1b[31m<script>" + b"y" * 3_000_000 + b"\n"
        + clock(1).encode() + b" after it, without an end of line"
    )  # fmt: skip
    (found,) = LogFiles(tmp_path).around(NOON, NOON - 2, NOON + 2)
    assert [len(line.text) < 400 for line in found.lines] == [True, True]
    assert "\\xff\\xfe\\x00\\x1b[31m<script>" in found.lines[0].text
    assert found.lines[1].text.endswith("without an end of line")


def test_drops_overwritten_progress_bars(tmp_path: Path) -> None:
    bar = "[Stage 1:>  (0 + 2) / 3]\r[Stage 1:==> (1 + 2) / 3]\r"
    (tmp_path / "driver.1.log").write_text(f"26/11/22 12:00:00 WARN x\n{bar}the end\n")
    (found,) = LogFiles(tmp_path).around(NOON, NOON - 2, NOON + 2)
    assert found.lines[-1].text == "the end"


def test_infers_the_time_zone_of_a_log(tmp_path: Path) -> None:
    """Zones differ by whole quarter hours, and a program logs soon after its start."""
    for name, ahead, late in (
        ("broker-1.1", 5.5 * 3600, 1),
        ("broker-2.1", -3600.0, 1.2),
        ("member-0.1", 5.5 * 3600, 1000),
    ):
        (tmp_path / f"{name}.log").write_text(f"[{clock(late + ahead)}] of {name}\n")
    (tmp_path / "postgres.1.log").write_text(f"{clock(1).replace(',', '.')} UTC [7] LOG: up\n")
    started = dict.fromkeys(("broker-1.1", "broker-2.1", "member-0.1", "postgres.1"), NOON)
    logs = LogFiles(tmp_path, started)
    assert [found.log for found in logs.around(NOON + 1, NOON, NOON + 2)] == [
        "broker-1.1.log",
        "broker-2.1.log",
        "postgres.1.log",
    ]
    assert [f.log for f in logs.around(NOON + 1000, NOON + 999, NOON + 1001)] == ["member-0.1.log"]


def test_names_logs_without_timestamps(tmp_path: Path) -> None:
    (tmp_path / "mute.log").write_text("something\n")
    (tmp_path / "empty.log").write_text("")
    logs = LogFiles(tmp_path)
    assert logs.silent == ("mute.log",)
    assert logs.around(NOON, NOON - 2, NOON + 2) == ()
    assert LogFiles(tmp_path / "not there").around(NOON, NOON - 2, NOON + 2) == ()


def test_close_findings_share_a_moment(small_report: Report) -> None:
    (group,) = small_report.findings
    times = (15.0, 15.9, 16.1, 40.0, None)
    shown = tuple(group.shown[0].model_copy(update={"at": at}) for at in times)
    calls: list[tuple[float, float, float]] = []

    def look(middle: float, start: float, end: float) -> tuple[Lines, ...]:
        calls.append((middle, start, end))
        line = Line(at=middle, text="x")
        return (Lines(log="a.log", lines=(line,), count=1),) if middle < 1030 else ()

    found = moments((group.model_copy(update={"shown": shown}),), look, 1000.0)
    assert [f.moment for f in found.findings[0].shown] == [0, 0, 1, None, None]
    assert [(m.start, m.end) for m in found.moments] == [(13.0, 17.9), (14.1, 18.1)]
    assert calls[0] == (1015.45, 1013.0, 1017.9)
    assert found.moments[0].logs[0].lines[0].at == 15.45


def test_limits_the_size_of_moments(small_report: Report) -> None:
    (group,) = small_report.findings
    shown = tuple(group.shown[0].model_copy(update={"at": 10.0 * i}) for i in range(1000))
    lines = tuple(Line(at=0.0, text="x" * 240) for _ in range(30))
    logs = tuple(Lines(log=f"{i}.log", lines=lines, count=30) for i in range(10))
    found = moments((group.model_copy(update={"shown": shown}),), lambda *_: logs, 0.0)
    assert sum(len(moment.model_dump_json()) for moment in found.moments) < 500_000


def test_story_shows_lines_within_two_seconds(small: SimpleNamespace, tmp_path: Path) -> None:
    """The finding is at 15 s, so lines at 12.9 s and 17.1 s are too far off."""
    history = small.history()
    record = small.record(wall_ns=int(NOON * 1e9))
    (tmp_path / "broker-1.1.log").write_text(
        "".join(f"[{clock(t)}] <b>at {t}</b>\n" for t in (0.6, 12.9, 13.1, 15.0, 16.9, 17.1))
    )
    (tmp_path / "mute.log").write_text("something\n")
    report = build(record, history, small.judgement(history), run_logs(tmp_path, record, history))
    (moment,) = report.moments
    assert [line.at for line in moment.logs[0].lines] == [13.1, 15.0, 16.9]
    page = assert_harmless(render(report))
    assert "<b>at 16.9</b>" in page.words
    assert "<b>at 17.1</b>" not in page.words
    assert "Lines of mute.log have no timestamps and are not shown with findings." in page.words
    heading = "Logs from 13.0 s to 17.0 s, two seconds before and after: 3 lines in 1 log"
    assert heading in page.words


def test_shared_moment_is_shown_once(small: SimpleNamespace, tmp_path: Path) -> None:
    history = small.history()
    record = small.record(wall_ns=int(NOON * 1e9))
    (tmp_path / "broker-1.1.log").write_text(f"[{clock(0.6)}] up\n[{clock(15.0)}] told once\n")
    found = small.duplicates(history, ["p0-1"])
    same = replace(found, anomaly="lost-output")
    judgement = Judgement(claims=(), findings=(found, same), mutation_check=())
    page = Page(render(build(record, history, judgement, run_logs(tmp_path, record, history))))
    assert page.words.count("told once") == 1
    assert "are shown with a finding above" in page.words


def test_sparse_file_is_not_read_completely(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text(clock(0) + " before it\n")
    os.truncate(log, 2**36)
    (found,) = LogFiles(tmp_path).around(NOON, NOON - 2, NOON + 2)
    assert found.lines[0].text.endswith("before it")
