"""The Spark driver paused and resumed by hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end_to_end.catalogue import MINUTES
from tests.end_to_end.command import onceproof
from tests.end_to_end.test_lab import Up, up

pytestmark = [*MINUTES, pytest.mark.timeout(900)]


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Up]:
    with up("driver", tmp_path) as lab:
        yield lab


def test_paused_driver_continues_after_heal(lab: Up) -> None:
    by_name = ("--lab", lab.name)
    done = onceproof("fault", "pause", "driver", *by_name)
    assert done.code == 0, done.out + done.err
    lab.wait_until_took_effect("pause-1")
    assert "are paused; meanwhile" in lab.fault("pause-1")["detail"]
    done = onceproof("heal", "pause-1", *by_name)
    assert done.code == 0, done.out + done.err
    assert onceproof("end", *by_name).code == 0
    done = lab.process.finish()
    # Nothing was lost or duplicated, and no hazard occurred.
    assert done.code == 5, done.err
    assert set(done.verdicts().values()) == {"unexercised"}, done.out
