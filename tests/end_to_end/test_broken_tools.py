"""If one of the harness's tools dies during a run, all claims are invalid."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.end_to_end.command import Started
from tests.end_to_end.test_ending import assert_nothing_remains

pytestmark = [pytest.mark.integration, pytest.mark.slow]


def process_of(run: Started, program: str) -> int:
    """Process id of a run's process with this program."""
    marker = b"ONCEPROOF_RUN=%d-" % run.popen.pid
    (found,) = (
        int(entry.name)
        for entry in Path("/proc").iterdir()
        if entry.name.isdigit()
        and program.encode() in read_proc(entry, "cmdline").partition(b"\0")[0]
        and marker in read_proc(entry, "environ")
    )
    return found


def read_proc(process: Path, name: str) -> bytes:
    try:
        return (process / name).read_bytes()
    except OSError:
        return b""


def test_killed_toxiproxy_invalidates_all_claims(runs: Path) -> None:
    run = Started("run", "idempotent-librdkafka", "--seed", "3", "--out", runs)
    run.wait_for("phase +disturb")
    os.kill(process_of(run, "toxiproxy"), signal.SIGKILL)
    done = run.finish()
    assert done.code == 3, done.err
    assert set(done.verdicts().values()) == {"invalid"}
    assert "toxiproxy at 127." in done.report["claims"][0]["reason"]
    assert_nothing_remains(run)
