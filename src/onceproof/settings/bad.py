"""What is wrong with settings, in the words that the user gets."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class BadSettings(ValueError):
    """A setting that cannot be meant; the text says where, what was expected and what was found."""


def hint(word: str, known: Iterable[str]) -> str:
    """What may have been meant instead of a word that means nothing."""
    there = sorted(known)
    near = difflib.get_close_matches(word, there, n=3, cutoff=0.5)
    if near:
        return f"Did you mean {' or '.join(near)}?"
    return "`onceproof config show` names all there are."
