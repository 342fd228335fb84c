"""The notes that the user of a lab wrote while it ran."""

from __future__ import annotations

from typing import Any, Final

from onceproof.reports.sections.base import RunData, Section


def _notes(run: RunData) -> list[dict[str, Any]] | None:
    clock = run.record.clock
    return [
        {"at": run.clock.seconds(note.at, clock), "text": note.text} for note in run.record.notes
    ] or None


SECTION: Final = Section(name="notes", heading="Notes", place=55, data=_notes)
