"""Each claim with its verdict and its fine print."""

from __future__ import annotations

from typing import Final

from onceproof.reports.sections.base import Section

SECTION: Final = Section(name="claims", heading="Claims", place=10)
