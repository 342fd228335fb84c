"""A tool of the harness dies amid a run: it says so, claims nothing, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.end_to_end.command import Started
from tests.end_to_end.test_ending import nothing_stays

pytestmark = [pytest.mark.integration, pytest.mark.slow]


def process_of(run: Started, program: str) -> int:
    """Id of the process of a run that is this program."""
    marker = b"ONCEPROOF_RUN=%d-" % run.popen.pid
    (found,) = (
        int(entry.name)
        for entry in Path("/proc").iterdir()
        if entry.name.isdigit()
        and program.encode() in told(entry, "cmdline").partition(b"\0")[0]
        and marker in told(entry, "environ")
    )
    return found


def told(process: Path, what: str) -> bytes:
    try:
        return (process / what).read_bytes()
    except OSError:
        return b""


def test_toxiproxy_is_killed_amid_a_run(runs: Path) -> None:
    run = Started("run", "idempotent-librdkafka", "--seed", "3", "--out", runs)
    run.wait_for("phase +disturb")
    os.kill(process_of(run, "toxiproxy"), signal.SIGKILL)
    done = run.finish()
    assert done.code == 3, done.err
    assert set(done.verdicts().values()) == {"invalid"}
    assert "toxiproxy at 127." in done.report["claims"][0]["reason"]
    nothing_stays(run)
