"""`onceproof check` on histories of other tools."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from onceproof.checkers import History
from onceproof.cli import app
from tests.end_to_end.command import onceproof
from tests.unit.checkers.imports.histories import edn

LOST = """
0 ok send [[:send 5 [0 1]]]
0 ok send [[:send 5 [1 2]]]
0 ok send [[:send 5 [2 3]]]
9 * assign [5] | :seek-to-beginning? true
9 invoke poll [[:poll]]
9 ok poll [[:poll {5 [[0 1] [2 3]]}]]
"""
ENDED = [{"phase": p, "outcome": "ok"} for p in ("settle", "collect")]


def run(*arguments: str | Path) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, ["check", *map(str, arguments)])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stdout, done.stderr


@pytest.fixture
def jepsen(tmp_path: Path) -> Path:
    path = tmp_path / "history.edn"
    path.write_text(edn(LOST))
    return path


def test_jepsen_history_is_judged_by_the_real_command(jepsen: Path) -> None:
    done = onceproof("check", jepsen)
    assert done.code == 1
    assert "exactly-once producers → jepsen   violated" in done.out
    assert "lost-write: 1 finding\n  5/2 was acknowledged by jepsen" in done.out
    assert done.err == ""


def test_large_history_is_judged_from_files(jepsen: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = run(jepsen)
    monkeypatch.setattr("onceproof.commands.check._LARGE", 1)
    moved = []
    move = History.moved
    monkeypatch.setattr(History, "moved", lambda of, to: moved.append(to) or move(of, to))
    assert run(jepsen) == found
    (folder,) = moved
    assert not folder.exists(), "they are removed"


def test_claim_option_selects_what_is_judged(jepsen: Path) -> None:
    code, out, _ = run(jepsen, "--claim", "at-most-once:jepsen")
    assert code == 5  # no send was in doubt
    assert out.startswith(f"{jepsen}: 1 claim: 1 unexercised\n")
    assert "Add the table hazards" in out


def test_folder_of_a_jepsen_test_is_accepted(jepsen: Path) -> None:
    assert run(jepsen.parent)[0] == 1
    assert run(jepsen.parent, "--format", "jepsen")[0] == 1


def test_jepsen_options_exclude_precommitted_reads(jepsen: Path) -> None:
    jepsen.write_text(
        edn("""
        0 invoke txn [[:send 5 1] [:poll]]
        0 ok txn [[:send 5 [0 1]] [:poll {5 [[0 1]]}]]
        """)
    )
    assert "precommitted-read" in run(jepsen)[1]
    assert "precommitted-read" not in run(jepsen, "--no-transactions")[1]
    assert "precommitted-read" not in run(jepsen, "--isolation", "read_uncommitted")[1]


def parquet(folder: Path, **tables: object) -> Path:
    history = History.of(
        sends=[{"record": "a"}, {"record": "b"}],
        log=[{"record": "a", "digest": "in-a"}, {"record": "b", "digest": "in-b"}],
        **tables,  # type: ignore[arg-type]
    )
    history.save(folder)
    return folder


def test_parquet_holds_with_phases_and_hazards(tmp_path: Path) -> None:
    hazards = [{"hazard": "retried-send", "hop": "produce"}]
    folder = parquet(tmp_path, phases=ENDED, hazards=hazards)
    code, out, _ = run(folder, "--claim", "exactly-once:input,hazard=retried-send")
    assert (code, "holds" in out) == (0, True), out
    code, out, _ = run(folder, "--claim", "exactly-once:input,hazard=broker-killed")
    assert (code, "hazard broker-killed" in out) == (5, True), out


def test_parquet_without_phases_names_the_missing_table(tmp_path: Path) -> None:
    code, out, _ = run(parquet(tmp_path), "--claim", "exactly-once:input")
    assert code == 5
    assert "Add the table phases with rows settle and collect" in out


def test_json_lines_are_judged(tmp_path: Path) -> None:
    path = tmp_path / "h.jsonl"
    with path.open("w") as file:
        for name, table in History.of(
            sends=[{"record": "a"}], log=[{"record": "a"}, {"record": "x", "offset": 5}]
        ).items():
            for row in table.to_pylist():
                file.write(json.dumps({"t": name, **row}) + "\n")
    judgement = tmp_path / "judgement.json"
    code, out, err = run(path, "--json", judgement)
    assert code == 1
    assert "phantom: 1 finding" in out
    assert str(judgement) in err
    claims = json.loads(judgement.read_text())["claims"]
    assert {c["verdict"] for c in claims if "phantom" in c["refuted_by"]} == {"violated"}


@pytest.mark.parametrize("settings", [["--exact"], ["--threads", "1", "--memory", "512MiB"]])
def test_engine_settings_do_not_change_the_verdict(jepsen: Path, settings: list[str]) -> None:
    assert run(jepsen, *settings)[:2] == run(jepsen)[:2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--claim", "exactly-once:nothing"], "a topic of the history (jepsen)"),
        (["--claim", "often:jepsen"], "a guarantee of"),
        (["--engine", "flink"], "--engine: expected duckdb or spark, found flink"),
        (["--master", "local[2]"], "--master works only with --engine spark"),
        (["--engine", "spark", "--threads", "2"], "--threads works only with --engine duckdb"),
        (["--memory", "much"], "--memory: expected a size such as 2GB"),
        (["--memory", "1KB"], "--memory: expected at least 100MB"),
        (["--isolation", "none"], "--isolation: expected read_committed or read_uncommitted"),
        (["--format", "csv"], "--format: expected run, jepsen, jsonl or parquet, found csv"),
        (["--format", "parquet"], "history.edn"),
        (["--format", "jsonl"], "history.edn, line 1, column 2: expected JSON"),
        (["--format", "run"], "history.edn"),
    ],
)
def test_invalid_options_are_refused(jepsen: Path, arguments: list[str], message: str) -> None:
    code, out, err = run(jepsen, *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert len(err.strip().splitlines()) == 1


def test_unreadable_histories_are_refused(tmp_path: Path) -> None:
    code, _, err = run(tmp_path / "nowhere")
    assert (code, "does not exist" in err) == (2, True)
    code, _, err = run(tmp_path)
    assert (code, "is not a run folder" in err) == (2, True)
    (tmp_path / "h.edn").write_text("{:process 0, :type :ok, :f :send, :value [[:send 5]]}")
    code, _, err = run(tmp_path / "h.edn")
    assert code == 2
    assert err.startswith(f"onceproof: {tmp_path / 'h.edn'}, line 1, field :value: expected [:send")


def test_claim_option_is_refused_for_a_run(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text("{}")
    code, _, err = run(tmp_path, "--claim", "exactly-once:input")
    assert (code, "To judge its history by others: onceproof check" in err) == (2, True)


@pytest.mark.parametrize("uri", ["s3a://bucket/run", "file:///runs/7", "hdfs://far:8020/run"])
def test_uri_needs_spark(uri: str) -> None:
    code, out, err = run(uri)
    assert (code, out) == (2, "")
    assert err.startswith(f"onceproof: {uri}: expected a local path")
    assert "--engine spark, or copy the folder" in err


def test_local_options_are_refused_before_spark_starts() -> None:
    for arguments, message in (
        (("--format", "jepsen"), "expected format run or parquet, found jepsen"),
        (("--isolation", "read_committed"), "--isolation works only with --format jepsen"),
    ):
        code, _, err = run("s3a://bucket/run", "--engine", "spark", *arguments)
        assert code == 2
        assert message in err
