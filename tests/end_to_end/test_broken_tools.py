"""The harness's own tools die amid a run: it says so, judges nothing, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.end_to_end.command import Started
from tests.end_to_end.test_ending import nothing_stays

pytestmark = [pytest.mark.integration, pytest.mark.slow]


def kill(run: Started, word: str) -> None:
    """SIGKILL the process of a run whose command has this word."""
    marker = b"ONCEPROOF_RUN=%d-" % run.popen.pid
    found = [
        int(entry.name)
        for entry in Path("/proc").iterdir()
        if entry.name.isdigit()
        and (words := told(entry, "cmdline"))
        and word.encode() in words
        and marker in told(entry, "environ")
    ]
    assert len(found) == 1, found
    os.kill(found[0], signal.SIGKILL)


def told(process: Path, what: str) -> bytes:
    try:
        return (process / what).read_bytes()
    except OSError:
        return b""


@pytest.mark.parametrize(
    ("word", "reason"),
    [("toxiproxy-server", "toxiproxy"), ("broker-2/server.properties", "broker-2")],
)
def test_what_a_run_stands_on_is_killed(runs: Path, word: str, reason: str) -> None:
    run = Started("run", "idempotent-librdkafka", "--seed", "3", "--out", runs)
    run.wait_for("phase +disturb")
    kill(run, word)
    done = run.finish()
    assert done.code == 3, done.err
    assert set(done.verdicts().values()) == {"invalid"}
    assert reason in done.report["claims"][0]["reason"]
    nothing_stays(run)
