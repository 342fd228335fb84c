"""Wrap names from the history in `<bdi>`, so that right-to-left text cannot reorder a sentence."""

from __future__ import annotations

from markupsafe import Markup

from onceproof.reports.text import visible


def name(text: str) -> Markup:
    return Markup("<bdi class=id>{}</bdi>").format(visible(text))
