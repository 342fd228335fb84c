"""The base of everything that `report.json` holds.

A part is immutable and knows no other fields than its own, so that a typing
error in a report is found and not passed on.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Part(BaseModel):
    """The base of everything in a report: immutable, and nothing unknown in it."""

    model_config = ConfigDict(frozen=True, extra="forbid")
