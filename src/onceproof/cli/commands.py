"""The group of all commands; a usage error becomes one line on standard error, and exit code 2."""

from __future__ import annotations

import sys
from typing import Any, Final

import typer
from typer.core import TyperGroup, TyperOption

from onceproof.interrupts import INTERRUPTED, interruption

TROUBLE: Final = 3
_WRONG_CALL: Final[Any] = typer.BadParameter.__mro__[1]
"""Base class of usage errors; typer exports neither it nor the class in `_NO_COMMAND`."""
_NO_COMMAND: Final = "NoArgsIsHelpError"


class Commands(TyperGroup):
    """The group of all commands."""

    def main(self, *args: Any, **extra: Any) -> Any:
        standalone_mode = extra.get("standalone_mode", True)
        try:
            code = super().main(*args, **{**extra, "standalone_mode": False})
        except _WRONG_CALL as error:
            if not standalone_mode:
                raise
            print(error_line(error), file=sys.stderr)
            code = error.exit_code
        except KeyboardInterrupt as error:
            print(interruption(error), file=sys.stderr)
            code = INTERRUPTED
        except typer.Abort:
            print(interruption(), file=sys.stderr)
            code = INTERRUPTED
        except Exception as error:
            if not standalone_mode:
                raise
            from onceproof.internal_errors import report_internal_error

            print(f"onceproof: {report_internal_error(error)}", file=sys.stderr)
            code = TROUBLE
        if not standalone_mode:
            return code
        sys.exit(code if isinstance(code, int) else 0)


def error_line(error: Any) -> str:
    """Return a usage error as one line that refers to the command's help."""
    message, ctx = error.format_message(), error.ctx
    if type(error).__name__ == _NO_COMMAND:  # help is already printed
        message = "expected a command"
    if type(error) is typer.BadParameter:
        name = _name(error.param)
        message = f"{name}: {error.message}" if name else error.message
    path = "onceproof" if ctx is None else ctx.command_path
    message = " ".join(message.split())
    end = "" if message.endswith(("?", ".")) else "."
    return f"onceproof: {message}{end} See `{path} --help`."


def _name(parameter: Any) -> str | None:
    if isinstance(parameter, TyperOption):
        return max(parameter.opts, key=len)
    return None if parameter is None else str(parameter.human_readable_name)
