"""The reference of all anomalies: `docs/reference/anomalies.html` and `anomalies.md`.

Both are generated, and a test fails when they are not up to date:

    python -m onceproof.reports.anomalies.page
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from onceproof.reports import html, text
from onceproof.reports.anomalies import implication_graph, markdown
from onceproof.reports.anomalies.entry import HOPS, by_hop
from onceproof.reports.anomalies.picture import svg_picture

FOLDER: Final = Path(__file__).resolve().parents[2] / "docs" / "reference"
COMMAND: Final = "python -m onceproof.reports.anomalies.page"
_HERE = Path(__file__).parent
_REPORT_STYLE = Path(html.__file__).parent / "style.css"
_MARKED = re.compile(r"`([^`]+)`|\*([^*]+)\*")

_LEAD = (
    "An anomaly is a pattern in a recorded history that a claim cannot live with. Each has one "
    "query, whose rows are the witness."
)
_READING = (
    "Each picture is a smallest history with the anomaly, judged by the checkers: writers above, "
    "the log in the middle, readers and the sink below, each from top to bottom in order. `@6` is "
    "offset 6. Marked with ✗ and heavy lines is the witness that the checkers found."
)


@dataclass(frozen=True, kw_only=True)
class Pages:
    """Both documents."""

    html: str
    markdown: str

    def files(self) -> dict[str, str]:
        """By file name."""
        return {"anomalies.html": self.html, "anomalies.md": self.markdown}


def pages() -> Pages:
    """Both documents, made anew: every minimal history is judged."""
    hops = by_hop()
    entries = [entry for entries in hops.values() for entry in entries]
    scenes = {entry.name: entry.scene() for entry in entries}
    css = "".join(
        path.read_text(encoding="utf-8")
        for path in (_REPORT_STYLE, _HERE / "picture.css", _HERE / "page.css")
    )
    html = (
        _environment()
        .get_template("page.html.j2")
        .render(
            css=Markup(css),
            hops={hop.value: entries for hop, entries in hops.items()},
            hop_words={hop.value: words for hop, words in HOPS.items()},
            scenes=scenes,
            svg=svg_picture,
            graph=implication_graph.draw(
                {entry.name: frozenset(entry.brings) for entry in entries},
                {entry.name: (entry.anomaly.hop, entry.anomaly.evidence) for entry in entries},
            ),
            lead=_LEAD,
            reading=_prose(_READING),
        )
    )
    told = "\n".join(markdown.lines(hops, scenes, _LEAD, _READING))
    return Pages(html=html + "\n", markdown=told + "\n")


def write(folder: Path = FOLDER) -> list[Path]:
    """Write both documents; returns where they lie."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, content in pages().files().items():
        (folder / name).write_text(content, encoding="utf-8")
        written.append(folder / name)
    return written


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"prose": _prose, "said": text.sentence, "links": _links}
    return environment


def _prose(words: str) -> Markup:
    """Text with `code` and *stress*; everything else in it is escaped."""
    made = Markup()
    end = 0
    for match in _MARKED.finditer(words):
        code, stress = match.groups()
        made += escape(text.visible(words[end : match.start()]))
        made += (
            Markup("<code>{}</code>").format(code) if code else Markup("<em>{}</em>").format(stress)
        )
        end = match.end()
    return made + escape(text.visible(words[end:]))


def _links(names: Iterable[str]) -> Markup:
    links = Markup(", ").join(Markup('<a href="#{0}">{0}</a>').format(name) for name in names)
    return Markup('<span class="links">{}</span>').format(links)


def main() -> None:
    """Write the reference."""
    parser = argparse.ArgumentParser(prog=COMMAND, description="Write the reference of anomalies.")
    parser.add_argument("--out", type=Path, default=FOLDER, help="folder for both files")
    for path in write(parser.parse_args().out):
        print(path)  # noqa: T201


if __name__ == "__main__":
    main()
