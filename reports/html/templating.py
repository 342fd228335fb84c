"""Templates of pages that need nothing but themselves, and the style that they share.

Everything that a template prints is foreign text. It is escaped by Jinja2
and made visible by `finalize`; only `Markup` that a module of ours composed is trusted.
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
    """Where templates are found: in these folders, then in that of the report's page."""
    found = Environment(
        loader=FileSystemLoader([*folders, _HERE / "templates"]),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_seen,
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
    """The style of the report's page, and what other files add to it."""
    files = (_HERE / "style.css", *more)
    return Markup("".join(path.read_text(encoding="utf-8") for path in files))


def script(path: Path) -> Markup:
    """A script of ours, as it is in the page."""
    return Markup(path.read_text(encoding="utf-8"))


def policy(css: Markup, code: Markup | None) -> str:
    """The content security policy of a page: this style and this script, if any, and nothing else.

    Nothing is loaded and nothing that came in with a record can run, whatever the browser would
    take it for.
    """
    scripts = f"script-src {_sum(code)}; " if code is not None else ""
    return (
        f"default-src 'none'; style-src {_sum(css)}; {scripts}form-action 'none'; base-uri 'none'"
    )


def _sum(text: Markup) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{b64encode(digest).decode('ascii')}'"


def _seen(value: object) -> object:
    return (
        text.visible(value) if isinstance(value, str) and not hasattr(value, "__html__") else value
    )


def _cell(value: object) -> str:
    """A value of a witness row; what is not known is a dash."""
    if value is None:
        return "–"
    if value == "":
        return "(empty)"
    return str(value).lower() if isinstance(value, bool) else str(value)
