"""The index page of runs: complete, inert, and usable without its script, which filters rows."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import subprocess
from dataclasses import replace
from html import unescape
from pathlib import Path
from urllib.parse import unquote

import pytest

from onceproof.checkers.model import Verdict
from onceproof.reports.runs.links import link
from onceproof.reports.runs.page import index_page
from onceproof.reports.runs.run import Found, Run, Unread
from onceproof.reports.runs.strip import SHOWN
from tests.unit.reports.runs.making import WRONG, claim_result, run
from tests.unit.reports.test_html import HOSTILE, Page

GONE = Unread(folder=Path("runs/20250109T000000Z-x-1"), reason="It is cut short.", scenario="x")
TWIN = claim_result(verdict=Verdict.VIOLATED)
RUNS = (
    run(1),
    run(2, WRONG),
    run(3, TWIN, scenario="twin", subject="unguarded", faults=("link cut",), kinds=("partition",)),
    run(4, scenario="quiet", kinds=(), faults=(), backend="docker", page=None),
    run(5, claim_result(verdict=Verdict.UNKNOWN, expected=False), scenario="late", finished=False),
)


def page(*runs: Run, unread: tuple[Unread, ...] = (), folder: Path = Path()) -> str:
    return index_page(Found(runs=runs, unread=unread), folder)


def parsed(html: str) -> Page:
    """Parse the page without its script."""
    return Page(re.sub(r"<script>.*?</script>", "", html, flags=re.DOTALL))


def rows_of(html: str) -> list[dict[str, str | None]]:
    return [attributes for tag, attributes in parsed(html).tags if "data-subject" in attributes]


def test_page_shows_everything_in_order() -> None:
    words = parsed(page(*RUNS, unread=(GONE,))).words
    order = [
        "5 runs of 4 scenarios: 3 as expected, 1 not as expected, 1 not finished",
        "1 folder without a readable report",
        "scenarios whose newest run is not as expected",
        "small A small run forwarder crash leader killed",
        "violated ×1 by duplicate-output not as expected, should be holds holds ×1",
        "exactly-once a → b",
        "1 of 2 the newest run is not flaky, with the same seed differences",
        "2 runs, seed 7 11.5 s (11.0 s to 12.0 s) newest 2025-01-02 00:00 all 2",
        "20250102T000000Z-small-7 violated, not as expected, 12.0 s, code 0123456789ab",
        "late",
        "1 not finished",
        "quiet",
        "forwarder on docker no fault",
        "newest (no page)",
        "20250109T000000Z-x-1 x It is cut short.",
        "Flaky : A scenario is flaky if two of its complete runs",
    ]
    places = []
    for part in order:
        places.append(words.index(part, places[-1] if places else 0))
    assert places == sorted(places)


def test_page_links_every_report_and_loads_nothing() -> None:
    html = page(*RUNS)
    tags = parsed(html).tags
    links = {a["href"] for tag, a in tags if tag == "a" and not str(a["href"]).startswith("#")}
    assert links == {"./" + str(r.page) for r in RUNS if r.page is not None}
    assert not {tag for tag, _ in tags} & {"img", "iframe", "link", "object", "base"}
    assert not [name for _, attributes in tags for name in attributes if name == "src"]
    assert "http:" not in html
    assert "https:" not in html


def test_policy_allows_only_its_own_script_and_style() -> None:
    html = page(*RUNS)
    (script,) = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    scripted = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    (policy,) = (a["content"] for tag, a in parsed(html).tags if a.get("http-equiv") is not None)
    (css,) = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
    styled = base64.b64encode(hashlib.sha256(css.encode()).digest()).decode()
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{styled}'; script-src 'sha256-{scripted}'; "
        "form-action 'none'; base-uri 'none'"
    )
    assert "eval" not in script
    assert "innerHTML" not in script


def test_all_rows_are_visible_without_the_script() -> None:
    html = page(*RUNS)
    assert len(rows_of(html)) == 4
    assert not [a for a in rows_of(html) if "hidden" in a]
    (form,) = (a for tag, a in parsed(html).tags if tag == "form")
    assert "hidden" in form


@pytest.mark.parametrize(
    ("runs", "unread", "tone"),
    [
        (RUNS, (), "violated"),
        (RUNS[:1], (), "holds"),
        ((RUNS[0], replace(RUNS[0], claims=(TWIN,), seed=8)), (), "unknown"),
        (RUNS[4:], (), "unknown"),
        (RUNS[:1], (GONE,), "unknown"),
        ((), (), "unknown"),
    ],
)
def test_header_has_the_colour_of_the_worst_run(
    runs: tuple[Run, ...], unread: tuple[Unread, ...], tone: str
) -> None:
    (head,) = (a for tag, a in parsed(page(*runs, unread=unread)).tags if tag == "header")
    assert head["class"] == f"v-{tone}"


def test_filter_options_match_the_rows() -> None:
    html = page(*RUNS)
    values = [a["value"] for tag, a in parsed(html).tags if tag == "option" and a["value"]]
    assert values == [
        *("forwarder", "unguarded"),
        *("kind:crash", "kind:partition", "kind:none", "name:leader killed", "name:link cut"),
        *("violated", "unknown", "holds"),
        *("unexpected", "flaky", "unfinished"),
    ]
    by_faults = {str(a["data-faults"]): json.loads(str(a["data-faults"])) for a in rows_of(html)}
    assert sorted(by_faults.values()) == [
        ["kind:crash", "name:leader killed"],
        ["kind:none"],
        ["kind:partition", "name:link cut"],
    ]
    assert [json.loads(str(a["data-marks"])) for a in rows_of(html)] == [
        ["unexpected", "flaky"],
        ["unfinished"],
        [],
        [],
    ]


def test_trend_is_drawn_and_described() -> None:
    html = page(run(2, WRONG), run(1), *(run(3, scenario="long") for _ in range(SHOWN + 2)))
    pictures = [a["aria-label"] for tag, a in parsed(html).tags if tag == "svg" and "role" in a]
    assert pictures == [
        "2 runs, oldest first: holds, as expected, violated, not as expected.",
        f"{SHOWN} runs, oldest first: holds, as expected {SHOWN} times.",
    ]
    assert html.count('class="wrong"') == 1
    assert html.count('<rect class="run') == 2 + SHOWN
    assert "and 2 earlier runs, not drawn" in parsed(html).words


def test_page_without_runs_or_without_unread_folders() -> None:
    words = parsed(page(unread=(GONE,))).words
    assert "No run could be read." in words
    assert "It is cut short." in words
    assert "None: every given run folder could be read." in parsed(page(run(1))).words


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_inert(text: str) -> None:
    odd = claim_result(text, Verdict.VIOLATED, text, expected=False, should_be=text)
    folder = Path("runs", text.replace("\x00", ""))
    hostile = run(
        1,
        odd,
        scenario=text,
        title=text,
        subject=text,
        own=text,
        backend=text,
        kinds=(text,),
        faults=(text,),
        started_at=text,
        code=text,
        folder=folder,
        page=folder / "report.html",
    )
    other = replace(hostile, claims=(claim_result(text),), seed=8)
    html = page(hostile, other, unread=(Unread(folder=folder, reason=text, scenario=text),))
    assert html.count("<script>") == 1
    tags = parsed(html).tags
    assert not {tag for tag, _ in tags} & {"script", "img", "iframe", "link", "object", "base"}
    for _, attributes in tags:
        assert not any(name.startswith("on") for name in attributes)
        assert re.fullmatch(r"[#.][A-Za-z0-9_.~/%#-]*", attributes.get("href") or "#")
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]", html)
    (row,) = rows_of(html)
    assert json.loads(str(row["data-faults"]))[0].startswith("kind:")


@pytest.mark.parametrize(
    "name", ["a b", "ä#?%", "javascript:alert(1)", "..", "\udcff\udc80", 'q"<', "a//b"]
)
def test_link_resolves_for_any_folder_name(name: str, tmp_path: Path) -> None:
    found = link(tmp_path / "runs" / name / "report.html", tmp_path / "pages" / "deep")
    assert found.startswith("./../../")
    relative = Path(unquote(found, errors="surrogateescape"))
    resolved = (tmp_path / "pages" / "deep" / relative).resolve()
    assert resolved == (tmp_path / "runs" / name / "report.html").resolve()


# Filtering by the script, in a real browser if one is installed.

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
BROWSER = next((found for name in BROWSERS if (found := shutil.which(name))), None)
in_browser = pytest.mark.skipif(BROWSER is None, reason="there is no Chromium to run the script in")
ALL = ["small", "late", "quiet", "twin"]
ROWS_BY_ADDRESS = {
    "#subject=unguarded": ["twin"],
    "#fault=kind%3Acrash": ["small", "late"],
    "#fault=name%3Alink+cut": ["twin"],
    "#fault=kind%3Anone&verdict=holds": ["quiet"],
    "#fault=kind%3Anone&verdict=violated": [],
    "#verdict=violated": ["small", "twin"],
    "#show=unexpected": ["small"],
    "#show=flaky": ["small"],
    "#show=unfinished": ["late"],
    "#text=DOCKER+fault": ["quiet"],
    "#text=nothing+like+it": [],
    "#subject=unheard-of": ALL,
    "#verdict=holds": ["small", "quiet"],
    "#words": ["small", "quiet"],  # an anchor, which keeps the filter
}
SCRIPT_HELPERS = """
const shown = () => form.querySelector("select:not(:has(option:checked))") ? "an empty choice"
  : [...document.querySelectorAll("tr[data-subject]")]
  .filter((row) => row.offsetParent !== null)
  .map((row) => row.querySelector("th bdi").textContent);
const form = document.getElementById("filter");
"""


def rendered_document(
    tmp_path: Path, html: str, address: str = "", script: str | None = None
) -> str:
    """Return the document after a browser ran the page, with an additional script if given."""
    if script is not None:
        html = re.sub(r"<meta http-equiv=.*?>", "", html)
        html = html.replace("</body>", f"<script>{SCRIPT_HELPERS}{script}</script></body>")
    (file := tmp_path / "index.html").write_text(html, encoding="utf-8")
    options = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}/profile"]
    assert BROWSER is not None
    done = subprocess.run(
        [
            BROWSER,
            *options,
            "--virtual-time-budget=5000",
            "--dump-dom",
            f"{file.as_uri()}{address}",
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return done.stdout


@in_browser
def test_script_runs_and_filters_by_the_address(tmp_path: Path) -> None:
    document = rendered_document(tmp_path, page(*RUNS), "#subject=unguarded")
    assert ["hidden" in a for a in rows_of(document)] == [True, True, True, False]
    assert "1 of 4 scenarios" in document
    (form,) = (a for tag, a in parsed(document).tags if tag == "form")
    assert "hidden" not in form


@in_browser
def test_changing_the_address_filters_the_rows(tmp_path: Path) -> None:
    script = """
    (async () => {
      const found = [shown()];
      for (const address of %s) {
        const changed = new Promise((done) => addEventListener("hashchange", done, {once: true}));
        location.hash = address;
        await changed;
        found.push(shown());
      }
      document.title = JSON.stringify(found);
    })();
    """
    document = rendered_document(
        tmp_path, page(*RUNS), script=script % json.dumps(list(ROWS_BY_ADDRESS))
    )
    title = re.findall("<title>(.*?)</title>", document)[0]  # later titles are of pictures
    assert json.loads(unescape(title)) == [ALL, *ROWS_BY_ADDRESS.values()]


@in_browser
def test_filter_is_stored_in_the_address(tmp_path: Path) -> None:
    script = """
    form.elements.verdict.value = "violated";
    form.elements.text.value = "twin";
    form.elements.text.dispatchEvent(new Event("input", {bubbles: true}));
    const first = [location.hash, shown()];
    form.reset();
    setTimeout(() => {
      document.title = JSON.stringify([...first, location.hash, shown()]);
    }, 100);
    """
    document = rendered_document(tmp_path, page(*RUNS), script=script)
    title = re.findall("<title>(.*?)</title>", document)[0]  # later titles are of pictures
    assert json.loads(unescape(title)) == ["#verdict=violated&text=twin", ["twin"], "", ALL]
