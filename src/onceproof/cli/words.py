"""Option types: one of several words, a backend, or an age.

They are typer parsers. Each also describes its values for the command line, settings files, their
schema and shell completion.
"""

from __future__ import annotations

import re
from typing import Any, Final

import typer

_BACKENDS: Final = ("local", "docker")
_SECURED: Final = "local-secured"
_OWN_CLUSTER: Final = "external:"
_SECONDS: Final = {"m": 60, "h": 3600, "d": 86_400, "w": 604_800}


class ChoiceOf:
    """One of several words."""

    __name__ = "str"

    def __init__(self, *choices: str) -> None:
        self.choices = choices

    @property
    def expected(self) -> str:
        *others, last = self.choices
        return f"{', '.join(others)} or {last}" if others else last

    def __call__(self, word: str) -> str:
        """Return the word, or raise `BadParameter` if it is not a choice."""
        if word not in self.choices:
            raise typer.BadParameter(f"expected {self.expected}, found {word}")
        return word

    def complete(self, incomplete: str) -> list[str]:
        return [word for word in self.choices if word.startswith(incomplete)]


def choice_option(words: ChoiceOf, *names: str, help: str) -> Any:  # noqa: A002
    """Return an option of type `ChoiceOf`, with completion."""
    return typer.Option(*names, parser=words, autocompletion=words.complete, help=help)


class Backend:
    """A backend; with `own` only local or docker."""

    __name__ = "str"

    def __init__(self, *, own: bool = False) -> None:
        self.own = own
        self.choices = _BACKENDS if own else (*_BACKENDS, _SECURED)

    @property
    def expected(self) -> str:
        return "local or docker" if self.own else "local, local-secured, docker or external:FILE"

    @property
    def pattern(self) -> str:
        return "^(local|docker)$" if self.own else "^(local(-secured)?|docker|external:.+)$"

    def __call__(self, word: str) -> str:
        """Return the word, or raise `BadParameter` if it is not a backend."""
        cluster = word.startswith(_OWN_CLUSTER) and word != _OWN_CLUSTER and not self.own
        if word not in self.choices and not cluster:
            raise typer.BadParameter(f"expected {self.expected}, found {word}")
        return word


def secured_backend(backend: str, *, secured: bool) -> str:
    """Return the backend, secured if asked; raise `BadParameter` if it cannot be."""
    if not secured:
        return backend
    if backend not in ("local", _SECURED):
        raise typer.BadParameter(
            "--secured works only with --backend local; the credentials of your own cluster belong "
            "in its file"
        )
    return _SECURED


class RuntimeVersion:
    """A runtime with a version; which there are is checked by the command."""

    __name__ = "str"
    expected = "NAME=VERSION, such as kafka=3.9.2"
    pattern = r"^[a-z-]+==?[0-9]+(\.[0-9]+){1,3}$"
    choices: tuple[str, ...] = ()

    def __call__(self, word: str) -> str:
        """Return the word, or raise `BadParameter` if it has another form."""
        if re.match(self.pattern, word) is None:
            raise typer.BadParameter(f"expected {self.expected}, found {word}")
        return word


class Age:
    """Parse an age such as 90m, 12h, 7d or 2w into seconds."""

    __name__ = "str"
    expected = "a time such as 90m, 12h, 7d or 2w"
    pattern = r"^[0-9]+(\.[0-9]+)?[mhdw]$"
    choices: tuple[str, ...] = ()

    def __call__(self, word: str) -> float:
        """Return the seconds, or raise `BadParameter`."""
        if re.match(self.pattern, word) is None:
            raise typer.BadParameter(f"expected {self.expected}, found {word}")
        return float(word[:-1]) * _SECONDS[word[-1]]
