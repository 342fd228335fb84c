"""DBOS as a subject: its names, its address of the database, and when it is idle."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from onceproof.harness.subjects.stored import dbos
from onceproof.harness.subjects.stored.dbos import DbosWorkflows, Executors


def test_subjects_name_their_step_and_the_version_of_the_lock() -> None:
    upheld, twin = DbosWorkflows(), DbosWorkflows(transactional=False)
    assert (upheld.name, twin.name) == ("dbos-transaction", "dbos-step")
    assert "broken twin" in twin.says
    assert "broken twin" not in upheld.says
    assert upheld.configuration()["executors"]["version"].count(".") == 2


def test_url_names_the_file_of_the_password_and_not_the_password() -> None:
    url = dbos._url("host=127.9.0.9 port=20001 dbname=books user=pipeline passfile='/a folder/pw'")
    assert url.startswith("postgresql://127.9.0.9:20001/books?")
    assert conninfo_to_dict(url) == {
        "host": "127.9.0.9", "port": "20001", "dbname": "books", "user": "pipeline",
        "passfile": "/a folder/pw",
    }  # fmt: skip


@pytest.mark.parametrize(("due", "idle"), [(0, True), (3, False), (None, False)])
def test_executors_are_idle_when_no_workflow_is_due(
    due: int | None, idle: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Connection:
        def __enter__(self) -> Connection:
            if due is None:
                raise psycopg.OperationalError("it is down")
            return self

        def __exit__(self, *_: object) -> None:
            return

        def execute(self, query: str) -> Any:
            assert "workflow_status" in query
            return SimpleNamespace(fetchone=lambda: (due,))

    monkeypatch.setattr(psycopg, "connect", lambda _: Connection())
    executors = Executors.__new__(Executors)
    stage = SimpleNamespace(database=lambda audience: audience)
    executors._parts = SimpleNamespace(stage=stage)  # type: ignore[assignment]
    assert executors.idle() is idle
