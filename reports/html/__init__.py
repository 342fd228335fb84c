"""Render a report as one self-contained HTML page; `templating` escapes what templates print."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment
from markupsafe import Markup

from onceproof.reports.html.facts import lead, tiles
from onceproof.reports.html.templating import digest, environment, policy, script, style
from onceproof.reports.model import Report
from onceproof.reports.sections import RegisteredSection, sections
from onceproof.reports.text import UNSEALED, cut, visible

_HERE = Path(__file__).parent
_STYLES = (_HERE / "timeline.css", _HERE / "page.css", _HERE / "paper.css")
_SCRIPT = _HERE / "timeline.js"


def digests() -> tuple[str, str]:
    """Return how a content security policy names the style and the script of a report."""
    return digest(style(*_STYLES)), digest(script(_SCRIPT))


def render(report: Report) -> str:
    templates, css, code = environment(), style(*_STYLES), script(_SCRIPT)
    html = templates.get_template("page.html.j2").render(
        report=report,
        css=css,
        code=code,
        policy=policy(css, code),
        lead=lead(report),
        sections=[
            (each, _body(each, report, templates))
            for each in sections()
            if _is_on_page(each, report)
        ],
        tiles=tiles(report),
        unsealed=UNSEALED,
    )
    return html.encode("utf-8", "replace").decode("utf-8")


def _body(of: RegisteredSection, report: Report, templates: Environment) -> Markup:
    """Render a section. One of another package may fail without preventing the page."""
    try:
        return _rendered(of, report, templates)
    except Exception as error:
        if of.package is None:
            raise
        message = f"{of.package} failed to render it: {type(error).__name__}: {error}"
        return Markup("<p class=quiet>{}</p>").format(visible(cut(message, 300)))


def _rendered(of: RegisteredSection, report: Report, templates: Environment) -> Markup:
    assert of.template is not None
    return Markup(
        templates.from_string(of.template.read_text(encoding="utf-8")).render(
            {
                **of.section.context(report),
                "report": report,
                "data": report.extensions.get(of.section.name),
                "ui": templates.get_template("macros.html.j2").module,
            }
        )
    )


def _is_on_page(of: RegisteredSection, report: Report) -> bool:
    """Return whether a section has a template, and the data that it needs."""
    lacks_data = of.section.data is not None and of.section.name not in report.extensions
    return of.template is not None and not lacks_data
