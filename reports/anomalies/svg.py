"""Build SVG elements as safe markup: every attribute and text is escaped here.

A picture contains no scripts and loads nothing: its shapes have classes, which the page's style
sheet colours for light and dark.
"""

from __future__ import annotations

from typing import Final

from markupsafe import Markup, escape
from rich.cells import cell_len

CHAR: Final = 7.0
"""Upper bound for the width of a character, in pixels."""
SMALL: Final = 6.3
_LEAST: Final = 0.78
"""How far a picture may shrink before it is scrolled."""


def element(name: str, *inside: str, **attributes: object) -> Markup:
    """Return an element. In attribute names, `_` becomes `-` and a trailing `_` is dropped."""
    markup = Markup("").join(
        Markup(' {}="{}"').format(key.rstrip("_").replace("_", "-"), _value(value))
        for key, value in attributes.items()
        if value is not None
    )
    body = Markup("").join(escape(part) for part in inside)
    if not inside:
        return Markup("<{}{}/>").format(Markup(name), markup)
    return Markup("<{}{}>{}</{}>").format(Markup(name), markup, body, Markup(name))


def words(x: float, y: float, text: str, class_: str, **attributes: object) -> Markup:
    return element("text", text, x=x, y=y, class_=class_, **attributes)


def path(d: str, class_: str) -> Markup:
    return element("path", d=d, class_=class_)


def cross(x: float, y: float, size: float = 3.5) -> Markup:
    s = size
    return path(
        f"M{num(x - s)} {num(y - s)}l{2 * s} {2 * s}m0 {-2 * s}l{-2 * s} {2 * s}", "p-cross"
    )


def num(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def width_of(text: str, char: float = CHAR) -> float:
    return cell_len(text) * char


def document(name: str, title: str, says: str, size: tuple[float, float], *inside: str) -> Markup:
    """Return a whole picture; `name` must be unique on the page."""
    width, height = (num(length) for length in size)
    return element(
        "svg",
        element("title", title, id=f"{name}-title"),
        element("desc", says, id=f"{name}-desc"),
        *inside,
        class_="picture",
        style=f"min-width: {num(size[0] * _LEAST)}px; max-width: 100%; height: auto",
        width=width,
        height=height,
        viewBox=f"0 0 {width} {height}",
        role="img",
        aria_labelledby=f"{name}-title {name}-desc",
    )


def _value(value: object) -> str:
    return num(value) if isinstance(value, float) else str(value)
