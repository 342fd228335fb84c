"""The one type of error that says that a history cannot be judged as it is."""

from __future__ import annotations


class BadHistory(ValueError):
    """A history that cannot be judged as it is; the text says where, what, and what to do."""
