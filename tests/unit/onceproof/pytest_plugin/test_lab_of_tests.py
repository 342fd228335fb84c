"""The lab that a pytest process holds, with fake labs."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from onceproof.pytest_plugin import lab as module
from onceproof.pytest_plugin.lab import HeldLab, LabFailed
from onceproof.pytest_plugin.options import Options
from tests.unit.onceproof.pytest_plugin.commands import python


def held_lab(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, code: str) -> HeldLab:
    monkeypatch.setattr(module, "command", lambda *_: python(code))
    return HeldLab(Options(out=tmp_path, backend="local", seed=5))


def test_lab_ends_when_the_pipe_is_closed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    code = f"""
        import pathlib, sys
        print('{{"socket": "/s", "folder": "/f"}}', flush=True)
        print("x" * 1_000_000, flush=True)  # more than a pipe holds
        sys.stdin.read()
        pathlib.Path({str(tmp_path / "ended")!r}).touch()
        """
    with held_lab(monkeypatch, tmp_path, code) as lab:
        assert (lab.folder, lab.seed) == (Path("/f"), 5)
        assert not (tmp_path / "ended").exists()
    assert (tmp_path / "ended").exists()


def test_failed_start_reports_last_output(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    code = "import sys; sys.exit('onceproof: no Java was found')"
    with (
        pytest.raises(LabFailed, match=r"(?s)exit code 1.*no Java was found.*doctor"),
        held_lab(monkeypatch, tmp_path, code),
    ):
        raise AssertionError("it is not up")


def test_start_times_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(module, "UP_SECONDS", 0.5)
    with (
        pytest.raises(LabFailed, match="did not start within"),
        held_lab(monkeypatch, tmp_path, "import signal; signal.pause()"),
    ):
        raise AssertionError("it is not up")


def test_failure_at_the_end_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    code = """
        import sys
        print('{"socket": "/s", "folder": "/f"}', flush=True)
        sys.stdin.read()
        sys.exit("a broker could not be ended")
        """
    with (
        pytest.raises(LabFailed, match=r"(?s)exit code 1.*could not be ended"),
        held_lab(monkeypatch, tmp_path, code),
    ):
        pass


def test_lab_that_does_not_answer_is_reported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    code = f"""
        import sys
        print('{{"socket": "{tmp_path}/s", "folder": "/f"}}', flush=True)
        sys.stdin.read()
        """
    with held_lab(monkeypatch, tmp_path, code) as lab:
        with pytest.raises(LabFailed, match="does not answer"):
            lab.ask("GET", "/status")
        assert threading.active_count() < 50
