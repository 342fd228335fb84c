"""The pages of the documentation, with their blocks and commands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[3]
GENERATED = {
    "docs/reference/anomalies.md": "tests/unit/reports/anomalies/test_anomalies_page.py",
    "docs/reference/claims.md": "tests/unit/checkers/test_claims_page.py",
    "docs/reference/commands.md": "tests/unit/onceproof/test_commands_page.py",
    "docs/reference/faults.md": "tests/unit/harness/faults/test_page.py",
    "docs/reference/history.md": "tests/unit/checkers/test_tables_page.py",
    "docs/reference/hazards.md": "tests/unit/onceproof/verify/test_hazards_page.py",
    "docs/reference/outputs.md": "tests/unit/harness/user_pipeline/outputs/test_page.py",
    "docs/reference/scenarios.md": "tests/unit/onceproof/test_listing.py",
}
"""Generated pages, and the test that compares each with the code."""
OF_THE_PAST = {
    "CHANGELOG.md", "docs/reference/known-bugs.md", "docs/reference/matrix.md",
    "docs/reference/matrix-docker.md", "docs/reference/power.md", "docs/reference/versions.md",
}  # fmt: skip
"""Pages about the past, whose commands may be outdated."""
JEPSEN = (
    "{:index 0, :process 0, :type :invoke, :f :send, :time 1, :value [[:send 0 1]]}\n"
    "{:index 1, :process 0, :type :ok, :f :send, :time 2, :value [[:send 0 [0 1]]]}\n"
)
"""The content of `history.edn` on the pages."""
_FENCE = re.compile(r"^( *)```(\S*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"(?<!`)`((?:onceproof|make)\s[^`]+)`(?!`)")


@dataclass(frozen=True)
class Block:
    """A fenced block."""

    page: str
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def pages() -> list[str]:
    """Paths of the pages that are neither generated nor about the past."""
    found = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    names = {str(path.relative_to(ROOT)) for path in found}
    return sorted(names - GENERATED.keys() - OF_THE_PAST)


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def blocks() -> list[Block]:
    """All blocks of all pages."""
    return [block for page in pages() for block in blocks_of(page, text_of(page))]


def blocks_of(page: str, text: str) -> Iterator[Block]:
    for found in _FENCE.finditer(text):
        indent, language, inner = found.groups()
        inner = re.sub(rf"^{indent}", "", inner, flags=re.MULTILINE)
        yield Block(page, text.count("\n", 0, found.start()) + 1, language, inner)


def inline_commands() -> list[tuple[str, str]]:
    """Page and command of all commands in sentences."""
    return [
        (page, " ".join(command.split()))
        for page in pages()
        for command in _INLINE.findall(_FENCE.sub("", text_of(page)))
    ]


def typed(block: Block) -> list[str]:
    """The lines to type, with continuation lines joined."""
    text = re.sub(r" *\\\n\s*", " ", block.text)
    if block.language == "console":
        return [line[2:] for line in text.splitlines() if line.startswith("$ ")]
    if block.language == "sh":
        return text.splitlines()
    return [line.strip() for line in text.splitlines() if line.startswith("onceproof ")]
