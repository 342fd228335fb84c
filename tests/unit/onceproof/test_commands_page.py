"""The reference page of the commands matches the code."""

from __future__ import annotations

from pathlib import Path

from onceproof.commands_page import all_commands, page

ROOT = Path(__file__).parents[3]


def test_page_is_up_to_date() -> None:
    written = (ROOT / "docs" / "reference" / "commands.md").read_text()
    assert written == page(all_commands()), "run: make reference"


def test_every_command_and_option_has_help() -> None:
    for name, command in all_commands().commands.items():
        assert command.help, name
        for parameter in command.params:
            assert parameter.name == "help" or getattr(parameter, "help", None), (name, parameter)
