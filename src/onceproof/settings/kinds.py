"""What a setting may be: a value of TOML, a word of the environment, and how a schema says it.

A kind is made from a command's option, so that a file and a command line can
never disagree about what is right.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import typer
from typer.core import TyperArgument, TyperOption

Parameter = TyperOption | TyperArgument

_TRUE, _FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0")
_NAMES: Final = {
    **dict.fromkeys(("int", "integer"), "whole"),
    "float": "number",
    **dict.fromkeys(("path", "file", "directory"), "path"),
}
"""What versions of typer call them."""
_SCHEMA: Final = {"switch": "boolean", "whole": "integer", "number": "number"}
_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "switch": (bool,),
    "whole": (int,),
    "number": (int, float),
}
_WORDS: Final = {
    "switch": "true or false",
    "whole": "a whole number",
    "number": "a number",
    "path": "a path",
    "text": "a text",
}


@dataclass(frozen=True, kw_only=True)
class Kind:
    """What one setting may be.

    Attributes:
        name: switch, whole, number, path or text.
        many: whether it is a list.
        least, most: of a number.
        parser: what reads a text, if it may not be any; see `onceproof.cli.words`.
    """

    name: str
    many: bool = False
    least: float | None = None
    most: float | None = None
    parser: Any = None

    @classmethod
    def of(cls, parameter: Parameter) -> Kind:
        """That of an option or argument."""
        type_ = parameter.type
        switch = bool(getattr(parameter, "is_flag", False))
        return cls(
            name="switch" if switch else _NAMES.get(type_.name.removesuffix(" range"), "text"),
            many=bool(getattr(parameter, "multiple", False)) or parameter.nargs == -1,
            least=getattr(type_, "min", None),
            most=getattr(type_, "max", None),
            parser=getattr(type_, "func", None),
        )

    @property
    def expected(self) -> str:
        """What it must be, in words."""
        return f"a list, each {self._expected}" if self.many else self._expected

    @property
    def schema(self) -> dict[str, Any]:
        """What it must be, as JSON Schema."""
        return {"type": "array", "items": self._schema} if self.many else self._schema

    def checked(self, value: object, folder: Path) -> Any:
        """The value as the option takes it.

        Args:
            value: as TOML has it.
            folder: relative paths are meant from there.

        Raises:
            ValueError: it is no such value.
        """
        if not self.many:
            return self._checked(value, folder)
        if not isinstance(value, list):
            raise ValueError
        return [self._checked(each, folder) for each in value]

    def read(self, text: str) -> object:
        """A word of the environment as TOML would have it; what is no such value stays a word."""
        if self.many:
            return [self._read(word) for word in shlex.split(text)]
        return self._read(text)

    @property
    def _expected(self) -> str:
        if self.parser is not None:
            return str(self.parser.expected)
        word = _WORDS[self.name]
        if self.least is not None and self.most is not None:
            return f"{word} from {self.least} to {self.most}"
        return word if self.least is None else f"{word} of at least {self.least}"

    @property
    def _schema(self) -> dict[str, Any]:
        found: dict[str, Any] = {"type": _SCHEMA.get(self.name, "string")}
        if (pattern := getattr(self.parser, "pattern", None)) is not None:
            return {**found, "pattern": pattern}
        if self.parser is not None:
            return {**found, "enum": list(self.parser.choices)}
        bounds = {"minimum": self.least, "maximum": self.most}
        return found | {name: bound for name, bound in bounds.items() if bound is not None}

    def _checked(self, value: object, folder: Path) -> Any:
        fits = isinstance(value, _TYPES.get(self.name, (str,)))
        if not fits or (isinstance(value, bool) and self.name != "switch"):
            raise ValueError
        if isinstance(value, int | float) and self.name != "switch":
            too_small = self.least is not None and value < self.least
            if too_small or (self.most is not None and value > self.most):
                raise ValueError
        if self.parser is not None:
            try:
                self.parser(value)
            except typer.BadParameter:
                raise ValueError from None
        return str(folder / Path(str(value)).expanduser()) if self.name == "path" else value

    def _read(self, text: str) -> object:
        if self.name == "switch":
            words: dict[str, object] = {
                **dict.fromkeys(_TRUE, True),
                **dict.fromkeys(_FALSE, False),
            }
            return words.get(text.strip().lower(), text)
        for number in {"whole": (int,), "number": (int, float)}.get(self.name, ()):
            try:
                return number(text)
            except ValueError:
                continue
        return text
