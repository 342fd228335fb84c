"""Templates of self-contained pages, and their shared style.

Everything that a template prints is foreign text: Jinja2 escapes it, and `finalize` makes control
characters visible. Only `Markup` composed by our own modules is trusted.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from onceproof.reports import text
from onceproof.reports.html.facts import flat

_HERE = Path(__file__).parent


def environment(*folders: Path) -> Environment:
    """Return an environment that searches these folders, then that of the report's page."""
    found = Environment(
        loader=FileSystemLoader([*folders, _HERE / "templates"]),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_visible,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= {
        "number": text.number,
        "seconds": text.seconds,
        "flat": flat,
        "cell": _cell,
    }
    found.globals |= {"plural": text.plural}
    return found


def style(*more: Path) -> Markup:
    """Return the style of the report's page, followed by further style sheets."""
    files = (_HERE / "style.css", *more)
    return Markup("".join(path.read_text(encoding="utf-8") for path in files))


def script(path: Path) -> Markup:
    return Markup(path.read_text(encoding="utf-8"))


def policy(css: Markup, code: Markup | None) -> str:
    """Return a content security policy that allows only this style and script: nothing is loaded,
    and nothing from a record can run.
    """
    scripts = f"script-src {digest(code)}; " if code is not None else ""
    return (
        f"default-src 'none'; style-src {digest(css)}; {scripts}form-action 'none'; base-uri 'none'"
    )


def digest(text: Markup) -> str:
    """Return how a content security policy names a style or script."""
    found = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{b64encode(found).decode('ascii')}'"


def _visible(value: object) -> object:
    return (
        text.visible(value) if isinstance(value, str) and not hasattr(value, "__html__") else value
    )


def _cell(value: object) -> str:
    """Format a value of a witness row."""
    if value is None:
        return "–"
    if value == "":
        return "(empty)"
    return str(value).lower() if isinstance(value, bool) else str(value)
