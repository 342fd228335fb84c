"""Programs in Python with an environment of their own."""

from __future__ import annotations

import importlib.util
import re
import sys
import threading
import types
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from onceproof.harness.python import programs
from onceproof.harness.subjects.streams.base import StreamsSubject
from onceproof.harness.subjects.streams.faust import Faust
from onceproof.harness.subjects.streams.quix import Quix
from onceproof.harness.tools import pip
from onceproof.harness.tools.error import SetupError
from onceproof.harness.tools.progress import Step
from onceproof.harness.workload.payments import fee

NAMES = sorted(lock.stem for lock in programs.SOURCES.glob("*.lock"))


STUBS = ("Application", "State", "App", "DBOS", "KafkaMessage", "SQLAlchemyDatasource")
"""What the programs import."""


def imported(name: str, monkeypatch: pytest.MonkeyPatch, *modules: str) -> Any:
    """Import a program without its packages."""
    for module in modules:
        stub = types.ModuleType(module)
        stub.__dict__.update(dict.fromkeys(STUBS, object))
        monkeypatch.setitem(sys.modules, module, stub)
    spec = importlib.util.spec_from_file_location(
        f"{name}_program", programs.SOURCES / f"{name}.py"
    )
    assert spec is not None
    assert spec.loader is not None
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    return program


def test_environment_is_created_once_for_each_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[Sequence[str]] = []
    monkeypatch.setattr(pip, "install", lambda python, arguments: calls.append(arguments))
    steps: list[Step] = []
    for _ in range(2):
        command = programs.command(
            NAMES[0], "task.json", cache_folder=tmp_path, progress=steps.append
        )
        assert Path(command[0]).exists()
        assert command[1:] == ["-I", programs.SOURCES / f"{NAMES[0]}.py", "task.json"]
    (call,) = calls
    assert "--require-hashes" in call
    assert call[-1] == str(programs.SOURCES / f"{NAMES[0]}.lock")
    assert [step.message for step in steps] == ["installing packages"]


def test_failed_installation_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(python: Path, arguments: Sequence[str]) -> None:
        raise SetupError("no network.")

    monkeypatch.setattr(pip, "install", refuse)
    with pytest.raises(SetupError, match=f"{NAMES[0]}: no network"):
        programs.command(NAMES[0], cache_folder=tmp_path)
    assert not list((tmp_path / "python").glob(f"{NAMES[0]}-*/bin"))


@pytest.mark.parametrize("name", NAMES)
def test_lock_has_checksums_and_no_addresses(name: str) -> None:
    text = (programs.SOURCES / f"{name}.lock").read_text()
    assert "://" not in text
    pinned = re.findall(r"^\S+==.*\\$", text, re.MULTILINE)
    assert len(pinned) == len(re.findall(r"^\S+==", text, re.MULTILINE))


@pytest.mark.parametrize(
    ("name", "modules"), [("quix_streams", ["quixstreams"]), ("faust_streaming", ["faust"])]
)
def test_effect_has_the_fee(name: str, modules: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    program = imported(name, monkeypatch, *modules)
    payment = {"record": "r", "account": "a", "amount_cents": 1_999, "note": ""}
    assert program.effect(payment) == {
        "record": "r", "account": "a", "amount_cents": 1_999, "fee_cents": fee(1_999)
    }  # fmt: skip


def test_dbos_row_has_the_fee_and_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    sqlalchemy = types.ModuleType("sqlalchemy")
    sqlalchemy.__dict__["text"] = str
    monkeypatch.setitem(sys.modules, "sqlalchemy", sqlalchemy)
    program = imported("dbos_ledger", monkeypatch, "dbos")
    message = types.SimpleNamespace(
        value=b'{"record": "r", "account": "a", "amount_cents": 1999}', partition=2, offset=7
    )
    assert program.values(message) == {
        "record": "r", "account": "a", "amount": 1_999, "fee": fee(1_999),
        "partition": 2, "offset": 7,
    }  # fmt: skip


def test_programs_connect_in_plain_text_only_and_faust_keeps_no_balances() -> None:
    assert Quix().plain_text
    assert Faust().plain_text
    with pytest.raises(ValueError, match="does not support balances"):
        Faust(balances=True)


def test_quix_watchdog_knows_a_commit_that_lasts(monkeypatch: pytest.MonkeyPatch) -> None:
    program = imported("quix_streams", monkeypatch, "quixstreams")
    began, over = threading.Event(), threading.Event()

    def commit_checkpoint() -> None:
        began.set()
        assert over.wait(10)

    working = threading.Thread(target=commit_checkpoint)
    working.start()
    assert began.wait(10)
    assert working.ident is not None
    met = program.commit_of(working.ident)
    assert met is not None
    assert program.commit_of(working.ident) is met
    over.set()
    working.join()
    assert program.commit_of(working.ident) is None
    assert program.commit_of(threading.get_ident()) is None


@pytest.mark.parametrize("subject", [Quix(), Quix(exactly=False), Faust(), Faust(exactly=False)])
def test_report_has_settings_and_the_version_that_the_lock_pins(subject: StreamsSubject) -> None:
    text = str(subject.configuration())
    assert re.search(r"'version': '\d+\.\d+\.\d+'", text)
    guarantee = "exactly.once" if subject.exactly else "at.least.once"
    assert re.search(rf"'processing_guarantee': '{guarantee}'", text)
