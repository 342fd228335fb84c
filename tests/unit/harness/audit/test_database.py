"""DuckDB in audits."""

from __future__ import annotations

import _thread
import threading
from pathlib import Path

import pytest

from onceproof.harness.audit.database import database
from onceproof.harness.audit.folder import AuditFolder


def test_interrupt_cancels_a_running_query(tmp_path: Path) -> None:
    folder = AuditFolder.create(tmp_path / "audit")
    query = "SELECT count(*) FROM range(100000000000) a WHERE hash(a) = 1"
    threading.Timer(0.5, _thread.interrupt_main).start()

    def run_query() -> None:
        with database(folder, 200_000_000) as db:
            db.execute(query)

    with pytest.raises(KeyboardInterrupt):
        run_query()
