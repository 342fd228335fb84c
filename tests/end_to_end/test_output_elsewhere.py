"""An output from another package, as on its page, used in a real trial."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.end_to_end.catalogue import MINUTES
from tests.end_to_end.command import onceproof

pytestmark = MINUTES

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs/how-to/add-an-output.md"


@pytest.mark.parametrize(
    ("mode", "verdict"), [("guarded", "holds"), ("plain", "violated")], ids=["guarded", "plain"]
)
def test_installed_output_is_judged_like_built_in_ones(
    mode: str, verdict: str, runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    example = re.findall(
        r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE
    )[0]
    (tmp_path / "theirs.py").write_text(example)
    about = tmp_path / "theirs-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[onceproof.outputs]\ntheirs = theirs\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    done = onceproof(
        "verify", "--out", runs, "--seed", "3", "--records", "2000", "--plain-data",
        "--fault", "kill program --at before-commit", "--accept-untested", "all",
        "--output", "sqlite:{work}/shop.db/orders", "--",
        sys.executable, HERE / "own_sqlite_program.py",
        "{bootstrap}", "{input}", "{work}/shop.db", mode,
    )  # fmt: skip
    assert done.verdicts() == {"exactly-once orders → shop.db/orders": verdict}, done.err
