"""The site that `make docs` builds is complete, has no dead links, and loads nothing remote.

Sphinx itself refuses dead links between pages, and pages in no table of contents. Here the finished
pages are read, as a browser gets them.
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
"""What a newcomer looks for, and its page."""
LOADS = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}
"""Tag and attribute of what a browser loads."""


@dataclass
class Page(HTMLParser):
    """The links of a page, what it loads, and its anchors."""

    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)
    words: str = ""

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if identity := given.get("id"):
            self.anchors.add(identity)
        if tag == "a" and (to := given.get("href")):
            self.links.append(to)
        elif tag in LOADS and (what := given.get(LOADS[tag])):
            self.loads.append(what)
        self.loads += re.findall(r"url\(['\"]?([^'\")]+)", given.get("style") or "")

    def handle_data(self, data: str) -> None:
        self.words += data


@dataclass(frozen=True)
class Site:
    """All pages by their path in the folder."""

    folder: Path
    pages: dict[str, Page]

    def leads_to(self, page: str, link: str) -> tuple[str, str]:
        """The file and anchor that a link leads to."""
        to, anchor = urldefrag(urljoin(f"file:///{page}", link))
        return unquote(urlsplit(to).path).lstrip("/"), unquote(anchor)


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


def is_remote(link: str) -> bool:
    return bool(urlsplit(link).scheme or link.startswith("//"))


def dead_links(site: Site) -> Iterator[str]:
    for name, page in site.pages.items():
        for link in page.links:
            if is_remote(link):
                continue
            to, anchor = site.leads_to(name, link)
            if not (site.folder / to).is_file():
                yield f"{name} links to {link}"
            elif anchor and to in site.pages and anchor not in site.pages[to].anchors:
                yield f"{name} links to {link}, where there is no such place"


def test_no_link_is_dead(site: Site) -> None:
    assert list(dead_links(site)) == []
    assert sum(len(page.links) for page in site.pages.values()) > 1000


def test_site_has_every_page(site: Site) -> None:
    for page in [*pages(), *GENERATED]:
        assert page.replace(".md", ".html") in site.pages


def test_reference_pages_have_all_headings(site: Site) -> None:
    for page in GENERATED:
        words = site.pages[page.replace(".md", ".html")].words
        headings = re.findall(r"^#+ ([\w -]+)$", text_of(page), re.MULTILINE)
        assert headings
        assert [heading for heading in headings if heading not in words] == []


@pytest.mark.parametrize("sought", GUIDES)
def test_topic_is_two_clicks_from_the_front_page(sought: str, site: Site) -> None:
    assert GUIDES[sought] in in_two_clicks(site)


def test_how_to_pages_are_two_clicks_from_the_front_page(site: Site) -> None:
    guides = {page.replace(".md", ".html") for page in pages() if page.startswith("docs/how-to/")}
    assert len(guides) > 15
    assert guides - in_two_clicks(site) == set()


def in_two_clicks(site: Site) -> set[str]:
    """Pages within two clicks from the front page."""
    reached = {FRONT}
    for _click in range(2):
        reached |= {
            site.leads_to(name, link)[0]
            for name in reached & site.pages.keys()
            for link in site.pages[name].links
            if not is_remote(link)
        }
    return reached


def test_root_redirects_to_the_front_page(site: Site) -> None:
    text = (site.folder / "index.html").read_text()
    (target,) = re.findall(r'content="0; url=([^"]+)"', text)
    assert target == FRONT
    assert target in site.pages


def test_site_loads_nothing_remote(site: Site) -> None:
    remote = {what for page in site.pages.values() for what in page.loads if is_remote(what)}
    assert {what for what in remote if not what.startswith("data:")} == set()
    for path in site.folder.rglob("*.css"):
        loaded = re.findall(r"(?:url\(|@import)\s*['\"]?([^'\")\s;]+)", path.read_text())
        assert [each for each in loaded if is_remote(each) and not each.startswith("data:")] == []
    for path in site.folder.rglob("*.js"):
        text = path.read_text(errors="replace")
        assert not re.search(r"""(?:fetch|importScripts|import)\(\s*["'](?:https?:)?//""", text)
        assert not re.search(r"""\.src\s*=\s*["'](?:https?:)?//""", text)


def test_build_reports_dead_links_and_orphan_pages(tmp_path: Path) -> None:
    """Of a missing page, anchor and file, and of a page in no table of contents."""
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
