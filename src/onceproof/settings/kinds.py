"""Describe the values of options, in words and as JSON Schema, and check types of TOML values.

Click checks ranges and calls the parsers, which describe their values: `onceproof.cli.words`.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from typer.core import TyperArgument, TyperOption

Parameter = TyperOption | TyperArgument


class _Kind(NamedTuple):
    words: str
    types: tuple[type, ...]
    schema: str


_STRING: Final = _Kind("a string", (str,), "string")
_PATH: Final = _Kind("a path", (str,), "string")
_INTEGER: Final = _Kind("an integer", (int,), "integer")
_KINDS: Final = {
    **dict.fromkeys(("bool", "boolean"), _Kind("true or false", (bool,), "boolean")),
    **dict.fromkeys(("int", "integer"), _INTEGER),
    "float": _Kind("a number", (int, float), "number"),
    **dict.fromkeys(("path", "file", "directory"), _PATH),
}
"""By their names in various versions of typer."""


def is_path(parameter: Parameter) -> bool:
    return _kind(parameter) is _PATH


def is_list(parameter: Parameter) -> bool:
    return bool(getattr(parameter, "multiple", False)) or parameter.nargs == -1


def parser_of(parameter: Parameter) -> Any:
    """Return the parser of a text option that does not accept every text, or None."""
    return getattr(parameter.type, "func", None)


def help_of(parameter: Parameter) -> str:
    return getattr(parameter, "help", None) or ""


def expected(parameter: Parameter) -> str:
    """Describe valid values in words."""
    least, most = _bounds(parameter)
    if parser := parser_of(parameter):
        words = str(parser.expected)
    else:
        words = _kind(parameter).words
        if most is not None:
            words += f" from {least} to {most}"
        elif least is not None:
            words += f" ≥ {least}"
    return f"a list, each {words}" if is_list(parameter) else words


def schema(parameter: Parameter) -> dict[str, Any]:
    """Describe valid values as JSON Schema."""
    found: dict[str, Any] = {"type": _kind(parameter).schema}
    if parser := parser_of(parameter):
        pattern = getattr(parser, "pattern", None)
        found |= {"pattern": pattern} if pattern else {"enum": list(parser.choices)}
    bounds = zip(("minimum", "maximum"), _bounds(parameter), strict=True)
    found |= {name: bound for name, bound in bounds if bound is not None}
    return {"type": "array", "items": found} if is_list(parameter) else found


def has_type(parameter: Parameter, value: object) -> bool:
    """Whether a TOML value has the type; click would take "1" for a number, and 1 for true."""
    if not is_list(parameter):
        return _has_type(parameter, value)
    return isinstance(value, list) and all(_has_type(parameter, each) for each in value)


def _has_type(parameter: Parameter, value: object) -> bool:
    types = _kind(parameter).types
    return isinstance(value, types) and isinstance(value, bool) == (bool in types)


def _kind(parameter: Parameter) -> _Kind:
    return _KINDS.get(parameter.type.name.removesuffix(" range"), _STRING)


def _bounds(parameter: Parameter) -> tuple[float | None, float | None]:
    return getattr(parameter.type, "min", None), getattr(parameter.type, "max", None)
