"""The live view of a run in a terminal."""

from __future__ import annotations

import io
import os
import pty
import re
import select
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

from rich.console import Console

from onceproof.harness.history import events
from onceproof.reports.live import live
from onceproof.reports.live_view import RunView

SECOND = 1_000_000_000


def fault(at: float, name: str, state: str, detail: str = "") -> events.FaultChanged:
    return events.FaultChanged(
        at=round(at * SECOND), fault=name, kind="crash", state=state, detail=detail
    )


def ended(at: float, phase: str, outcome: str = "ok") -> events.PhaseEnded:
    return events.PhaseEnded(
        at=round(at * SECOND), phase=phase, outcome=outcome, detail=None, seconds=5.0
    )


def begun() -> list[events.Event]:
    """Events of a run up to its disturb phase."""
    return [
        events.RunStarted(
            at=0, run="r", folder=Path("runs/r"), scenario="small", title="A run", seed=7
        ),
        events.PhaseStarted(at=0, phase="arrange"),
        ended(5, "arrange"),
        events.PhaseStarted(at=5 * SECOND, phase="disturb"),
        *(
            events.Progress(
                at=5 * SECOND + n * SECOND // 2, acknowledged=200 * n, total=20_000, pipeline="b 3"
            )
            for n in range(11)
        ),
    ]


def shown(received: list[events.Event], *, at: float = 12, width: int = 120) -> list[str]:
    """Return the lines of the live view, `at` seconds after the start."""
    view = RunView(clock=lambda: round(at * SECOND))
    for event in received:
        view.hear(event)
    out = io.StringIO()
    Console(file=out, width=width, no_color=True).print(view)
    return [" ".join(line.split()) for line in out.getvalue().splitlines()]


def test_shows_phases_progress_and_throughput() -> None:
    phases, progress = shown(begun())
    assert phases == (
        "12.0 s ✓ arrange 5 s warm-up ▶ disturb 7 s heal settle collect tear-down judge"
    )
    assert re.fullmatch(
        r"progress \S+ 2 000 of 20 000 acknowledged, 400 per second, b 3", progress
    ), progress


def test_throughput_is_recent() -> None:
    late = [
        events.Progress(at=(20 + n) * SECOND, acknowledged=2000, total=20_000, pipeline=None)
        for n in range(6)
    ]
    assert "2 000 of 20 000 acknowledged, 0 per second" in shown([*begun(), *late])[1]


def test_active_faults_come_before_finished_ones() -> None:
    received = [
        fault(6, "leader killed", "injected"),
        fault(7, "leader killed", "took effect", "ended by signal 9"),
        fault(8, "leader killed", "healed"),
        fault(8, "without_effect", "injected"),
        fault(8, "without_effect", "healed", "nothing came of it"),
        fault(9, "driver killed", "armed"),
        fault(9, "cut", "injected", "link 1"),
        fault(9, "broken", "failed", "no such node"),
        fault(9, "paused", "took effect", "for 3 s"),
    ]
    assert shown([*begun(), *received])[2:] == [
        "● paused took effect: for 3 s",
        "○ cut injected: link 1",
        "○ driver killed armed",
        "✗ broken failed: no such node",
        "– without_effect healed: nothing came of it",
        "✓ leader killed healed",
    ]
    many = [fault(6, f"fault {n}", "injected") for n in range(9)]
    assert shown([*begun(), *many])[-1] == "and 3 more faults"


def test_shows_a_stalled_phase_and_judging() -> None:
    received = [*begun(), ended(9, "disturb", "stalled"), ended(11, "tear-down")]
    assert shown(received)[0] == (
        "12.0 s ✓ arrange 5 s warm-up ✗ disturb 5 s heal settle collect ✓ tear-down 5 s ▶ judge 1 s"
    )


def test_shows_findings_after_judging(small: SimpleNamespace) -> None:
    judged = events.Judged(at=14 * SECOND, judgement=small.judgement(small.history()))
    received = [*begun(), ended(11, "tear-down"), judged]
    assert shown(received)[0].endswith("✓ judge 3 s")
    assert shown(received)[-1] == "duplicate-output: 1 finding"
    err = io.StringIO()
    with live(err) as handle:
        handle(judged)
    assert err.getvalue() == (
        "    0.0 s  finding   duplicate-output: 1 finding, for example: "
        "Record p0-1 appears twice in ledger.\n"
    )


def test_narrow_terminal_does_not_wrap_lines() -> None:
    received = [*begun(), fault(6, "leader killed", "took effect", "a long story " * 20)]
    assert len(shown(received, width=60)) == 3


def test_escapes_control_sequences() -> None:
    received = [*begun(), fault(6, "x\x1b[2J", "took effect", "y\x1b]0;owned\x07")]
    assert not any("\x1b" in line for line in shown(received))


PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
from onceproof.reports.live import live
from tests.unit.reports.test_live import begun, fault
print("piped, before")
with live(sys.stderr) as handle:
    print("piped, meanwhile")
    for event in [*begun(), fault(6, "leader killed", "took effect", "ended by signal 9")]:
        handle(event)
    print("an error of somebody", file=sys.stderr)
    sys.stdin.readline()
print("over", file=sys.stderr)
"""
ROOT = str(Path(__file__).parents[3])


def run_on_terminal(**environ: str) -> tuple[str, str]:
    """Run a program with a live view; return what it writes to the terminal and to a pipe."""
    leader, follower = pty.openpty()
    plain = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS", "LINES")}
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, ROOT], cwd=ROOT, env={**plain, "TERM": "xterm", **environ},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=follower, start_new_session=True,
    )  # fmt: skip
    os.close(follower)
    assert program.stdin is not None
    assert program.stdout is not None
    seen, answered = "", False
    deadline = time.monotonic() + 240
    try:
        while "over" not in seen:
            assert time.monotonic() < deadline, f"saw {seen!r}"
            if select.select([leader], [], [], 1)[0]:
                seen += os.read(leader, 65536).decode(errors="ignore")
            if not answered and "an error of somebody" in seen and "acknowledged" in seen:
                program.stdin.write(b"\n")
                program.stdin.close()
                answered = True
        return seen, program.stdout.read().decode()
    finally:
        program.kill()
        program.wait(60)
        program.stdout.close()
        os.close(leader)


def test_real_terminal_with_and_without_colour() -> None:
    seen, piped = run_on_terminal()
    assert "fault     leader killed took effect: ended by signal 9" in seen
    assert "▶ disturb" in seen
    assert "acknowledged" in seen
    assert "\x1b[33mfault" in seen
    assert piped == "piped, before\npiped, meanwhile\n"
    # At the end the live view is cleared and the cursor is shown.
    assert "\x1b[?25l" in seen
    assert seen.rindex("\x1b[?25h") > seen.rindex("▶ disturb")
    seen, _ = run_on_terminal(NO_COLOR="1")
    assert "leader killed took effect" in seen
    assert not re.search(r"\x1b\[(3|4|9)\d", seen)


def test_dumb_terminal_gets_plain_lines() -> None:
    seen, _ = run_on_terminal(TERM="dumb")
    assert "\x1b" not in seen
    assert "0.0 s  run       small, seed 7" in seen
    assert "progress  0 of" in seen
