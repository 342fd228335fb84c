"""Each anomaly is drawn from its minimal history, and the generated reference covers them all."""

from __future__ import annotations

import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import pytest
from markupsafe import escape

from onceproof.checkers import anomalies
from onceproof.reports.anomalies.entry import by_hop, entry
from onceproof.reports.anomalies.markdown import COMMAND, document
from onceproof.reports.anomalies.page import page
from onceproof.reports.anomalies.pictures.stage import scene_of
from onceproof.reports.anomalies.scene import Scene
from onceproof.reports.anomalies.tables import tables_of
from onceproof.reports.anomalies.trial import Trial, tried
from onceproof.reports.html import render
from onceproof.reports.html.prose import prose
from onceproof.reports.model import Report

ROOT = Path(__file__).parents[4]
VOID = {"meta", "br"}
NAMES = sorted(anomalies())


@cache
def drawn(name: str) -> tuple[Trial, Scene]:
    described = entry(name)
    trial = tried(described.anomaly, described.minimal)
    return trial, scene_of(trial)


@pytest.mark.parametrize("name", NAMES)
def test_draws_the_minimal_history_with_its_witness(name: str) -> None:
    trial, scene = drawn(name)
    assert scene.sentences, f"{name} is not found in its minimal history"
    rows = {(table, n) for table, rows in trial.rows.items() for n in range(len(rows))}
    assert scene.refs() == rows
    assert scene.refs(wrong=True), "nothing that the witness speaks of is in the picture"
    marked = {
        (table.name, number)
        for table in tables_of(trial)
        for number, row in enumerate(table.rows)
        if row[0]
    }
    assert marked == scene.refs(wrong=True)


@pytest.mark.parametrize("name", NAMES)
def test_highlighted_rows_are_named_by_the_witness(name: str) -> None:
    trial, scene = drawn(name)
    witnessed = {value for f in trial.findings for row in f.witness for value in row.values()}
    witnessed |= {value for f in trial.findings for value in f.key.values()}
    names = ("record", "attempt", "txn", "instance", "phase", "owner", "reader", "state_key")
    for table, number in scene.refs(wrong=True):
        row = trial.rows[table][number]
        known = {row.get(column) for column in (*names, "offset", "ordinal")} - {None}
        known |= {row.get("last_stable_offset")} - {None}
        assert known & witnessed, f"{table} {row} is not in the witness"


def test_entries_name_refuted_claims() -> None:
    assert entry("duplicate").refutes[:2] == ("at-most-once", "exactly-once")
    assert entry("no-progress").refuted.startswith("nothing")
    assert {e.name for entries in by_hop().values() for e in entries} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_code_of_an_entry_recreates_its_history(name: str) -> None:
    recorded: dict[str, list[dict[str, object]]] = {}

    class History:
        @staticmethod
        def of(**tables: list[dict[str, object]]) -> None:
            recorded.update(tables)

    described = entry(name)
    exec(described.code(), {"History": History})
    assert recorded == {
        table: [dict(row) for row in rows] for table, rows in described.minimal.items()
    }
    assert (ROOT / described.file).is_file()


@cache
def html() -> str:
    return page()


@cache
def markdown() -> str:
    return document()


def test_reference_is_up_to_date() -> None:
    path = ROOT / "docs" / "reference" / "anomalies.md"
    assert path.read_text(encoding="utf-8") == markdown(), f"run `{COMMAND} > {path}`"


class Page(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_page_is_well_formed_and_loads_nothing() -> None:
    parsed = Page(html())
    ids = [attrs["id"] for _, attrs in parsed.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    for tag, attrs in parsed.tags:
        assert tag not in {"script", "img", "link", "iframe", "image", "foreignobject"}
        assert not any(key.startswith("on") or key in {"src", "xlink:href"} for key in attrs)
        if (href := attrs.get("href")) is not None:
            assert href.startswith("#")
            assert href[1:] in ids
        for label in (attrs.get("aria-labelledby") or "").split():
            assert label in ids
    assert "url(" not in html()
    assert sum(tag == "figure" for tag, _ in parsed.tags) == len(NAMES)


def test_both_documents_cover_every_anomaly() -> None:
    for name in NAMES:
        assert f'id="{name}"' in html()
        assert f"\n### {name}\n" in markdown()
    anchors = {f"#{title.lower()}" for title in re.findall(r"^### (.+)$", markdown(), re.MULTILINE)}
    assert set(re.findall(r"\]\((#[^)]+)\)", markdown())) <= anchors


def test_escapes_prose() -> None:
    assert prose("a `<b>` *so* < c") == "a <code>&lt;b&gt;</code> <em>so</em> &lt; c"


def test_run_report_shows_the_usual_cause(small_report: Report) -> None:
    hint = anomalies()["duplicate-output"].hint
    assert str(escape(f"Usual cause: {hint}")) in render(small_report)
