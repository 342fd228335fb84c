"""What holds for every test."""

from __future__ import annotations

from hypothesis import settings

# No test is timed: the machines that this runs on are busy.
settings.register_profile("onceproof", deadline=None)
settings.load_profile("onceproof")
