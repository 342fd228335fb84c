"""Libraries that are installed as extras."""

from __future__ import annotations

import subprocess
import sys

import pytest

from onceproof.harness.tools import doctor, extras
from onceproof.harness.tools.error import SetupError
from onceproof.harness.user_pipeline.identity import Rule
from onceproof.harness.user_pipeline.outputs.output import Output


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda _: None)


@pytest.mark.usefixtures("without")
@pytest.mark.parametrize("kind", extras.LIBRARIES)
def test_missing_library_error_names_the_extra(kind: str) -> None:
    with pytest.raises(SetupError, match=rf"pip install 'onceproof\[{kind}\]'"):
        Output.parse(f"{kind}:out", Rule.parse("json:$.id"))


@pytest.mark.usefixtures("without")
def test_other_outputs_need_no_extra() -> None:
    assert Output.parse("parquet:out", Rule.parse("json:$.id")).kind == "parquet"


@pytest.mark.usefixtures("without")
def test_doctor_notes_missing_extras() -> None:
    found = doctor.check_extras()
    kinds = list(extras.LIBRARIES)
    assert (found.status, found.detail) == (
        doctor.Status.NOTE,
        f"not installed: {', '.join(kinds)}",
    )
    assert f"onceproof[{','.join(kinds)}]" in found.advice


def test_doctor_accepts_installed_extras() -> None:
    assert doctor.check_extras().status is doctor.Status.OK


def test_libraries_are_not_imported_up_front() -> None:
    code = (
        "import sys; import onceproof.scenarios.spark_sinks; "
        "import onceproof.harness.user_pipeline.outputs.output; "
        f"print(*(set({list(extras.LIBRARIES.values())}) & set(sys.modules)))"
    )
    printed = subprocess.check_output([sys.executable, "-c", code], text=True)
    assert printed.split() == []
