"""Option defaults from files and the environment: precedence and validation."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from onceproof.cli import app
from onceproof.commands import run as running
from onceproof.commands import verify as verifying
from onceproof.commands_page import all_commands
from onceproof.settings.bad import BadSettings
from onceproof.settings.effective import effective
from onceproof.settings.files import find, load
from onceproof.settings.kinds import parser_of
from onceproof.settings.page import PAGE, SCHEMA, all_settings, page, schema_text
from onceproof.settings.schema import schema
from onceproof.verify.options import CLAIMS, VerifyOptions
from onceproof.verify.plan import ROUNDS

REFERENCE = Path(__file__).parents[4] / "docs" / "reference"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository; the current folder is two levels below its root."""
    (tmp_path / ".git").mkdir()
    folder = tmp_path / "deep" / "down"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    return tmp_path


def call(*words: str, environ: Mapping[str, str] | None = None) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, [*words], env={"ONCEPROOF_CONFIG": None, **(environ or {})})
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stdout, done.stderr


def shown(command: str, key: str, environ: Mapping[str, str] | None = None) -> tuple[Any, str]:
    code, out, err = call("config", "show", "--json", command, environ=environ)
    assert code == 0, err
    found = json.loads(out)["settings"][command][key]
    return found["value"], found["from"]


def test_command_line_overrides_environment_and_file(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []

    def run(names: object, *, seed: int, **_: object) -> int:
        seen.append(seed)
        return 0

    monkeypatch.setattr(running, "run", run)
    file = repository / "onceproof.toml"
    assert shown("run", "seed") == (None, "built in")
    file.write_text("seed = 1")
    assert shown("run", "seed") == (1, f"{file}: seed")
    file.write_text("seed = 1\n[run]\nseed = 2")
    assert shown("run", "seed") == (2, f"{file}: run.seed")
    assert shown("soak", "seed") == (1, f"{file}: seed")
    general = {"ONCEPROOF_SEED": "3"}
    assert shown("run", "seed", general) == (3, "ONCEPROOF_SEED")
    specific = {**general, "ONCEPROOF_RUN_SEED": "4"}
    assert shown("run", "seed", specific) == (4, "ONCEPROOF_RUN_SEED")
    for words in (["run"], ["run", "--seed", "5"], ["--config", "none", "run"]):
        assert call(*words, environ=specific)[0] == 0
    assert seen == [4, 5, None]


def test_matrix_jobs_ignore_settings() -> None:
    from onceproof.matrix.plan import plan
    from onceproof.scenarios import flagship

    (place,) = plan(flagship()[:1], ["local"], seed=1)
    command = place.job(Path("runs")).command
    after = command.index("onceproof") + 1
    assert command[after : after + 3] == ("--config", "none", "run")


def test_paths_are_relative_to_where_they_are_set(repository: Path) -> None:
    (repository / "onceproof.toml").write_text('out = "runs"')
    assert shown("run", "out")[0] == str(repository / "runs")
    assert shown("run", "out", {"ONCEPROOF_OUT": "x"})[0] == str(Path.cwd() / "x")


def test_pyproject_table_is_read(repository: Path) -> None:
    file = repository / "pyproject.toml"
    file.write_text('[project]\nname = "x"')
    assert find(Path.cwd()) is None
    file.write_text("[tool.onceproof.soak]\nkeep-all = true")
    assert shown("soak", "keep-all") == (True, f"{file}: tool.onceproof.soak.keep-all")
    (repository / "onceproof.toml").write_text("seed = 1")
    assert shown("soak", "keep-all") == (False, "built in")


@pytest.mark.parametrize("root", [".git", "home"])
def test_search_stops_at_repository_or_home(tmp_path: Path, root: str) -> None:
    folder = tmp_path / "root" / "below"
    folder.mkdir(parents=True)
    (tmp_path / "onceproof.toml").write_text("seed = 1")
    home = tmp_path / "root" if root == "home" else tmp_path / "elsewhere"
    assert find(folder, home=tmp_path / "elsewhere") is not None
    if root != "home":
        (tmp_path / "root" / root).mkdir()
    assert find(folder, home=home) is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to somebody else")
@pytest.mark.parametrize("owned", ["file", "folder"])
@pytest.mark.parametrize("name", ["onceproof.toml", "pyproject.toml"])
def test_file_of_another_user_in_parent_folder_is_refused(
    tmp_path: Path, name: str, owned: str
) -> None:
    above, below = tmp_path / "above", tmp_path / "above" / "below"
    below.mkdir(parents=True)
    file = above / name
    file.write_text("[tool.onceproof]\nseed = 1" if name == "pyproject.toml" else "seed = 1")
    assert find(below, home=tmp_path) is not None
    os.chown(file if owned == "file" else above, 4711, -1)
    with pytest.raises(BadSettings, match=r"belongs to another user \(uid 4711\).*--config"):
        find(below, home=tmp_path)
    assert find(above, home=tmp_path) is not None  # the current folder is trusted


WRONG = [
    ("ot = 'x'", "ot: there is no such setting for all commands. Did you mean out?"),
    ("[chck]", "chck: there is no such table. Did you mean check?"),
    ("[check]\nthread = 1", "check.thread: there is no such setting. Did you mean check.threads"),
    ("check = 1", "check: expected a table, as in [check], found 1."),
    ("seed = 'x'", 'seed: expected an integer, found "x".'),
    ("seed = true", "seed: expected an integer, found true."),
    ("[check]\nthreads = 0", "check.threads: expected an integer ≥ 1, found 0."),
    ("[soak]\nfree = 'x'", 'soak.free: expected a number ≥ 0, found "x".'),
    ("[soak]\nkeep-all = 1", "soak.keep-all: expected true or false, found 1."),
    ("backend = 'flink'", "backend: expected local, local-secured, docker or external:FILE, found"),
    ("[verify]\noutput = 'x'", 'verify.output: expected a list, each a string, found "x".'),
    ("[verify]\nclaim = ['x']", "verify.claim: expected a list, each exactly-once, at-least-once"),
    ("[verify]\ndry-run = true", "verify.dry-run: there is no such setting."),
    ("seed = ", "is not valid TOML: "),
]


@pytest.mark.parametrize(("text", "message"), WRONG)
@pytest.mark.parametrize("words", [["run"], ["config", "show"]])
def test_invalid_file_is_refused(
    repository: Path, text: str, message: str, words: list[str]
) -> None:
    file = repository / "onceproof.toml"
    file.write_text(text)
    code, out, err = call(*words)
    assert (code, out) == (2, "")
    assert err.startswith(f"onceproof: {file}")
    assert message in err
    assert len(err.splitlines()) == 1


def test_invalid_environment_variable_is_named(repository: Path) -> None:
    code, _, err = call("run", environ={"ONCEPROOF_MATRIX_JOBS": "many"})
    assert code == 2
    assert err == (
        "onceproof: environment variable ONCEPROOF_MATRIX_JOBS: expected an integer ≥ 1, found "
        "'many'.\n"
    )


def test_overridden_invalid_value_is_still_refused(repository: Path) -> None:
    (repository / "onceproof.toml").write_text("seed = 'x'")
    code, _, err = call("config", "show", "run", environ={"ONCEPROOF_RUN_SEED": "4"})
    assert (code, "seed: expected an integer" in err) == (2, True)


def test_environment_list_is_split_like_shell_words(repository: Path) -> None:
    variable = "ONCEPROOF_VERIFY_FAULT"
    found = shown("verify", "fault", {variable: "'kill driver' rolling-restart"})
    assert found == (["kill driver", "rolling-restart"], variable)
    code, _, err = call("config", "show", environ={variable: "'kill driver"})
    assert (code, err.count("\n")) == (2, 1)
    assert f"{variable}: expected a list, each a string, found" in err


def test_environment_values_get_the_type_of_the_option(repository: Path) -> None:
    found = shown("clean", "older-than", {"ONCEPROOF_CLEAN_OLDER_THAN": "7d"})
    assert found == ("7d", "ONCEPROOF_CLEAN_OLDER_THAN")
    assert shown("matrix", "backend", {"ONCEPROOF_MATRIX_BACKEND": "local docker"})[0] == [
        "local",
        "docker",
    ]


def test_tilde_expands_to_home(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Path] = []

    def run(names: object, *, out: Path, **_: object) -> int:
        seen.append(out)
        return 0

    monkeypatch.setattr(running, "run", run)
    monkeypatch.setenv("HOME", str(repository / "home"))
    (repository / "onceproof.toml").write_text("out = '~/file'")
    assert shown("run", "out", {"ONCEPROOF_OUT": "~/variable"})[0] == str(
        repository / "home/variable"
    )
    assert call("run", environ={"ONCEPROOF_OUT": "~/variable"})[0] == 0
    assert call("run")[0] == 0
    assert seen == [repository / "home" / "variable", repository / "home" / "file"]


def test_environment_command_runs_in_current_folder(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[VerifyOptions] = []
    monkeypatch.setattr(verifying, "verify", lambda options, **_: calls.append(options) or 0)
    (repository / "onceproof.toml").write_text("[verify]\ncommand = ['a']\noutput = ['b']\n")
    assert call("verify", environ={"ONCEPROOF_VERIFY_COMMAND": "python 'my job.py'"})[0] == 0
    assert (calls[0].command, calls[0].folder) == (("python", "my job.py"), Path.cwd())


@pytest.mark.parametrize("words", [["run", "--help"], ["explain", "lost-write"]])
def test_help_and_explain_ignore_invalid_settings(
    repository: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    (repository / "onceproof.toml").write_text("nonsense = 1")
    monkeypatch.setattr("sys.argv", ["onceproof", *words])
    assert call(*words)[0] == 0


def test_file_can_be_given_explicitly(repository: Path) -> None:
    (repository / "other.toml").write_text("seed = 7")
    for words, environ in (
        (["--config", str(repository / "other.toml")], {}),
        ([], {"ONCEPROOF_CONFIG": str(repository / "other.toml")}),
    ):
        code, out, _ = call(*words, "config", "show", "run", "--json", environ=environ)
        assert code == 0
        assert json.loads(out)["settings"]["run"]["seed"]["value"] == 7
    assert "does not exist" in call("--config", "nothing.toml", "run")[2]


def test_pipeline_can_be_configured_in_a_file(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[tuple[VerifyOptions, list[str]]] = []

    def verify(options: VerifyOptions, *, given: list[str], **_: object) -> int:
        calls.append((options, given))
        return 0

    monkeypatch.setattr(verifying, "verify", verify)
    (repository / "onceproof.toml").write_text(
        '[verify]\ncommand = ["python", "job.py"]\noutput = ["a", "b"]\npreset = "gentle"\n'
    )
    assert call("verify", "--rate", "5", "--seed", "3", "--dry-run")[0] == 0
    assert call("verify", "--output", "c", "--", "other")[0] == 0
    (first, options), (second, _) = calls
    assert (first.command, first.outputs, first.folder) == (
        ("python", "job.py"),
        ("a", "b"),
        repository,
    )
    assert options == ["--output", "a", "--output", "b", "--rate", "5", "--preset", "gentle"]
    assert (second.command, second.outputs) == (("other",), ("c",))
    assert second.folder == Path.cwd()


def test_page_and_schema_are_up_to_date() -> None:
    settings = all_settings()
    assert (REFERENCE / PAGE).read_text() == page(settings), "run: make reference"
    assert (REFERENCE / SCHEMA).read_text() == schema_text(settings), "run: make reference"
    code, out, _ = call("config", "schema")
    assert (code, out) == (0, schema_text(settings))


def fits(value: Any, rules: Mapping[str, Any]) -> bool:
    """Validate by the subset of JSON Schema that the schema uses."""
    types = {
        "object": dict, "array": list, "string": str, "boolean": bool, "integer": int,
        "number": int | float,
    }  # fmt: skip
    assert set(rules) <= {
        "$schema", "$id", "title", "description", "default", "type", "properties", "items", "enum",
        "additionalProperties", "pattern", "minimum", "maximum",
    }  # fmt: skip
    name = rules["type"]
    if not isinstance(value, types[name]) or (isinstance(value, bool) and name != "boolean"):
        return False
    if name == "object":
        inside = rules["properties"]
        return all(key in inside and fits(each, inside[key]) for key, each in value.items())
    if name == "array":
        return all(fits(each, rules["items"]) for each in value)
    if name in ("integer", "number"):
        return rules.get("minimum", value) <= value <= rules.get("maximum", value)
    return value in rules.get("enum", [value]) and bool(
        re.search(rules.get("pattern", ""), str(value))
    )


@pytest.mark.parametrize("text", [text for text, _ in WRONG[:-1]])
def test_schema_refuses_invalid_files(tmp_path: Path, text: str) -> None:
    file = tmp_path / "onceproof.toml"
    file.write_text(text)
    assert not fits(load(file).content, schema(all_settings()))


def test_schema_accepts_valid_file(tmp_path: Path) -> None:
    file = tmp_path / "onceproof.toml"
    file.write_text(
        'out = "x"\nbackend = "external:mine.toml"\nseed = 1\n[soak]\nfree = 2.5\nruns = 0\n'
        '[verify]\nclaim = ["at-least-once"]\noutput = ["a"]\n[check]\nexact = true\n'
    )
    settings = all_settings()
    assert fits(load(file).content, schema(settings))
    found = effective(all_commands(), load(file))
    assert found.values["soak"]["free"].value == 2.5


def test_choices_match_those_of_the_commands() -> None:
    verify = all_settings()["verify"]
    assert parser_of(verify["preset"]).choices == tuple(ROUNDS)
    assert parser_of(verify["claim"]).choices == CLAIMS
