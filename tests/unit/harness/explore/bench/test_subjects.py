"""Every subject has a name of its own, and a twin that fails by a fault that exists."""

from __future__ import annotations

import pytest

from onceproof.harness.explore.bench.subjects.base import Subject
from onceproof.harness.explore.bench.subjects.every import SUBJECTS


@pytest.mark.parametrize("subject", SUBJECTS.values(), ids=SUBJECTS)
def test_subject(subject: Subject) -> None:
    assert SUBJECTS[subject.name] is subject
    assert subject.says
    twin = subject.twin
    assert twin.subject not in SUBJECTS.values()
    assert twin.trial.faults
    # The stage has gates on the links of one audience.
    assert twin.subject.audience == subject.audience
    assert twin.subject.observed == subject.observed
