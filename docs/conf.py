"""How the site is built, by Sphinx: `make docs`.

The pages are the Markdown of this repository as it lies there, and the
navigation is made of the links on its pages of contents. A page that none of them links to, a link
that leads nowhere and whatever else Sphinx warns of is an error.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_ROOT: Final = Path(__file__).parents[1]
_CONTENTS: Final = ("docs/index", "docs/findings/README", "docs/decisions/README")
"""Pages whose links are the navigation; their headings are its captions."""
_LINK: Final = re.compile(r"^[*|] .*?\[[^\]]+\]\(([^)#:]+)\.md\)", re.MULTILINE)

_ANOMALIES: Final = "docs/reference/anomalies"
_PICTURES: Final = "anomalies-in-pictures.html"
"""A page that is drawn from the code while the site is built; it lies beside that of anomalies."""

project = "onceproof"
html_title = "onceproof"
extensions = ["myst_parser"]
root_doc = "docs/index"
# Links between README.md, ARCHITECTURE.md and docs/ are then the same here and in the repository.
include_patterns = ["*.md", "docs/**"]
exclude_patterns = [each.name for each in _ROOT.iterdir() if each.is_dir() and each.name != "docs"]

myst_heading_anchors = 4
highlight_language = "text"
nitpicky = True

# Nothing in this theme is fetched from elsewhere: fonts are those of whoever reads.
html_theme = "furo"
html_static_path = ["site/static"]
html_css_files = ["site.css"]
html_extra_path = ["site/root"]
html_copy_source = False
html_show_copyright = False


def _navigation(_app: Sphinx, page: str, source: list[str]) -> None:
    if page not in _CONTENTS:
        return
    (text,) = source
    for section in re.split(r"^(?=## )", text, flags=re.MULTILINE):
        links = _LINK.findall(section)
        caption = re.match(r"## (.+)", section)
        if links:
            option = f":caption: {caption[1]}\n" if caption and page == root_doc else ""
            text += "\n```{toctree}\n:hidden:\n" + option + "\n" + "\n".join(links) + "\n```\n"
    source[0] = text


def _link_to_pictures(_app: Sphinx, page: str, source: list[str]) -> None:
    if page == _ANOMALIES:
        words = "the same with pictures"
        source[0] = source[0].replace(words, f'<a href="{_PICTURES}">{words}</a>')


def _draw_pictures(app: Sphinx, error: Exception | None) -> None:
    if error is None and _ANOMALIES in app.env.found_docs:
        from onceproof.reports.anomalies.page import page

        path = (Path(app.outdir) / _ANOMALIES).with_name(_PICTURES)
        path.write_text(page(), encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("source-read", _navigation)
    app.connect("source-read", _link_to_pictures)
    app.connect("build-finished", _draw_pictures)
