"""What an option may be where that is a word of a few, or a backend.

These are parsers, as typer takes them. They say what they take to whoever
asks: the command line, a file with settings, its schema, and a shell that completes.
"""

from __future__ import annotations

import re
from typing import Any, Final

import typer

_BACKENDS: Final = ("local", "docker")
_SECURED: Final = "local-secured"
_OWN_CLUSTER: Final = "external:"
_SECONDS: Final = {"m": 60, "h": 3600, "d": 86_400, "w": 604_800}


class OneOf:
    """A word of a few."""

    __name__ = "str"

    def __init__(self, *choices: str) -> None:
        self.choices = choices

    @property
    def expected(self) -> str:
        """The words, in a sentence."""
        *others, last = self.choices
        return f"{', '.join(others)} or {last}" if others else last

    def __call__(self, word: str) -> str:
        """The word itself.

        Raises:
            BadParameter: it is none of them.
        """
        if word not in self.choices:
            raise typer.BadParameter(f"expected {self.expected}, found {word}")
        return word

    def complete(self, incomplete: str) -> list[str]:
        """The words that begin so."""
        return [word for word in self.choices if word.startswith(incomplete)]


def of_a_few(words: OneOf, *names: str, help: str) -> Any:  # noqa: A002
    """An option that is a word of a few, checked and completed."""
    return typer.Option(*names, parser=words, autocompletion=words.complete, help=help)


class Backend:
    """What a stage is made of; unless `own`, also a cluster that is not ours."""

    __name__ = "str"

    def __init__(self, *, own: bool = False) -> None:
        self.own = own
        self.choices = _BACKENDS if own else (*_BACKENDS, _SECURED)

    @property
    def expected(self) -> str:
        """What it takes, in a sentence."""
        return "local or docker" if self.own else "local, local-secured, docker or external:FILE"

    @property
    def pattern(self) -> str:
        """What it takes, as a regular expression."""
        return "^(local|docker)$" if self.own else "^(local(-secured)?|docker|external:.+)$"

    def __call__(self, word: str) -> str:
        """The word itself.

        Raises:
            BadParameter: it is no backend.
        """
        cluster = word.startswith(_OWN_CLUSTER) and word != _OWN_CLUSTER and not self.own
        if word not in self.choices and not cluster:
            raise typer.BadParameter(f"expected {self.expected}, found {word}")
        return word


def of_stage(backend: str, *, secured: bool) -> str:
    """The backend of a stage that may have been asked to be secured.

    Raises:
        BadParameter: it cannot be.
    """
    if not secured:
        return backend
    if backend not in ("local", _SECURED):
        raise typer.BadParameter(
            "--secured is for --backend local; credentials for a cluster of your own are in its "
            "file"
        )
    return _SECURED


class Age:
    """A length of time such as 90m, 12h, 7d or 2w; in seconds."""

    __name__ = "str"
    expected = "a time such as 90m, 12h, 7d or 2w"
    pattern = r"^[0-9]+(\.[0-9]+)?[mhdw]$"
    choices: tuple[str, ...] = ()

    def __call__(self, word: str) -> float:
        """The seconds.

        Raises:
            BadParameter: it is no such time.
        """
        if re.match(self.pattern, word) is None:
            raise typer.BadParameter(f"expected {self.expected}, found {word}")
        return float(word[:-1]) * _SECONDS[word[-1]]
