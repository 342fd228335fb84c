"""Render a sentence of ours that has code in backticks and emphasis in stars."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

from onceproof.reports import text

_MARKED = re.compile(r"`([^`]+)`|\*([^*]+)\*")


def prose(words: str) -> Markup:
    """Render `code` and *emphasis*, and escape everything else."""
    made = Markup()
    end = 0
    for match in _MARKED.finditer(words):
        code, stress = match.groups()
        made += escape(text.visible(words[end : match.start()]))
        made += (
            Markup("<code>{}</code>").format(code) if code else Markup("<em>{}</em>").format(stress)
        )
        end = match.end()
    return made + escape(text.visible(words[end:]))
