"""Names from the history, apart from the words around them.

A name is in `<bdi>`, so that no foreign text can turn a sentence around.
"""

from __future__ import annotations

from markupsafe import Markup

from onceproof.reports.text import visible


def name(text: str) -> Markup:
    """An identity from the history, apart from the words around it."""
    return Markup("<bdi class=id>{}</bdi>").format(visible(text))
