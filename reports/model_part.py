"""The base class of all models in `report.json`."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Part(BaseModel):
    """Base class: immutable, and unknown fields are errors, so that a typing error is found."""

    model_config = ConfigDict(frozen=True, extra="forbid")
