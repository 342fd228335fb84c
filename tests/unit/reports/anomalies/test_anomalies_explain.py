"""`onceproof explain`: in a terminal, in a pipe, with and without colour."""

from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace

import pytest
from rich.cells import cell_len

from onceproof.checkers import anomalies
from onceproof.commands.explain import explain
from onceproof.reports.anomalies.entry import Entry, entry
from onceproof.reports.anomalies.terminal import print_entry

COMMAND = [sys.executable, "-c", "from onceproof.cli import main; main()", "explain"]


def test_lists_all_anomalies_by_hop(capsys: pytest.CaptureFixture[str]) -> None:
    assert explain(None) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "application → topic"
    assert "topic → sink" in lines
    names = [line.split()[0] for line in lines if line.startswith("  ")]
    assert sorted(names) == sorted(anomalies())


def test_explains_one_anomaly(capsys: pytest.CaptureFixture[str]) -> None:
    assert explain("duplicate") == 0
    output = capsys.readouterr().out
    assert output.startswith("duplicate  (application → topic)\n")
    assert output.count("\n ✗  ") == 3
    assert "\nusual cause " in output
    assert "\nrefutes      at-most-once, exactly-once" in output
    assert "\nfile         checkers/anomalies/duplicate.py\n" in output
    assert max(map(cell_len, output.splitlines())) <= 78
    assert "\x1b" not in output


@pytest.mark.parametrize("name", ["Duplicate_Output", " duplicate-output "])
def test_accepts_other_spellings(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert explain(name) == 0
    assert capsys.readouterr().out.startswith("duplicate-output")


def test_unknown_name_suggests_similar_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert explain("lostwrite") == 2
    err = capsys.readouterr().err
    assert err.startswith("onceproof: there is no anomaly «lostwrite». Did you mean lost-write")
    assert explain("\x1b[31m§§§") == 2
    err = capsys.readouterr().err
    assert "`onceproof explain` lists all" in err
    assert "\x1b" not in err


def test_command_line_rejects_unknown_name() -> None:
    done = subprocess.run([*COMMAND, "duplicat"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 2
    assert "Did you mean duplicate" in done.stderr
    assert done.stdout == ""


def test_prints_minimal_history_as_tables() -> None:
    output = printed("skipped-read", "utf-8")
    log = [line.rstrip() for line in output.partition("\nlog")[2].splitlines()]
    assert log[1:5] == [
        "    offset  record  attempt",
        "    6       a       a/1",
        " ✗  7       b       b/1",
        "    8       c       c/1",
    ]
    assert output.count("\n✗ ") == 1


@pytest.mark.parametrize("name", ["duplicate", "G1c", "state-mismatch"])
def test_falls_back_to_ascii(name: str) -> None:
    output = printed(name, "ascii")
    assert "\\u" not in output
    assert "\n x  " in output
    assert max(map(len, output.splitlines())) <= 78
    assert output == printed(name, "utf-8").translate(str.maketrans("✗→–×", "x>-x"))


def test_hostile_names_are_escaped_and_shortened() -> None:
    name = "\x1b[31m" + "long" * 50
    rows = [{"record": name, "offset": 0}, {"record": name + "2", "offset": 1}]
    anomaly = replace(anomalies()["duplicate"], minimal={"log": tuple(rows), "sends": ()})
    output = printed(replace(entry("duplicate"), anomaly=anomaly, minimal=anomaly.minimal), "utf-8")
    assert "\x1b" not in output
    assert "no rows" in output
    assert max(map(cell_len, output.splitlines())) <= 78


def printed(what: str | Entry, encoding: str) -> str:
    out = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    print_entry(entry(what) if isinstance(what, str) else what, out)
    out.flush()
    return out.buffer.getvalue().decode(encoding)  # type: ignore[attr-defined,no-any-return]


@pytest.mark.parametrize("columns", [40, 60, 200])
@pytest.mark.parametrize("no_color", [False, True])
def test_terminal_output_is_coloured_unless_no_color(columns: int, no_color: bool) -> None:
    output = _in_terminal(["duplicate"], columns, no_color=no_color)
    assert ("\x1b[1;31m" in output) is not no_color
    assert "31m" not in output or not no_color


def _in_terminal(arguments: Sequence[str], columns: int, *, no_color: bool) -> str:
    """Run the command on a terminal and return what it writes."""
    primary, secondary = pty.openpty()
    environment = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
    environment |= {"COLUMNS": str(columns), "TERM": "xterm", "PYTHONIOENCODING": "utf-8"}
    if no_color:
        environment["NO_COLOR"] = "1"
    process = subprocess.Popen([*COMMAND, *arguments], stdout=secondary, env=environment)
    os.close(secondary)
    output = b""
    try:
        while chunk := os.read(primary, 65536):
            output += chunk
    except OSError:  # the other end is closed
        pass
    os.close(primary)
    assert process.wait(120) == 0
    return output.decode()
