"""The site, built as `make docs` builds it: whole, without a dead link, and loading nothing.

Sphinx itself refuses links between pages that lead nowhere, and pages that
no page of contents names. Here the finished pages are looked at, as a browser gets them.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

import pytest

from tests.unit.docs.pages import GENERATED, ROOT, pages, text_of

FRONT = "docs/index.html"
GUIDES = {
    "test my Spark job": "docs/how-to/test-a-spark-job.html",
    "my consumer with a database": "docs/how-to/test-a-consumer-with-a-database.html",
    "add a fault": "docs/how-to/add-a-fault.html",
    "add a subject": "docs/how-to/add-a-subject-or-scenario.html",
    "add an anomaly": "docs/how-to/add-an-anomaly.html",
    "add an output": "docs/how-to/add-an-output.html",
    "write a history in another language": "docs/how-to/write-a-history.html",
    "run in CI": "docs/how-to/run-in-ci.html",
    "read a report": "docs/how-to/read-a-report.html",
    "use my own cluster": "docs/how-to/use-your-own-cluster.html",
    "what exactly-once can mean": "docs/explanation/what-exactly-once-can-mean.html",
    "delivery and processing": "docs/explanation/delivery-and-processing.html",
    "how a verdict is reached": "docs/explanation/how-a-verdict-is-reached.html",
    "what holds says": "docs/explanation/what-holds-says.html",
    "limits": "docs/explanation/limits.html",
    "release": "docs/how-to/make-a-release.html",
    "anomalies in pictures": "docs/reference/anomalies-in-pictures.html",
    "tutorial": "docs/tutorial/test-your-pipeline.html",
}
"""What a newcomer looks for."""
LOADS = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}
"""What a browser fetches by itself."""


@dataclass
class Page(HTMLParser):
    """What a page links to, what it loads, and the places in it."""

    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    places: set[str] = field(default_factory=set)
    words: str = ""

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if identity := given.get("id"):
            self.places.add(identity)
        if tag == "a" and (to := given.get("href")):
            self.links.append(to)
        elif tag in LOADS and (what := given.get(LOADS[tag])):
            self.loads.append(what)
        self.loads += re.findall(r"url\(['\"]?([^'\")]+)", given.get("style") or "")

    def handle_data(self, data: str) -> None:
        self.words += data


@dataclass(frozen=True)
class Site:
    """All pages, by their place in the folder."""

    folder: Path
    pages: dict[str, Page]

    def leads_to(self, page: str, link: str) -> tuple[str, str]:
        """The file that a link leads to, and the place in it."""
        to, place = urldefrag(urljoin(f"file:///{page}", link))
        return unquote(urlsplit(to).path).lstrip("/"), unquote(place)


def build(out: Path, source: Path = ROOT) -> subprocess.CompletedProcess[str]:
    recipe = (ROOT / "Makefile").read_text().partition("\ndocs:")[2].partition("\n\n")[0]
    words = re.sub(r"\\\n\s*", "", recipe).split("-m sphinx", 1)[1].splitlines()[0].split()
    given = {".": str(source), "docs": str(source / "docs"), "build/site": str(out)}
    words = [given.get(word, word) for word in words]
    words[words.index("build/doctrees")] = str(out.with_name("doctrees"))
    return subprocess.run(
        [sys.executable, "-m", "sphinx", *words],
        capture_output=True, text=True, cwd=source, timeout=280,
    )  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    folder = tmp_path_factory.mktemp("docs") / "site"
    done = build(folder)
    assert (done.returncode, done.stderr) == (0, "")
    found = {}
    for path in folder.rglob("*.html"):
        page = Page()
        page.feed(path.read_text(encoding="utf-8"))
        found[str(path.relative_to(folder))] = page
    return Site(folder, found)


def outside(link: str) -> bool:
    return bool(urlsplit(link).scheme or link.startswith("//"))


def dead(site: Site) -> Iterator[str]:
    for name, page in site.pages.items():
        for link in page.links:
            if outside(link):
                continue
            to, place = site.leads_to(name, link)
            if not (site.folder / to).is_file():
                yield f"{name} links to {link}"
            elif place and to in site.pages and place not in site.pages[to].places:
                yield f"{name} links to {link}, where there is no such place"


def test_no_link_is_dead(site: Site) -> None:
    assert list(dead(site)) == []
    assert sum(len(page.links) for page in site.pages.values()) > 1000


def test_every_page_is_on_it(site: Site) -> None:
    for page in [*pages(), *GENERATED]:
        assert page.replace(".md", ".html") in site.pages


def test_reference_pages_are_whole(site: Site) -> None:
    for page in GENERATED:
        words = site.pages[page.replace(".md", ".html")].words
        headings = re.findall(r"^#+ ([\w -]+)$", text_of(page), re.MULTILINE)
        assert headings
        assert [heading for heading in headings if heading not in words] == []


@pytest.mark.parametrize("sought", GUIDES)
def test_it_is_found_in_two_clicks(sought: str, site: Site) -> None:
    assert GUIDES[sought] in in_two_clicks(site)


def test_no_guide_is_further(site: Site) -> None:
    guides = {page.replace(".md", ".html") for page in pages() if page.startswith("docs/how-to/")}
    assert len(guides) > 15
    assert guides - in_two_clicks(site) == set()


def in_two_clicks(site: Site) -> set[str]:
    """What can be reached from the front page so."""
    reached = {FRONT}
    for _click in range(2):
        reached |= {
            site.leads_to(name, link)[0]
            for name in reached & site.pages.keys()
            for link in site.pages[name].links
            if not outside(link)
        }
    return reached


def test_its_root_leads_to_the_front_page(site: Site) -> None:
    text = (site.folder / "index.html").read_text()
    (there,) = re.findall(r'content="0; url=([^"]+)"', text)
    assert there == FRONT
    assert there in site.pages


def test_nothing_is_asked_of_anybody(site: Site) -> None:
    asked = {what for page in site.pages.values() for what in page.loads if outside(what)}
    assert {what for what in asked if not what.startswith("data:")} == set()
    for path in site.folder.rglob("*.css"):
        loaded = re.findall(r"(?:url\(|@import)\s*['\"]?([^'\")\s;]+)", path.read_text())
        assert [each for each in loaded if outside(each) and not each.startswith("data:")] == []
    for path in site.folder.rglob("*.js"):
        text = path.read_text(errors="replace")
        assert not re.search(r"""(?:fetch|importScripts|import)\(\s*["'](?:https?:)?//""", text)
        assert not re.search(r"""\.src\s*=\s*["'](?:https?:)?//""", text)


def test_what_is_wrong_is_seen(tmp_path: Path) -> None:
    """A link that leads nowhere, a place that there is not, a page that nobody names."""
    docs = tmp_path / "docs"
    (docs / "site" / "static").mkdir(parents=True)
    (docs / "site" / "root").mkdir()
    (docs / "site" / "static" / "site.css").touch()
    (docs / "conf.py").write_text((ROOT / "docs" / "conf.py").read_text())
    front = "# It\n\n* [One](one.md)\n"
    (docs / "index.md").write_text(front)
    (docs / "one.md").write_text("# One\n\n## A place\n\n[up](index.md) [here](#a-place)\n")
    done = build(tmp_path / "site", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    (docs / "index.md").write_text(front + "\n[a](gone.md) [b](one.md#nowhere) [c](gone.txt)\n")
    (docs / "two.md").write_text("# Two\n")
    done = build(tmp_path / "site", tmp_path)
    assert done.returncode != 0
    for seen in ("gone.md", "nowhere", "gone.txt", "two.md"):
        assert seen in done.stderr, done.stderr
