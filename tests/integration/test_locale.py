"""Brokers start in any run folder and locale."""

from __future__ import annotations

from pathlib import Path

import pytest

from onceproof.harness.stage.alone import alone
from onceproof.harness.tools.setup import StageTools
from tests.end_to_end.catalogue import LATER

pytestmark = pytest.mark.integration


@pytest.mark.parametrize("locale", [pytest.param("C", marks=LATER), "C.UTF-8"])
def test_brokers_start_in_unusual_folder_with_turkish_locale(
    locale: str, tools: StageTools, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", locale)
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Duser.language=tr -Duser.country=TR")
    with alone(tmp_path / "ñ'a\"b ł 💡", tools, brokers=1) as up:
        assert up.stage.disturbed() == {}
