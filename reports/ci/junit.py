"""JUnit XML for build servers: a suite per run, a case per claim.

A finding is a `failure`, trouble an `error`. The file always contains everything known so far, so
that an aborted build leaves a readable one.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from tempfile import NamedTemporaryFile
from xml.etree import ElementTree as ET

from onceproof.reports.ci.case import Case
from onceproof.reports.text import visible


def junit(cases: Sequence[Case]) -> str:
    root = ET.Element("testsuites", _sums(cases), name="onceproof")
    for run, some in groupby(cases, key=lambda case: (case.run, case.seed)):
        own = tuple(some)
        first = own[0]
        suite = ET.SubElement(root, "testsuite", _sums(own), name=visible(run[0]))
        properties = ET.SubElement(suite, "properties")
        for name, value in (
            ("seed", str(first.seed)),
            ("report", first.report),
            ("repeat", first.repeat),
        ):
            ET.SubElement(properties, "property", name=name, value=visible(value))
        for case in own:
            _add(suite, case, seconds=(case.seconds or 0.0) / len(own))
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=False) + "\n"


def write_junit(path: Path, cases: Sequence[Case]) -> None:
    """Write the document atomically.

    Raises:
        OSError: the file cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, delete=False) as part:
        part.write('<?xml version="1.0" encoding="utf-8"?>\n' + junit(cases))
    os.chmod(part.name, 0o644)  # noqa: PTH101 - a name, and others may read it
    Path(part.name).replace(path)


def _add(suite: ET.Element, case: Case, *, seconds: float) -> None:
    element = ET.SubElement(
        suite,
        "testcase",
        classname=visible(case.run),
        name=visible(case.claim),
        time=f"{seconds:.3f}",
    )
    if case.expected:
        return
    kind = "error" if case.trouble else "failure"
    verdict = str(case.verdict or "no verdict")
    message = f"{verdict}, should be {case.should_be}"
    child = ET.SubElement(element, kind, type=verdict, message=visible(message))
    child.text = visible(case.text)


def _sums(cases: Sequence[Case]) -> dict[str, str]:
    wrong = [case for case in cases if not case.expected]
    troubles = sum(case.trouble for case in wrong)
    runs = {(case.run, case.seed): case.seconds or 0.0 for case in cases}
    return {
        "tests": str(len(cases)),
        "failures": str(len(wrong) - troubles),
        "errors": str(troubles),
        "time": f"{sum(runs.values()):.3f}",
    }
