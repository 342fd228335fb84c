"""Versions, host, workload, settings, phases, and the row counts that the judgement is based on."""

from __future__ import annotations

from typing import Final

from onceproof.reports.sections.base import Section

SECTION: Final = Section(
    name="environment", heading="Environment and versions", link="Environment", place=80
)
