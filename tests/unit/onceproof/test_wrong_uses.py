"""Usage errors: an exit code, and one line that says what to do next."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from onceproof.cli import app
from onceproof.commands import explain as explaining
from tests.unit.onceproof.run_folders import finished, record

HELP = r"See `onceproof[\w ]*--help`\.$"
VERIFY = "verify --output x {} -- true {{bootstrap}} {{input}}"
WRONG = [
    ("", 2, HELP),
    ("runn", 2, rf"Did you mean 'run'\? {HELP}"),
    ("--nonsense", 2, HELP),
    ("run nix", 2, r"no scenario «nix»\. `onceproof list` lists all\.$"),
    ("run spark-kafka-sin", 2, r"Did you mean spark-kafka-sink"),
    ("run --seed x", 2, rf"--seed: 'x' is not a valid int\w*\. {HELP}"),
    ("run --seeds 1", 2, rf"No such option: --seeds .*--seed.* {HELP}"),
    ("run --backend podman", 2, rf"local-secured, docker or external:FILE, found podman\. {HELP}"),
    ("run --secured --backend docker", 2, r"--secured works only with --backend local"),
    ("run --backend external:", 2, r"expected local, local-secured, docker or external:FILE"),
    ("run --transaction-version 7", 2, rf"7 is not in the range 0<=x<=2\. {HELP}"),
    ("run --transaction-version 1 --backend external:x", 2, r"set it there with kafka-features"),
    ("run --json-events nix/e.jsonl", 3, r"No such file .*nix/e\.jsonl.*Give an existing path"),
    ("--config nix.toml run", 2, r"does not exist.*«none» to ignore settings\.$"),
    ("list zzz", 2, r"`onceproof list` lists all\.$"),
    ("check", 2, rf"Missing argument 'path'\. {HELP}"),
    ("check nix", 2, r"does not exist; give a run folder or a history$"),
    ("check empty", 2, r"expected a folder with .* --format jepsen\|jsonl\|parquet"),
    ("check bad-run", 2, r"restore it from a copy\.$"),
    ("check file.txt --format parquet", 2, r"file\.txt"),
    ("check file.txt --engine flink", 2, rf"expected duckdb or spark, found flink\. {HELP}"),
    ("check file.txt --memory much", 2, r"expected a size such as 2GB or 512MiB, found much"),
    ("check run --claim exactly-once:x", 2, r"onceproof check run/history --claim"),
    ("check s3a://bucket/x", 2, r"--engine spark, or copy the folder"),
    ("report nix", 2, r"give a folder that `onceproof run` printed$"),
    ("report empty", 2, r"Give a run folder that `onceproof run` printed"),
    ("explain nix", 2, r"`onceproof explain` lists all\.$"),
    ("explain lost-writ", 2, r"Did you mean lost-write"),
    ("doctor extra", 2, HELP),
    ("soak nix", 2, r"`onceproof list` lists all\.$"),
    ("soak --runs -1", 2, HELP),
    ("matrix zzz", 2, r"`onceproof list` lists all\.$"),
    ("matrix --backend external:x", 2, r"expected local or docker, found external:x"),
    ("verify", 2, HELP),
    ("verify -- true", 2, rf"Missing option '--output'\. {HELP}"),
    ("verify --output x", 2, HELP),
    (VERIFY.format("--effects many"), 2, r"a number such as 1 or 3, a range such as 0\.\.1"),
    (
        VERIFY.format("--identity nonsense"),
        2,
        r"expected json:\$\.FIELD, header:NAME, key or regex",
    ),
    (VERIFY.format("--output weird:x"), 2, r"expected TOPIC"),
    (VERIFY.format("--fault nonsense"), 2, r"nonsense.*rolling-restart"),
    (VERIFY.format("--fault 'kill nobody'"), 2, r"expected broker-<n>"),
    (VERIFY.format("--schedule nix.json"), 2, r"nix\.json cannot be read: No such file.*`plan`"),
    (
        VERIFY.format("--schedule file.txt"),
        2,
        r"file\.txt: .*expected a schedule in the form of `plan`",
    ),
    (VERIFY.format("--data nix.jsonl"), 2, r"nix\.jsonl does not exist; expected a \.jsonl, \.csv"),
    (VERIFY.format("--records 5"), 2, r"expected 200 or more, or fewer faults"),
    (
        VERIFY.format("--preset mild"),
        2,
        rf"expected gentle, standard or brutal, found mild\. {HELP}",
    ),
    ("verify --output x -- true {inptu}", 2, r"expected \{bootstrap\}, \{input\}"),
    ("verify --output x -- no-such-program {input}", 2, r"no such program in PATH.*as in a shell"),
    ("verify --output x -- ./file.txt {input}", 2, r"no such executable file"),
    ("diff run", 2, HELP),
    ("diff run nix", 2, r"Otherwise give a folder that `onceproof run` printed"),
    ("report empty --html x.html", 2, r"or their parent folder, such as runs"),
    ("matrix --time-limit long", 2, r"expected a time such as 90m, 12h, 7d or 2w, found long"),
    ("replay nix", 2, r"Give a folder that `onceproof run` printed"),
    ("replay run", 2, r"has no recorded schedule"),
    ("lab --bare flagship", 2, r"omit «flagship» or --bare$"),
    ("lab --topic x", 2, r"--topic works only with --bare"),
    ("lab --bare --topic x:y", 2, r"expected NAME or NAME:PARTITIONS, such as orders:3$"),
    ("lab nix", 2, r"`onceproof list` lists all\.$"),
    ("fault kill broker-1", 3, r"start one with `onceproof lab`$"),
    ("heal --lab zz", 3, r"no lab is running"),
    ("status", 3, r"start one with `onceproof lab`$"),
    ("end", 3, r"start one with `onceproof lab`$"),
    ("shell nix", 2, r"give a run folder or a history$"),
    ("shell run -c 'select 1 from nix'", 2, r"`\.tables` and `\.relations` list all\.$"),
    ("clean --older-than soon", 2, r"expected a time such as 90m, 12h, 7d or 2w, found soon"),
    ("clean --keep -1", 2, HELP),
    ("config", 2, HELP),
    ("config show nix", 2, r"`onceproof config show` lists all"),
]


@pytest.fixture
def current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.delenv("ONCEPROOF_CONFIG", raising=False)
    (tmp_path / ".git").mkdir()
    (tmp_path / "empty").mkdir()
    (tmp_path / "file.txt").write_text("nothing of ours\n")
    (tmp_path / "bad-run").mkdir()
    (tmp_path / "bad-run" / "run.json").write_text("{}")
    record(tmp_path, "run")
    return tmp_path


@pytest.mark.parametrize(("line", "code", "message"), WRONG, ids=[line for line, *_ in WRONG])
def test_usage_error_says_what_to_do_next(
    current_folder: Path, line: str, code: int, message: str
) -> None:
    done = CliRunner().invoke(app, shlex.split(line), prog_name="onceproof")
    assert isinstance(done.exception, SystemExit), done.exception
    assert done.exit_code == code, done.stderr
    lines = [each for each in done.stderr.splitlines() if not each.startswith("note: ")]
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("onceproof")
    assert re.search(message, lines[0]), lines[0]
    assert not re.search("Traceback|Errno", done.output)


def test_internal_error_is_reported_with_traceback_file(
    current_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_: object) -> int:
        raise ZeroDivisionError("as a test wants it")

    monkeypatch.setattr(explaining, "explain", fail)
    monkeypatch.setattr("tempfile.tempdir", str(current_folder))
    done = CliRunner().invoke(app, ["explain"])
    assert done.exit_code == 3
    (message,) = done.stderr.splitlines()
    assert message.startswith("onceproof: internal error: ZeroDivisionError: as a test wants it.")
    assert "Traceback" in Path(message.rpartition(" ")[2]).read_text()
    for _ in range(9):
        message = CliRunner().invoke(app, ["explain"]).stderr.rstrip()
    files = list(current_folder.glob("onceproof-mistake-*"))
    assert len(files) == 5
    assert Path(message.rpartition(" ")[2]) in files


def test_internal_error_is_saved_in_the_run_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("as a test wants it")

    folder = finished(tmp_path / "runs")
    monkeypatch.setattr("onceproof.outcome.build", fail)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for command in ("check", "report"):
        done = CliRunner().invoke(app, [command, str(folder)])
        assert done.exit_code == 3
        assert done.stderr.rstrip().endswith(f"with the contents of {folder / 'mistake.txt'}")
    assert "Traceback" in (folder / "mistake.txt").read_text()
    assert list(tmp_path.iterdir()) == [folder.parent]
