"""Render all anomalies, with pictures and the implication graph, as a page for `make docs`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from onceproof.reports import html, text
from onceproof.reports.anomalies import implication_graph
from onceproof.reports.anomalies.entry import HOPS, LEAD, by_hop
from onceproof.reports.anomalies.picture import svg_picture
from onceproof.reports.anomalies.pictures.stage import scene_of
from onceproof.reports.html.prose import prose

_HERE = Path(__file__).parent
_REPORT_STYLE = Path(html.__file__).parent / "style.css"

_READING = (
    "Each picture shows a minimal history with the anomaly, judged by the checkers: writers above, "
    "the log in the middle, readers and the sink below, each in order from top to bottom. `@6` is "
    "offset 6. ✗ and heavy lines mark the witness that the checkers found."
)


def page() -> str:
    """Return the page. Every minimal history is judged again."""
    hops = by_hop()
    entries = [entry for entries in hops.values() for entry in entries]
    trials = {entry.name: entry.trial() for entry in entries}
    css = "".join(
        path.read_text(encoding="utf-8")
        for path in (_REPORT_STYLE, _HERE / "picture.css", _HERE / "page.css")
    )
    return (
        _environment()
        .get_template("page.html.j2")
        .render(
            css=Markup(css),
            hops={hop.value: entries for hop, entries in hops.items()},
            hop_words={hop.value: words for hop, words in HOPS.items()},
            scenes={name: trial and scene_of(trial) for name, trial in trials.items()},
            svg=svg_picture,
            graph=implication_graph.draw(
                {entry.name: frozenset(entry.implies) for entry in entries},
                {entry.name: (entry.anomaly.hop, entry.anomaly.evidence) for entry in entries},
            ),
            lead=LEAD,
            reading=prose(_READING),
        )
    )


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"prose": prose, "said": text.sentence, "links": _links}
    return environment


def _links(names: Iterable[str]) -> Markup:
    links = Markup(", ").join(Markup('<a href="#{0}">{0}</a>').format(name) for name in names)
    return Markup('<span class="links">{}</span>').format(links)
