"""The reference page of commands, and that it is what the code says."""

from __future__ import annotations

from pathlib import Path

from onceproof.commands_page import all_commands, page

HERE = Path(__file__).parents[3]


def test_the_page_is_up_to_date() -> None:
    written = (HERE / "docs" / "reference" / "commands.md").read_text()
    assert written == page(all_commands()), "run: make reference"


def test_every_command_says_what_it_does_and_how_it_ends() -> None:
    for name, command in all_commands().commands.items():
        assert command.help, name
        for parameter in command.params:
            assert parameter.name == "help" or getattr(parameter, "help", None), (name, parameter)
