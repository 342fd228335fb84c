"""Options of an audit, and refusal of invalid ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from onceproof.audit.options import AuditOptions, BadAudit


def options(**changes: Any) -> AuditOptions:
    base = {"bootstrap": "b:9092", "input": "orders", "outputs": ("enriched",), "identity": "key"}
    return AuditOptions(**{**base, **changes})


def test_options_round_trip_through_json() -> None:
    audit = options(outputs=("a", "postgres:t"), last=5, settle=3.5)
    assert AuditOptions.from_json(json.loads(audit.as_json())) == audit


def test_input_identity_defaults_to_output_identity() -> None:
    assert str(options().wanted("").input_identity) == "key"
    assert str(options(input_identity="header:id").wanted("").input_identity) == "header:id"


@pytest.mark.parametrize(
    ("changes", "message"),
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
def test_invalid_options_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(BadAudit, match=message):
        options(**changes).wanted("")


def test_json_omits_the_password(tmp_path: Path) -> None:
    audit = options()
    audit.wanted("host=db password=secret")
    assert "secret" not in audit.as_json()
