"""The order in which singles are tried."""

from __future__ import annotations

from dataclasses import replace

from onceproof.harness.explore.points import Passed, Point, learn
from onceproof.harness.explore.singles import Singles

COMMIT = Point(
    role="query", direction="request", api="EndTxn", purpose="commit", ordinal="first",
    target="transaction-coordinator",
)  # fmt: skip
WINDOW = replace(
    COMMIT, direction="window", api="after-offset-log", purpose="work", target="checkpoint"
)


def test_crash_windows_come_first() -> None:
    quiet = [Passed(point=point, unit=0, life=1) for point in (COMMIT, WINDOW)]
    singles = Singles(protocol=learn([quiet] * 3), quiet=quiet)
    keys = [trial.key for trial in singles.next(4)]
    assert keys[:2] == [f"client {how} @ {WINDOW.id}" for how in ("killed", "paused")]
    assert all(key.endswith(COMMIT.id) for key in keys[2:])
