"""The command that repeats the run."""

from __future__ import annotations

from typing import Final

from onceproof.reports.sections.base import Section

SECTION: Final = Section(name="repeat", heading="How to repeat the run", place=70, link="Repeat it")
