"""The options of an audit: what makes none is refused before anything is asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from onceproof.audit.options import AuditOptions, BadAudit


def options(**more: Any) -> AuditOptions:
    given = {"bootstrap": "b:9092", "input": "orders", "outputs": ("enriched",), "identity": "key"}
    return AuditOptions(**{**given, **more})


def test_they_are_read_back_as_they_were_written() -> None:
    made = options(outputs=("a", "postgres:t"), last=5, settle=3.5)
    assert AuditOptions.from_json(json.loads(made.as_json())) == made


def test_the_identity_of_an_input_is_that_of_the_output_unless_it_is_named() -> None:
    assert str(options().wanted("").input_identity) == "key"
    assert str(options(input_identity="header:id").wanted("").input_identity) == "header:id"


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"input": "or ders"}, "expected the name of a topic"),
        ({"outputs": ("a", "a")}, "expected each output once"),
        ({"outputs": ("queue:shipments",), "identity": "json:$.id"}, "cannot be read without"),
        ({"outputs": ("parquet:{work}/out",), "identity": "json:$.id"}, "defined only in a trial"),
        ({"dead_letters": "enriched"}, "expected each output once"),
        ({"last": 5, "from_": "0:1"}, "expected only one of them"),
        ({"effects": "0..1"}, "expected --claim at-most-once"),
        ({"effects": "2", "expects": ("x.py:f",)}, "expected only one of them"),
        ({"ignored": ("json:$.at",)}, "--ignore works only with --expect"),
        ({"identity": "nothing"}, "invalid rule"),
    ],
)
def test_what_makes_no_audit_is_refused(more: dict[str, Any], why: str) -> None:
    with pytest.raises(BadAudit, match=why):
        options(**more).wanted("")


def test_no_secret_is_among_what_is_kept(tmp_path: Path) -> None:
    made = options()
    made.wanted("host=db password=secret")
    assert "secret" not in made.as_json()
