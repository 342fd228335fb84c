"""Each snippet of the documentation is executed by a test that `EXECUTED` names, or checked here.

A block fails if it is neither in `EXECUTED` nor of a language that is checked here. An entry of
`EXECUTED` fails if its test is gone or does not name the page.
"""

from __future__ import annotations

import ast
import importlib
import re
import textwrap
import tomllib
from pathlib import Path
from unittest.mock import MagicMock, create_autospec

import pytest
import yaml

from onceproof.commands_page import all_commands
from onceproof.harness.faults.kill import Kill
from onceproof.harness.faults.messages.hit_message import HitMessage
from onceproof.harness.faults.messages.message import Message
from onceproof.harness.faults.targets.brokers import LeaderOf
from onceproof.harness.faults.targets.member import Member
from onceproof.harness.links.gate.rules import Rule
from onceproof.harness.schedule import scenario
from onceproof.harness.schedule.drawn import Draw
from onceproof.harness.stage.cluster_file import Cluster
from onceproof.harness.subjects.spark.jobs.hook import Hook
from onceproof.scenarios import all_scenarios
from onceproof.settings.effective import effective
from onceproof.settings.files import load
from tests.unit.docs.carried_out import EXECUTED, FOREIGN, GATE, IN_TESTS, SUBJECT
from tests.unit.docs.command_lines import wrong
from tests.unit.docs.pages import GENERATED, JEPSEN, ROOT, Block, blocks, blocks_of, text_of

CHECKED_HERE = {"console", "sh", "text", "python", "toml", "yaml"}
"""Languages that are checked here; commands are checked by `test_docs_commands`."""
PICTURES = {"ARCHITECTURE.md"}
"""Pages with a diagram in text, which has no language."""

PYTHON = [block for block in blocks() if block.language == "python"]


@pytest.mark.parametrize("block", blocks(), ids=str)
def test_block_is_checked_or_executed(block: Block) -> None:
    if not block.language:
        assert block.page in PICTURES
        return
    assert block.language in CHECKED_HERE or (block.page, block.language) in EXECUTED


@pytest.mark.parametrize(("page", "language"), EXECUTED, ids=str)
def test_executing_test_exists_and_names_the_page(page: str, language: str) -> None:
    assert any((block.page, block.language) == (page, language) for block in blocks())
    test = (ROOT / EXECUTED[page, language]).read_text()
    assert Path(page).name in test, "it must read the page"
    assert "def test_" in test


@pytest.mark.parametrize("page", GENERATED)
def test_generated_page_is_compared_with_the_code(page: str) -> None:
    assert text_of(page).count("make reference") or text_of(page).count("python -m")
    assert (ROOT / GENERATED[page]).exists(), "the test that compares it with the code"


@pytest.mark.parametrize("block", PYTHON, ids=str)
def test_python_block_parses_and_its_imports_exist(block: Block) -> None:
    tree = ast.parse(textwrap.dedent(block.text))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for name in node.names:
                importlib.import_module(name.name)
        if isinstance(node, ast.ImportFrom):
            module = importlib.import_module(node.module or "")
            for name in node.names:
                assert hasattr(module, name.name), f"{node.module} has no {name.name}"


def python_of(page: str) -> list[str]:
    return [block.text for block in PYTHON if block.page == page]


GROUPS = {
    f"onceproof.{each}"
    for each in ("scenarios", "faults", "anomalies", "outputs", "report_sections")
}


def test_gate_snippets_run() -> None:
    by_rule, in_a_schedule = python_of(GATE)
    stage = MagicMock()
    exec(by_rule, {"stage": stage})
    (put,) = stage.gate.return_value.put.call_args_list
    assert isinstance(put.args[0], Rule)
    used = (scenario.ScheduledFault, HitMessage, Kill, LeaderOf, Member, Message)
    found = eval(
        f"({in_a_schedule})".replace("\n)\nScheduledFault(", "\n),\nScheduledFault("),
        {each.__name__: each for each in used},
    )
    assert [at.name for at in found] == [
        "answer lost", "killed amid a write", "killed between its effects and its positions"
    ]  # fmt: skip


def test_draw_and_hook_snippets_run() -> None:
    drawn, hooked = python_of(SUBJECT)
    names: dict[str, object] = {"Draw": Draw}
    exec(drawn, names)
    draw = names["draw"]
    assert isinstance(draw, Draw)
    assert len(draw.schedule(7)) == 6
    hook = create_autospec(Hook, instance=True)
    exec(hooked, {"hook": hook, "copy": MagicMock(), "batch_id": 3, "rows": []})
    hook.rows.assert_called_once_with(3, [])


def test_foreign_history_snippet_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("history.edn").write_text(JEPSEN)
    (code,) = python_of(FOREIGN)
    names: dict[str, object] = {}
    exec(code, names)
    (judged,) = names["judgement"].claims  # type: ignore[attr-defined]
    assert judged.claim.name == "atomic producers → jepsen"


def test_pytest_snippets_name_existing_things() -> None:
    _executed, marked, verified = python_of(IN_TESTS)
    (name,) = re.findall(r'onceproof_scenario\("([^"]+)"', marked)
    assert name in {each.name for each in all_scenarios()}
    names: dict[str, object] = {}
    exec(verified, names)
    verify = MagicMock()
    names["test_our_job_loses_nothing"](verify)  # type: ignore[operator]
    words = " ".join(f"'{word}'" for word in verify.call_args.args)
    assert wrong(f"onceproof verify {words}") == []


@pytest.mark.parametrize("block", [b for b in blocks() if b.language == "toml"], ids=str)
def test_toml_block_loads(block: Block, tmp_path: Path) -> None:
    file = tmp_path / "written.toml"
    file.write_text(block.text)
    if "bootstrap" in block.text.partition("=")[0]:  # a cluster's file
        (tmp_path / "ca.pem").touch()
        if "[kafka]" in block.text:  # the page leaves the password out
            password = {"ONCEPROOF_KAFKA_SASL_PASSWORD": "open-sesame"}
            assert Cluster.load(file, password).properties["security.protocol"] == "SASL_SSL"
        else:
            assert Cluster.load(file, {}).offers == {"kill", "stop", "pause", "cut"}
        return
    if block.text.startswith("[project."):
        assert tomllib.loads(block.text)["project"]["entry-points"].keys() <= GROUPS
        return
    found = effective(all_commands(), load(file))
    assert found is not None


@pytest.mark.parametrize("block", [b for b in blocks() if b.language == "yaml"], ids=str)
def test_yaml_block_has_valid_commands(block: Block) -> None:
    described = yaml.safe_load(block.text)
    assert isinstance(described, dict)
    commands = [
        line
        for text in _texts(described)
        for line in text.splitlines()
        if line.startswith("onceproof ")
    ]
    assert commands
    assert [wrong(command) for command in commands] == [[]] * len(commands)


def _texts(content: object) -> list[str]:
    if isinstance(content, dict):
        return _texts(list(content.values()))
    if isinstance(content, list):
        return [text for each in content for text in _texts(each)]
    return [content] if isinstance(content, str) else []


def test_unknown_language_is_reported() -> None:
    (block,) = blocks_of("docs/new.md", "text\n\n```rust\nfn main() {}\n```\n")
    assert (block.line, block.text) == (3, "fn main() {}\n")
    with pytest.raises(AssertionError):
        test_block_is_checked_or_executed(block)


def test_unknown_import_is_reported() -> None:
    block = Block("docs/new.md", 1, "python", "from onceproof.harness.wait import wait_untill\n")
    with pytest.raises(AssertionError, match="has no wait_untill"):
        test_python_block_parses_and_its_imports_exist(block)
