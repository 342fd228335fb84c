"""Versions, host, workload, settings, phases, and the rows that the judgement rests on."""

from __future__ import annotations

from typing import Final

from onceproof.reports.sections.base import Section

SECTION: Final = Section(
    name="environment", heading="Environment and versions", link="Environment", place=80
)
