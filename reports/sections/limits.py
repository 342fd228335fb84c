"""What limits the judgement and the report."""

from __future__ import annotations

from typing import Final

from onceproof.reports.sections.base import Section

SECTION: Final = Section(name="limits", heading="Limits", place=90)
